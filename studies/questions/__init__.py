"""One module per study: the question in its docstring, the cells that answer it as data.

A module offers `cells(scale) -> tuple[Cell, ...]`. The scale says on which board and levels a question is asked, so
that the same question runs on a laptop's 4x4 boards and on the paper's 9x9 ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from studies.factors import TECHNIQUE_FAMILY, Cell, Schedule


@dataclass(frozen=True)
class Scale:
    """A board with its short and its long training levels."""

    family: str
    """Key of `FAMILIES`, or the name of a puzzle of your own."""
    short: tuple[str, ...]
    long: tuple[str, ...]
    puzzle: str = "sudoku"
    module: str = ""
    """Module that registers the puzzle, where it is your own."""

    @property
    def lengths(self) -> tuple[Schedule, Schedule]:
        """Schedules of one phase each: short levels, long levels."""
        return (self.short,), (self.long,)

    def cell(self, interface: str, train: Schedule = (), learner: str = "outcome", **factors: Any) -> Cell:
        """Return a cell on the scale's board; `factors` are fields of `Cell`."""
        return Cell(self.puzzle, self.family, interface, train, learner, module=self.module, **factors)


SCALES: dict[str, Scale] = {
    "t": Scale("t", ("T2",), ("T3",)),
    "m": Scale("m", ("M1",), ("M2", "M3")),
    "l": Scale("l", ("L1", "L2"), ("L3", "L4")),
    "r": Scale("r", ("R1",), ("R2",), puzzle="rush-hour"),
    "s": Scale("s", ("S2",), ("S3",), puzzle="shop"),
    TECHNIQUE_FAMILY: Scale(TECHNIQUE_FAMILY, ("L2-single", "L3-single"), ("L4-single", "L5-single")),
}
"""Training levels by family: at the long ones a policy after SFT should succeed 15-40 % of the time."""
