"""Kernel for the bivalue universal grave with one further candidate."""

from __future__ import annotations

from solvers.techniques.board import Board, Geometry, bit_count
from solvers.techniques.compiled import kernel
from solvers.techniques.log import CELL, Int32Array, commit, push, start
from solvers.techniques.records import push_present


@kernel
def _odd_cell(board: Board) -> int:
    """Return the only cell with three candidates where all others have two, or -1."""
    odd = -1
    for cell in range(board.candidates.shape[0]):
        if board.values[cell] == 0:
            count = bit_count(board.candidates[cell])
            if count == 3 and odd < 0:
                odd = cell
            elif count != 2:
                return -1
    return odd


@kernel
def bug_plus_one(geometry: Geometry, board: Board, log: Int32Array, code: int) -> bool:
    """Log the candidates other than the one that keeps the board from being a bivalue universal grave."""
    odd = _odd_cell(board)
    if odd < 0:
        return False
    extra = -1
    for house in range(3 * geometry.size):
        for digit in range(geometry.size):
            count = bit_count(board.places[house, digit])
            if count in (0, 2):
                continue
            if count != 3 or extra not in (-1, digit) or geometry.house_of[odd, house // geometry.size] != house:
                return False
            extra = digit
    if extra < 0 or not board.candidates[odd] >> extra & 1:
        return False
    start(log, code, 1 << extra)
    push(log, CELL, odd)
    push_present(board, log, odd, ~(1 << extra))
    return commit(log)
