"""Kernels for naked and hidden pairs, triples and quadruples."""

from __future__ import annotations

from solvers.techniques.board import Board, Geometry, bit_count, cells_with_few, subset_digits
from solvers.techniques.compiled import kernel
from solvers.techniques.log import CELL, Int32Array, commit, start
from solvers.techniques.records import push_house_cells, push_present


@kernel
def _log_naked(
    geometry: Geometry, board: Board, log: Int32Array, code: int, house: int, subset: int, digits: int
) -> bool:
    start(log, code, digits)
    push_house_cells(geometry, log, CELL, house, subset)
    for index in range(geometry.size):
        if not subset >> index & 1:
            push_present(board, log, geometry.cells_of[house, index], digits)
    return commit(log)


@kernel
def naked_subsets(geometry: Geometry, board: Board, log: Int32Array, code: int, count: int) -> bool:
    """Log every set of `count` cells of a house that has `count` candidates between them."""
    for number in range(3 * geometry.size):
        house = (number + 2 * geometry.size) % (3 * geometry.size)
        few = cells_with_few(geometry, board, house, count)
        if bit_count(few) < count or bit_count(board.empty[house]) <= count:
            continue
        for at in range(geometry.subset_start[count], geometry.subset_start[count + 1]):
            subset = geometry.subsets[at]
            if subset & ~few:
                continue
            digits = subset_digits(geometry, board, house, subset)
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
            push_present(board, log, geometry.cells_of[house, index], ~digits)
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
