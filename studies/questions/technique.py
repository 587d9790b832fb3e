"""What is harder to carry over to new puzzles: greater distance, or a harder technique?"""

from __future__ import annotations

from studies.factors import Cell, Schedule
from studies.questions import Scale

SCHEDULES: tuple[Schedule, ...] = (
    (("L2-single", "L3-single"),),
    (("L4-single", "L5-single"),),
    (("L4-pair", "L5-pair"),),
    (("L2-single", "L3-single"), ("L4-single", "L5-single"), ("L4-pair", "L5-pair")),
    (("L2-single", "L3-single", "L4-single", "L5-single", "L4-pair", "L5-pair"),),
)
"""Short and easy, long and easy, long and hard; length first and then technique; all at once."""


def cells(scale: Scale) -> tuple[Cell, ...]:
    """Return every schedule on the 9x9 boards sorted by technique, whatever the scale; none for your own puzzle."""
    if scale.module:
        return ()
    return tuple(Cell("sudoku", "q", "atomic", train) for train in SCHEDULES)
