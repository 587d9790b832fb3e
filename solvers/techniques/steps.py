"""Steps as people read them: what a technique saw and what follows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from solvers.techniques.log import HEAD, Int32Array
from solvers.techniques.table import TECHNIQUES


@dataclass(frozen=True)
class Step:
    """One use of one technique; cells count row by row from 0, digits from 1."""

    technique: str
    """Name, as in `TECHNIQUES`."""
    digits: tuple[int, ...]
    """Digits that the pattern is about."""
    cells: tuple[int, ...]
    """Cells of the pattern."""
    further: tuple[int, ...]
    """Cells that qualify it: fins, ends of a connecting link."""
    eliminations: tuple[tuple[int, int], ...]
    """Candidates that go, as (cell, digit), ascending."""
    placements: tuple[tuple[int, int], ...]
    """Cells that are filled, as (cell, digit)."""
    size: int
    """Size of the board."""

    def __str__(self) -> str:
        result = [f"{cell_names([cell], self.size)}={digit}" for cell, digit in self.placements]
        for digit in sorted({digit for _, digit in self.eliminations}):
            cells = [cell for cell, other in self.eliminations if other == digit]
            result.append(f"{cell_names(cells, self.size)}<>{digit}")
        if self.placements and len(self.cells) == 1:
            return f"{self.technique}: {', '.join(result)}"
        digits = ",".join(map(str, self.digits))
        further = f" with {cell_names(self.further, self.size)}" if self.further else ""
        return f"{self.technique}: {digits} in {cell_names(self.cells, self.size)}{further} => {', '.join(result)}"


def cell_names(cells: tuple[int, ...] | list[int], size: int) -> str:
    """Return the short name of some cells: `r1c23,r4c5`.

    >>> cell_names([1, 2, 30], 9)
    'r1c23,r4c4'
    """
    rows: dict[int, list[int]] = {}
    for cell in sorted(set(cells)):
        rows.setdefault(cell // size, []).append(cell % size + 1)
    columns: dict[tuple[int, ...], list[int]] = {}
    for row, members in rows.items():
        columns.setdefault(tuple(members), []).append(row + 1)
    return ",".join(f"r{''.join(map(str, members))}c{''.join(map(str, group))}" for group, members in columns.items())


def read_steps(records: Int32Array, size: int) -> Iterator[Step]:
    """Yield the steps that some records of a log describe."""
    entries = records.tolist()
    at = 0
    while at < len(entries):
        code, digits = entries[at : at + 2]
        lists, first = [], at + HEAD
        for length in entries[at + 2 : at + HEAD]:
            lists.append(entries[first : first + length])
            first += length
        cells, further, eliminations, placements = lists
        yield Step(
            TECHNIQUES[code].name,
            tuple(digit + 1 for digit in range(size) if digits >> digit & 1),
            tuple(cells),
            tuple(further),
            tuple(sorted({(entry >> 4, (entry & 15) + 1) for entry in eliminations})),
            tuple((entry >> 4, (entry & 15) + 1) for entry in placements),
            size,
        )
        at = first
