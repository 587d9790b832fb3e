"""The rectangles that uniqueness techniques reason about: two rows, two columns, two boxes."""

from __future__ import annotations

from solvers.techniques.board import Board, Geometry
from solvers.techniques.compiled import kernel
from solvers.techniques.log import CELL, ELIMINATION, Int32Array, push, start


@kernel
def next_rectangle(geometry: Geometry, corners: Int32Array) -> bool:
    """Move `corners` to the next rectangle of cells in exactly two boxes; return False after the last.

    Corners go round: 0 and 2, 1 and 3 are opposite. Begin with four zeros.
    """
    size = geometry.size
    row, column = corners[0] // size, corners[0] % size
    other_row, other_column = corners[2] // size, corners[2] % size
    while True:
        other_column += 1
        if other_column >= size:
            column += 1
            other_column = column + 1
        if column >= size - 1:
            other_row += 1
            column, other_column = 0, 1
        if other_row == row or other_row >= size:
            row, other_row = (row, row + 1) if other_row == row else (row + 1, row + 2)
            column, other_column = 0, 1
        if row >= size - 1:
            return False
        same_band = row // geometry.box_rows == other_row // geometry.box_rows
        if same_band != (column // geometry.box_columns == other_column // geometry.box_columns):
            break
    corners[0], corners[1] = row * size + column, row * size + other_column
    corners[2], corners[3] = other_row * size + other_column, other_row * size + column
    return True


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
