"""Kernels for locked candidates, locked pairs and locked triples."""

from __future__ import annotations

from solvers.techniques.board import Board, Geometry, bit_count, cells_with_few, first_bit, subset_digits
from solvers.techniques.compiled import inlined, kernel
from solvers.techniques.log import CELL, ELIMINATION, START, Int32Array, commit, push, start
from solvers.techniques.records import push_house_cells, push_present


@inlined
def _removed(geometry: Geometry, board: Board, house: int, digit: int, other: int) -> int:
    """Return the places that a digit loses in the house `other` because `house` confines it there; 0 if it does not."""
    if board.places[house, digit] & ~geometry.shared[house, other]:
        return 0
    return board.places[other, digit] & ~geometry.shared[other, house]


@kernel
def _log_locked(
    geometry: Geometry, board: Board, log: Int32Array, code: int, house: int, digit: int, other: int
) -> bool:
    """Log that `house` confines a digit to the house `other`."""
    mask, rest = board.places[house, digit], _removed(geometry, board, house, digit, other)
    start(log, code, 1 << digit)
    push_house_cells(geometry, log, CELL, house, mask)
    for index in range(geometry.size):
        if rest >> index & 1:
            push(log, ELIMINATION, geometry.cells_of[other, index] * 16 + digit)
    return commit(log)


@kernel
def pointing(geometry: Geometry, board: Board, log: Int32Array, code: int) -> bool:
    """Log every digit that a box confines to one line."""
    for house in range(2 * geometry.size, 3 * geometry.size):
        for digit in range(geometry.size):
            mask = board.places[house, digit]
            if not mask & (mask - 1):
                continue
            cell = geometry.cells_of[house, first_bit(mask)]
            for kind in range(2):
                line = geometry.house_of[cell, kind]
                if _removed(geometry, board, house, digit, line) and _log_locked(
                    geometry, board, log, code, house, digit, line
                ):
                    return True
    return False


@kernel
def claiming(geometry: Geometry, board: Board, log: Int32Array, code: int) -> bool:
    """Log every digit that a line confines to one box."""
    for house in range(2 * geometry.size):
        for digit in range(geometry.size):
            mask = board.places[house, digit]
            if not mask & (mask - 1):
                continue
            cell = geometry.cells_of[house, first_bit(mask)]
            box = geometry.house_of[cell, 2]
            if _removed(geometry, board, house, digit, box) and _log_locked(
                geometry, board, log, code, house, digit, box
            ):
                return True
    return False


@kernel
def _log_locked_subset(
    geometry: Geometry, board: Board, log: Int32Array, code: int, box: int, subset: int, digits: int, line: int
) -> bool:
    start(log, code, digits)
    push_house_cells(geometry, log, CELL, box, subset)
    in_box, in_line, outside = False, False, False
    for turn in range(2):
        house, other = (line, box) if turn else (box, line)
        for index in range(geometry.size):
            cell = geometry.cells_of[house, index]
            shared = geometry.house_of[cell, other // geometry.size] == other
            inside = geometry.house_of[cell, 2] == box and subset >> geometry.index_of[cell, 2] & 1
            if inside or not board.candidates[cell] & digits or (shared and house == line):
                continue
            outside = outside or not shared
            in_box = in_box or house == box
            in_line = in_line or house == line or shared
            push_present(board, log, cell, digits)
    if not (in_box and in_line and outside):
        log[log[START] + ELIMINATION] = 0
    return commit(log)


@kernel
def locked_subsets(geometry: Geometry, board: Board, log: Int32Array, code: int, count: int) -> bool:
    """Log every naked pair or triple of a box and a line that removes candidates from both."""
    for box in range(2 * geometry.size, 3 * geometry.size):
        few = cells_with_few(geometry, board, box, count)
        if bit_count(few) < count or bit_count(board.empty[box]) <= count:
            continue
        for at in range(geometry.subset_start[count], geometry.subset_start[count + 1]):
            subset = geometry.subsets[at]
            if subset & ~few:
                continue
            digits = subset_digits(geometry, board, box, subset)
            if bit_count(digits) != count:
                continue
            for kind in range(2):
                line = geometry.house_of[geometry.cells_of[box, first_bit(subset)], kind]
                if not subset & ~geometry.shared[box, line] and _log_locked_subset(
                    geometry, board, log, code, box, subset, digits, line
                ):
                    return True
    return False
