"""The rectangles that uniqueness techniques reason about: two rows, two columns, two boxes."""

from __future__ import annotations

from solvers.techniques.board import Board, Geometry
from solvers.techniques.compiled import kernel
from solvers.techniques.log import CELL, ELIMINATION, Int32Array, push, start


@kernel
def _skip(line: int, first: int, count: int) -> int:
    """Return the line at position `line` if `count` lines from `first` on are left out."""
    return line if line < first else line + count


@kernel
def rectangle_count(geometry: Geometry) -> int:
    """Return how many rectangles have a given cell as a corner."""
    by_row = (geometry.box_columns - 1) * (geometry.size - geometry.box_rows)
    return by_row + (geometry.box_rows - 1) * (geometry.size - geometry.box_columns)


@kernel
def set_rectangle(geometry: Geometry, cell: int, number: int, corners: Int32Array) -> None:
    """Write the corners of one of the rectangles at `cell`, `number` from 0, going round from it.

    Corners 0 and 1, 2 and 3 share a row, 1 and 2, 3 and 0 a column. First come those whose cells in the box of `cell`
    share a row.
    """
    size = geometry.size
    row, column = cell // size, cell % size
    by_row = (geometry.box_columns - 1) * (size - geometry.box_rows)
    if number < by_row:
        near, far = number // (size - geometry.box_rows), number % (size - geometry.box_rows)
        other_column = _skip(column - column % geometry.box_columns + near, column, 1)
        other_row = _skip(far, row - row % geometry.box_rows, geometry.box_rows)
    else:
        number -= by_row
        near, far = number // (size - geometry.box_columns), number % (size - geometry.box_columns)
        other_row = _skip(row - row % geometry.box_rows + near, row, 1)
        other_column = _skip(far, column - column % geometry.box_columns, geometry.box_columns)
    corners[0], corners[1] = cell, row * size + other_column
    corners[2], corners[3] = other_row * size + other_column, other_row * size + column


@kernel
def start_rectangle(log: Int32Array, code: int, digits: int, corners: Int32Array) -> None:
    """Begin a record on a rectangle."""
    start(log, code, digits)
    for corner in corners:
        push(log, CELL, corner)


@kernel
def push_present(board: Board, log: Int32Array, cell: int, digits: int) -> None:
    """Add the elimination of those of `digits` that `cell` has."""
    for digit in range(board.places.shape[1]):
        if board.candidates[cell] & digits & (1 << digit):
            push(log, ELIMINATION, cell * 16 + digit)
