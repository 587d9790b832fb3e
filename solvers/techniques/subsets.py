"""Kernels for naked and hidden pairs, triples and quadruples."""

from __future__ import annotations

from solvers.techniques.board import Board, Geometry, bit_count
from solvers.techniques.compiled import kernel
from solvers.techniques.intersections import push_house_cells
from solvers.techniques.log import CELL, ELIMINATION, Int32Array, commit, push, start


@kernel
def _push_outside(geometry: Geometry, board: Board, log: Int32Array, house: int, but: int, digits: int) -> None:
    for index in range(geometry.size):
        cell = geometry.cells_of[house, index]
        if board.candidates[cell] & digits and not but >> index & 1:
            for digit in range(geometry.size):
                if board.candidates[cell] & digits & (1 << digit):
                    push(log, ELIMINATION, cell * 16 + digit)


@kernel
def _log_naked(
    geometry: Geometry, board: Board, log: Int32Array, code: int, house: int, subset: int, digits: int
) -> bool:
    start(log, code, digits)
    push_house_cells(geometry, log, CELL, house, subset)
    _push_outside(geometry, board, log, house, subset, digits)
    return commit(log)


@kernel
def naked_subsets(geometry: Geometry, board: Board, log: Int32Array, code: int, count: int) -> bool:
    """Log every set of `count` cells of a house that has `count` candidates between them."""
    for number in range(3 * geometry.size):
        house = (number + 2 * geometry.size) % (3 * geometry.size)
        few = 0
        for index in range(geometry.size):
            mask = board.candidates[geometry.cells_of[house, index]]
            if mask and bit_count(mask) <= count:
                few |= 1 << index
        if bit_count(few) < count or bit_count(board.empty[house]) <= count:
            continue
        for at in range(geometry.subset_start[count], geometry.subset_start[count + 1]):
            subset = geometry.subsets[at]
            if subset & ~few:
                continue
            digits = 0
            for index in range(geometry.size):
                if subset >> index & 1:
                    digits |= board.candidates[geometry.cells_of[house, index]]
            if bit_count(digits) == count and _log_naked(geometry, board, log, code, house, subset, digits):
                return True
    return False


@kernel
def _log_hidden(
    geometry: Geometry, board: Board, log: Int32Array, code: int, house: int, cells: int, digits: int
) -> bool:
    start(log, code, digits)
    push_house_cells(geometry, log, CELL, house, cells)
    for index in range(geometry.size):
        if cells >> index & 1:
            cell = geometry.cells_of[house, index]
            for digit in range(geometry.size):
                if board.candidates[cell] & ~digits & (1 << digit):
                    push(log, ELIMINATION, cell * 16 + digit)
    return commit(log)


@kernel
def hidden_subsets(geometry: Geometry, board: Board, log: Int32Array, code: int, count: int) -> bool:
    """Log every set of `count` digits with `count` places between them in a house."""
    for number in range(3 * geometry.size):
        house = (number + 2 * geometry.size) % (3 * geometry.size)
        few = 0
        for digit in range(geometry.size):
            mask = board.places[house, digit]
            if mask and bit_count(mask) <= count:
                few |= 1 << digit
        if bit_count(few) < count or bit_count(board.empty[house]) <= count:
            continue
        for at in range(geometry.subset_start[count], geometry.subset_start[count + 1]):
            digits = geometry.subsets[at]
            if digits & ~few:
                continue
            cells = 0
            for digit in range(geometry.size):
                if digits >> digit & 1:
                    cells |= board.places[house, digit]
            if bit_count(cells) == count and _log_hidden(geometry, board, log, code, house, cells, digits):
                return True
    return False
