"""Compiled search with every technique; needed, and compiled, only where the ones up to jellyfish do not suffice."""

from __future__ import annotations

from solvers.techniques.avoidable import avoidable_rectangles
from solvers.techniques.basic import BASIC_CODES, ROOM, advance, apply_last, count_codes
from solvers.techniques.board import Board, BoolArray, Geometry, Uint8Array, fill, valid
from solvers.techniques.bug import bug_plus_one
from solvers.techniques.chains import remote_pairs, x_chains, xy_chains
from solvers.techniques.colors import multi_colors, simple_colors
from solvers.techniques.compiled import entry, kernel
from solvers.techniques.empty_rectangle import empty_rectangles
from solvers.techniques.fish import finned_fish
from solvers.techniques.log import COUNT, LIMIT, USED, Int32Array, keep_best
from solvers.techniques.table import code_of
from solvers.techniques.turbot import kites, skyscrapers, turbot_fish
from solvers.techniques.uniqueness import uniqueness
from solvers.techniques.wings import w_wings, xy_wings, xyz_wings

REMOTE_PAIR = code_of("Remote Pair")
BUG = code_of("Bivalue Universal Grave + 1")
SKYSCRAPER = code_of("Skyscraper")
KITE = code_of("2-String Kite")
DUAL_KITE = code_of("Dual 2-String Kite")
TURBOT_FISH = code_of("Turbot Fish")
EMPTY_RECTANGLE = code_of("Empty Rectangle")
DUAL_EMPTY_RECTANGLE = code_of("Dual Empty Rectangle")
W_WING = code_of("W-Wing")
XY_WING = code_of("XY-Wing")
XYZ_WING = code_of("XYZ-Wing")
UNIQUENESS_1 = code_of("Uniqueness Test 1")
HIDDEN_RECTANGLE = code_of("Hidden Rectangle")
AVOIDABLE_1 = code_of("Avoidable Rectangle Type 1")
AVOIDABLE_2 = code_of("Avoidable Rectangle Type 2")
FINNED_X_WING = code_of("Finned X-Wing")
SASHIMI_JELLYFISH = code_of("Sashimi Jellyfish")
COLORS_TRAP = code_of("Simple Colors Trap")
COLORS_WRAP = code_of("Simple Colors Wrap")
MULTI_COLORS_2 = code_of("Multi Colors 2")
X_CHAIN = code_of("X-Chain")


@kernel
def _search_wings(code: int, geometry: Geometry, board: Board, log: Int32Array) -> bool:
    if code == REMOTE_PAIR:
        return remote_pairs(geometry, board, log, code)
    if code == BUG:
        return bug_plus_one(geometry, board, log, code)
    if code == SKYSCRAPER:
        return skyscrapers(geometry, board, log, code)
    if KITE <= code <= DUAL_KITE:
        return kites(geometry, board, log, code, code == DUAL_KITE)
    if code == TURBOT_FISH:
        return turbot_fish(geometry, board, log, code)
    if EMPTY_RECTANGLE <= code <= DUAL_EMPTY_RECTANGLE:
        return empty_rectangles(geometry, board, log, code, code == DUAL_EMPTY_RECTANGLE)
    if code == W_WING:
        return w_wings(geometry, board, log, code)
    if code == XY_WING:
        return xy_wings(geometry, board, log, code)
    return xyz_wings(geometry, board, log, code)


@entry
def search_advanced(code: int, geometry: Geometry, board: Board, log: Int32Array) -> bool:
    """Log instances of one technique beyond jellyfish until the log's limit; return whether it was reached."""
    if code <= XYZ_WING:
        return _search_wings(code, geometry, board, log)
    if code <= HIDDEN_RECTANGLE:
        return uniqueness(geometry, board, log, code, 1 + code - UNIQUENESS_1)
    if code <= AVOIDABLE_2:
        return avoidable_rectangles(geometry, board, log, code, 1 + code - AVOIDABLE_1)
    if code <= SASHIMI_JELLYFISH:
        kind = code - FINNED_X_WING
        return finned_fish(geometry, board, log, code, 2 + kind // 2, kind % 2 == 1)
    if code <= COLORS_WRAP:
        return simple_colors(geometry, board, log, code, code == COLORS_WRAP)
    if code <= MULTI_COLORS_2:
        return multi_colors(geometry, board, log, code, code == MULTI_COLORS_2)
    if code == X_CHAIN:
        return x_chains(geometry, board, log, code)
    return xy_chains(geometry, board, log, code)


@kernel
def advance_once(geometry: Geometry, board: Board, log: Int32Array, allowed: BoolArray) -> bool:
    """Take one step with the first allowed technique beyond jellyfish that applies; return whether there was one.

    Of colours, chains and remote pairs it takes the one that removes most, of the others the first.
    """
    for code in range(BASIC_CODES, allowed.shape[0]):
        begin, count = log[USED], log[COUNT]
        if allowed[code]:
            log[LIMIT] = log.shape[0] if code >= COLORS_TRAP or code == REMOTE_PAIR else count + 1
            search_advanced(code, geometry, board, log)
            if log[COUNT] > count:
                keep_best(log, begin)
                apply_last(geometry, board, log)
                return True
    return False


@entry
def solve_many(
    geometry: Geometry,
    board: Board,
    grids: Uint8Array,
    allowed: BoolArray,
    log: Int32Array,
    ends: Int32Array,
    counts: Int32Array,
    solved: BoolArray,
) -> int:
    """Solve grids with every allowed technique, as `solve_many_basic` does with those up to jellyfish."""
    for number in range(grids.shape[0]):
        begin = log[USED]
        if begin > log.shape[0] - ROOM:
            return number
        fill(geometry, board, grids[number], grids[number])
        while not advance(geometry, board, log, allowed) and advance_once(geometry, board, log, allowed):
            pass
        solved[number] = valid(geometry, board)
        ends[number] = log[USED]
        count_codes(log, begin, counts[number])
    return grids.shape[0]
