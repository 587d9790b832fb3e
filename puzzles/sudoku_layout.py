"""Geometry of Sudoku boards: which cells share a row, a column or a box. Knows no digits and no states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

BOX_SHAPES: dict[int, tuple[int, int]] = {4: (2, 2), 6: (2, 3), 9: (3, 3), 16: (4, 4)}
"""Rows and columns of a box, by board size."""

SYMBOLS = "0123456789ABCDEFG"
"""One character per digit in board text; `0` and `.` are blanks."""


@dataclass(frozen=True)
class SudokuLayout:
    """Cells, units and names of one board size; cells count row by row from 0."""

    size: int
    """Digits, rows, columns and boxes."""
    box_rows: int
    """Rows of a box."""
    box_columns: int
    """Columns of a box."""
    row_of: tuple[int, ...]
    """Row of each cell, from 0."""
    column_of: tuple[int, ...]
    """Column of each cell, from 0."""
    box_of: tuple[int, ...]
    """Box of each cell, from 0, row by row."""
    units: tuple[tuple[int, ...], ...]
    """Cells of each row, then each column, then each box."""
    peers: tuple[tuple[int, ...], ...]
    """Cells that share a unit with each cell, ascending."""
    cell_names: tuple[str, ...]
    """`r1c1` and so on."""

    @property
    def cells(self) -> int:
        """Number of cells."""
        return self.size * self.size

    @property
    def boxes(self) -> tuple[tuple[int, ...], ...]:
        """Cells of each box."""
        return self.units[2 * self.size :]


@cache
def sudoku_layout(size: int) -> SudokuLayout:
    """Return the layout of a board of `size` rows.

    Raises:
        ValueError: if no such board is known.
    """
    if size not in BOX_SHAPES:
        raise ValueError(f"Sudoku size must be one of {', '.join(map(str, BOX_SHAPES))}, not {size!r}")
    box_rows, box_columns = BOX_SHAPES[size]
    across = size // box_columns
    cells = range(size * size)
    row_of = tuple(cell // size for cell in cells)
    column_of = tuple(cell % size for cell in cells)
    box_of = tuple(row_of[cell] // box_rows * across + column_of[cell] // box_columns for cell in cells)
    units = tuple(
        tuple(cell for cell in cells if number[cell] == unit)
        for number in (row_of, column_of, box_of)
        for unit in range(size)
    )
    peers = tuple(
        tuple(
            other
            for other in cells
            if other != cell
            and (row_of[other] == row_of[cell] or column_of[other] == column_of[cell] or box_of[other] == box_of[cell])
        )
        for cell in cells
    )
    names = tuple(f"r{row_of[cell] + 1}c{column_of[cell] + 1}" for cell in cells)
    return SudokuLayout(size, box_rows, box_columns, row_of, column_of, box_of, units, peers, names)
