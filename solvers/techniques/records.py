"""Parts of records that kernels of several techniques write."""

from __future__ import annotations

from solvers.techniques.board import Board, Geometry
from solvers.techniques.compiled import kernel
from solvers.techniques.log import CELL, ELIMINATION, Int32Array, push, start


@kernel
def start_rectangle(log: Int32Array, code: int, digits: int, corners: Int32Array) -> None:
    """Begin a record on a rectangle."""
    start(log, code, digits)
    for corner in corners:
        push(log, CELL, corner)


@kernel
def push_house_cells(geometry: Geometry, log: Int32Array, kind: int, house: int, mask: int) -> None:
    """Add the cells of `mask` in `house` to a list of the record."""
    for index in range(geometry.size):
        if mask >> index & 1:
            push(log, kind, geometry.cells_of[house, index])


@kernel
def push_present(board: Board, log: Int32Array, cell: int, digits: int) -> None:
    """Add the elimination of those of `digits` that `cell` has."""
    for digit in range(board.places.shape[1]):
        if board.candidates[cell] & digits & (1 << digit):
            push(log, ELIMINATION, cell * 16 + digit)
