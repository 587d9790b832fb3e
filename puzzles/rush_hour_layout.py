"""What never changes while vehicles move: the board, its walls, and each vehicle's line, length and letter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

LENGTHS = (2, 3)
"""Allowed vehicle lengths: cars and trucks."""

NAMES = "ABCDEFGHIJKLMNOPQRSTUVWYZ"
"""Letters of the canonical naming, the primary car first; `X` is left out because some writers call the primary so."""


class Vehicle(NamedTuple):
    """One vehicle as it lies on the board; `row` and `column` name its top left cell, counted from 0."""

    row: int
    column: int
    length: int
    horizontal: bool
    letter: str

    @property
    def line(self) -> int:
        """Row (horizontal) or column (vertical) that the vehicle never leaves."""
        return self.row if self.horizontal else self.column

    @property
    def position(self) -> int:
        """Index of the vehicle's first cell within its line."""
        return self.column if self.horizontal else self.row

    def cells(self) -> list[tuple[int, int]]:
        """Return the (row, column) pairs the vehicle covers."""
        if self.horizontal:
            return [(self.row, self.column + offset) for offset in range(self.length)]
        return [(self.row + offset, self.column) for offset in range(self.length)]


@dataclass(frozen=True)
class Layout:
    """The unchanging part of a board; vehicle 0 is the primary car, the others follow by letter."""

    rows: int
    columns: int
    exit_row: int
    letters: tuple[str, ...]
    horizontal: tuple[bool, ...]
    lines: tuple[int, ...]
    """Row (horizontal vehicle) or column (vertical one), from 0, shape [vehicles]."""
    lengths: tuple[int, ...]
    walls: int
    """Bit row * columns + column is set where a wall stands."""
    _index: dict[str, int] = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)
    _masks: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        masks = tuple(
            tuple(self._mask(vehicle, at) for at in range(self.room(vehicle))) for vehicle in range(len(self))
        )
        object.__setattr__(self, "_masks", masks)
        object.__setattr__(self, "_index", {letter: vehicle for vehicle, letter in enumerate(self.letters)})
        shape = (self.rows, self.columns, self.exit_row, self.walls)
        # Letters enter as numbers: text hashes differ between processes, and a pickled layout keeps its hash.
        object.__setattr__(self, "_hash", hash((shape, tuple(map(ord, self.letters)), self.lines, self.lengths)))

    def __len__(self) -> int:
        """Return the number of vehicles."""
        return len(self.letters)

    def __hash__(self) -> int:
        return self._hash

    def room(self, vehicle: int) -> int:
        """Return how many positions the board's edges leave to `vehicle`."""
        return (self.columns if self.horizontal[vehicle] else self.rows) - self.lengths[vehicle] + 1

    def mask(self, vehicle: int, position: int) -> int:
        """Return the cells that `vehicle` covers at `position` as a bit mask."""
        return self._masks[vehicle][position]

    def vehicle(self, letter: str) -> int | None:
        """Return the index of the vehicle called `letter`, or None."""
        return self._index.get(letter)

    def _mask(self, vehicle: int, position: int) -> int:
        line, stride = self.lines[vehicle], 1 if self.horizontal[vehicle] else self.columns
        first = line * self.columns + position if self.horizontal[vehicle] else position * self.columns + line
        return sum(1 << (first + offset * stride) for offset in range(self.lengths[vehicle]))


class RushHourState(NamedTuple):
    """One position of a board."""

    layout: Layout
    positions: tuple[int, ...]
    """First cell of each vehicle within its line, shape [vehicles]."""
    occupied: int
    """Cells under a vehicle or wall, bit row * columns + column."""
