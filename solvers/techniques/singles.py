"""Kernels for full house, naked single and hidden single."""

from __future__ import annotations

import numba

from solvers.techniques.board import Board, Geometry, first_bit
from solvers.techniques.log import CELL, PLACEMENT, Int32Array, commit, push, start


@numba.njit(cache=True, nogil=True)
def _record(log: Int32Array, code: int, cell: int, digit: int) -> bool:
    start(log, code, 1 << digit)
    push(log, CELL, cell)
    push(log, PLACEMENT, cell * 16 + digit)
    return commit(log)


@numba.njit(cache=True, nogil=True)
def full_houses(geometry: Geometry, board: Board, log: Int32Array, code: int) -> bool:
    """Log every house with one empty cell."""
    for house in range(3 * geometry.size):
        empty = board.empty[house]
        if empty and not empty & (empty - 1):
            cell = geometry.cells_of[house, first_bit(empty)]
            if board.candidates[cell] and _record(log, code, cell, first_bit(board.candidates[cell])):
                return True
    return False


@numba.njit(cache=True, nogil=True)
def naked_singles(board: Board, log: Int32Array, code: int) -> bool:
    """Log every cell with one candidate."""
    for cell in range(board.candidates.shape[0]):
        mask = board.candidates[cell]
        if mask and not mask & (mask - 1) and _record(log, code, cell, first_bit(mask)):
            return True
    return False


@numba.njit(cache=True, nogil=True)
def hidden_singles(geometry: Geometry, board: Board, log: Int32Array, code: int) -> bool:
    """Log every digit with one place in a house."""
    for house in range(3 * geometry.size):
        for digit in range(geometry.size):
            mask = board.places[house, digit]
            if mask and not mask & (mask - 1):
                cell = geometry.cells_of[house, first_bit(mask)]
                if _record(log, code, cell, digit):
                    return True
    return False
