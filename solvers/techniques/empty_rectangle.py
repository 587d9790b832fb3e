"""Kernels for empty rectangles, single and dual."""

from __future__ import annotations

import numpy as np

from solvers.techniques.board import Board, Geometry, bit_count
from solvers.techniques.compiled import kernel
from solvers.techniques.links import partner
from solvers.techniques.log import CELL, ELIMINATION, FURTHER, Int32Array, commit, push, start
from solvers.techniques.records import push_house_cells


@kernel
def _is_cross(geometry: Geometry, board: Board, box: int, digit: int, row: int, column: int) -> bool:
    """Return whether the places lie on the row and the column, with at least one off each."""
    off_row, off_column = False, False
    for index in range(geometry.size):
        if board.places[box, digit] >> index & 1:
            cell = geometry.cells_of[box, index]
            on_row = geometry.house_of[cell, 0] == row
            on_column = geometry.house_of[cell, 1] == column
            if not on_row and not on_column:
                return False
            off_row = off_row or not on_row
            off_column = off_column or not on_column
    return off_row and off_column


@kernel
def _hinges(geometry: Geometry, board: Board, box: int, digit: int, row: int, column: int, found: Int32Array) -> int:
    """Write near end, far end and removed cell of every line that completes the cross; return how many."""
    count = 0
    for kind in range(2):
        house = row if kind == 0 else column
        for index in range(geometry.size):
            near = geometry.cells_of[house, index]
            if not board.candidates[near] >> digit & 1 or geometry.house_of[near, 2] == box:
                continue
            far = partner(geometry, board, near, digit, 1 - kind)
            if far < 0:
                continue
            if kind == 0:
                target = geometry.cells_of[geometry.house_of[far, 0], column - geometry.size]
            else:
                target = geometry.cells_of[row, geometry.house_of[far, 1] - geometry.size]
            if board.candidates[target] >> digit & 1 and target != far and geometry.house_of[target, 2] != box:
                found[count, 0], found[count, 1], found[count, 2] = near, far, target
                count += 1
    return count


@kernel
def _log_rectangle(
    geometry: Geometry, board: Board, log: Int32Array, code: int, box: int, digit: int, one: Int32Array, two: Int32Array
) -> bool:
    start(log, code, 1 << digit)
    push_house_cells(geometry, log, CELL, box, board.places[box, digit])
    push(log, FURTHER, one[0])
    push(log, FURTHER, one[1])
    if one[2] != two[2]:
        push(log, FURTHER, two[0])
        push(log, FURTHER, two[1])
    push(log, ELIMINATION, one[2] * 16 + digit)
    if one[2] != two[2]:
        push(log, ELIMINATION, two[2] * 16 + digit)
    return commit(log)


@kernel
def _log_cross(
    geometry: Geometry,
    board: Board,
    log: Int32Array,
    code: int,
    box: int,
    digit: int,
    found: Int32Array,
    count: int,
    dual: bool,
) -> bool:
    for number in range(count):
        if not dual and _log_rectangle(geometry, board, log, code, box, digit, found[number], found[number]):
            return True
        for other in range(number + 1, count if dual else 0):
            if found[number, 2] != found[other, 2] and _log_rectangle(
                geometry, board, log, code, box, digit, found[number], found[other]
            ):
                return True
    return False


@kernel
def empty_rectangles(geometry: Geometry, board: Board, log: Int32Array, code: int, dual: bool) -> bool:
    """Log every empty rectangle, or every two in the same box with different results if `dual`."""
    found = np.empty((2 * geometry.size, 3), dtype=np.int32)
    for digit in range(geometry.size):
        for box in range(2 * geometry.size, 3 * geometry.size):
            if bit_count(board.places[box, digit]) < 2:
                continue
            corner = geometry.cells_of[box, 0]
            top, left = geometry.house_of[corner, 0], geometry.house_of[corner, 1]
            for row in range(top, top + geometry.box_rows):
                for column in range(left, left + geometry.box_columns):
                    if not _is_cross(geometry, board, box, digit, row, column):
                        continue
                    count = _hinges(geometry, board, box, digit, row, column, found)
                    if _log_cross(geometry, board, log, code, box, digit, found, count, dual):
                        return True
    return False
