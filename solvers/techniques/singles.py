"""Kernels for full house, naked single and hidden single: all of them, or the one that has been open longest.

Solving takes singles in the order in which they arose, as HoDoKu does, so that the counts of a path agree too.
"""

from __future__ import annotations

from solvers.techniques.board import Board, Geometry, first_bit
from solvers.techniques.compiled import kernel
from solvers.techniques.log import CELL, PLACEMENT, Int32Array, commit, push, start


@kernel
def _record(log: Int32Array, code: int, cell: int, digit: int) -> bool:
    start(log, code, 1 << digit)
    push(log, CELL, cell)
    push(log, PLACEMENT, cell * 16 + digit)
    return commit(log)


@kernel
def full_houses(geometry: Geometry, board: Board, log: Int32Array, code: int) -> bool:
    """Log every house with one empty cell."""
    for house in range(3 * geometry.size):
        empty = board.empty[house]
        if empty and not empty & (empty - 1):
            cell = geometry.cells_of[house, first_bit(empty)]
            if board.candidates[cell] and _record(log, code, cell, first_bit(board.candidates[cell])):
                return True
    return False


@kernel
def naked_singles(board: Board, log: Int32Array, code: int) -> bool:
    """Log every cell with one candidate."""
    for cell in range(board.candidates.shape[0]):
        mask = board.candidates[cell]
        if mask and not mask & (mask - 1) and _record(log, code, cell, first_bit(mask)):
            return True
    return False


@kernel
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


@kernel
def oldest_full_house(geometry: Geometry, board: Board, log: Int32Array, code: int) -> bool:
    """Log the oldest naked single that is the last empty cell of a house."""
    for at in range(board.naked[0], board.naked[1]):
        cell, digit = board.naked[at] >> 4, board.naked[at] & 15
        if board.candidates[cell] >> digit & 1:
            for kind in range(3):
                empty = board.empty[geometry.house_of[cell, kind]]
                if not empty & (empty - 1):
                    return _record(log, code, cell, digit)
    return False


@kernel
def oldest_single(board: Board, queue: Int32Array, log: Int32Array, code: int) -> bool:
    """Log the first single of a queue that is still open."""
    while queue[0] < queue[1]:
        cell, digit = queue[queue[0]] >> 4, queue[queue[0]] & 15
        if board.candidates[cell] >> digit & 1:
            return _record(log, code, cell, digit)
        queue[0] += 1
    return False
