"""Compiled search with the techniques up to jellyfish: the ones that grade most puzzles of a bank."""

from __future__ import annotations

from solvers.techniques.board import Board, BoolArray, Geometry, Uint8Array, eliminate, fill, filled, place, valid
from solvers.techniques.compiled import entry, kernel
from solvers.techniques.fish import basic_fish
from solvers.techniques.intersections import claiming, locked_subsets, pointing
from solvers.techniques.log import (
    CELL,
    COUNT,
    ELIMINATION,
    FURTHER,
    HEAD,
    LIMIT,
    PLACEMENT,
    START,
    USED,
    Int32Array,
    record_length,
)
from solvers.techniques.singles import full_houses, hidden_singles, naked_singles, oldest_full_house, oldest_single
from solvers.techniques.subsets import hidden_subsets, naked_subsets
from solvers.techniques.table import code_of

FULL_HOUSE = code_of("Full House")
NAKED_SINGLE = code_of("Naked Single")
HIDDEN_SINGLE = code_of("Hidden Single")
LOCKED_PAIR = code_of("Locked Pair")
LOCKED_TRIPLE = code_of("Locked Triple")
POINTING = code_of("Pointing")
CLAIMING = code_of("Claiming")
NAKED_PAIR = code_of("Naked Pair")
NAKED_TRIPLE = code_of("Naked Triple")
NAKED_QUADRUPLE = code_of("Naked Quadruple")
HIDDEN_PAIR = code_of("Hidden Pair")
HIDDEN_TRIPLE = code_of("Hidden Triple")
X_WING = code_of("X-Wing")
JELLYFISH = code_of("Jellyfish")
BASIC_CODES = JELLYFISH + 1
"""Number of techniques searched here; their codes count from 0."""


@kernel
def _search_subsets(code: int, geometry: Geometry, board: Board, log: Int32Array) -> bool:
    if code == NAKED_PAIR:
        return naked_subsets(geometry, board, log, code, 2)
    if code == NAKED_TRIPLE:
        return naked_subsets(geometry, board, log, code, 3)
    if code == NAKED_QUADRUPLE:
        return naked_subsets(geometry, board, log, code, 4)
    if code == HIDDEN_PAIR:
        return hidden_subsets(geometry, board, log, code, 2)
    if code == HIDDEN_TRIPLE:
        return hidden_subsets(geometry, board, log, code, 3)
    return hidden_subsets(geometry, board, log, code, 4)


@entry
def search_basic(code: int, geometry: Geometry, board: Board, log: Int32Array) -> bool:
    """Log instances of one technique until the log's limit; return whether the limit was reached."""
    if code == FULL_HOUSE:
        return full_houses(geometry, board, log, code)
    if code == NAKED_SINGLE:
        return naked_singles(board, log, code)
    if code == HIDDEN_SINGLE:
        return hidden_singles(geometry, board, log, code)
    if LOCKED_PAIR <= code <= LOCKED_TRIPLE:
        return locked_subsets(geometry, board, log, code, 2 + code - LOCKED_PAIR)
    if code == POINTING:
        return pointing(geometry, board, log, code)
    if code == CLAIMING:
        return claiming(geometry, board, log, code)
    if code >= X_WING:
        return basic_fish(geometry, board, log, code, 2 + code - X_WING)
    return _search_subsets(code, geometry, board, log)


@kernel
def apply_last(geometry: Geometry, board: Board, log: Int32Array) -> None:
    """Carry out the last record of the log."""
    at = log[START]
    first = at + HEAD + log[at + CELL] + log[at + FURTHER]
    for offset in range(log[at + ELIMINATION]):
        entry = log[first + offset]
        eliminate(geometry, board, entry >> 4, entry & 15)
    first += log[at + ELIMINATION]
    for offset in range(log[at + PLACEMENT]):
        entry = log[first + offset]
        place(geometry, board, entry >> 4, entry & 15)


@kernel
def _take_next(code: int, geometry: Geometry, board: Board, log: Int32Array) -> bool:
    if code == FULL_HOUSE:
        return oldest_full_house(geometry, board, log, code)
    if code == NAKED_SINGLE:
        return oldest_single(board, board.naked, log, code)
    if code == HIDDEN_SINGLE:
        return oldest_single(board, board.hidden, log, code)
    return search_basic(code, geometry, board, log)


@kernel
def advance(geometry: Geometry, board: Board, log: Int32Array, allowed: BoolArray) -> bool:
    """Solve as far as the allowed techniques up to jellyfish go, logging each step; return whether no cell is empty."""
    while True:
        log[LIMIT] = log[COUNT] + 1
        found = False
        for code in range(BASIC_CODES):
            if allowed[code] and _take_next(code, geometry, board, log):
                found = True
                break
        if not found:
            return filled(board)
        apply_last(geometry, board, log)


ROOM = 60_000
"""Log entries that one puzzle may need."""


@kernel
def count_codes(log: Int32Array, begin: int, counts: Int32Array) -> None:
    """Count the records from `begin` on by technique, into `counts` of shape [techniques]."""
    at = begin
    while at < log[USED]:
        counts[log[at]] += 1
        at += record_length(log, at)


@entry
def solve_many_basic(
    geometry: Geometry,
    board: Board,
    grids: Uint8Array,
    allowed: BoolArray,
    log: Int32Array,
    ends: Int32Array,
    counts: Int32Array,
    solved: BoolArray,
) -> int:
    """Solve grids of shape [puzzles, cells] until the log is nearly full; return how many were taken.

    Writes where each puzzle's records end, how often it used each technique, and whether it came out solved.
    """
    for number in range(grids.shape[0]):
        begin = log[USED]
        if begin > log.shape[0] - ROOM:
            return number
        fill(geometry, board, grids[number], grids[number])
        solved[number] = advance(geometry, board, log, allowed) and valid(geometry, board)
        ends[number] = log[USED]
        count_codes(log, begin, counts[number])
    return grids.shape[0]
