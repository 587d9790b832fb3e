"""Does training on short ways and then on long ones beat training on the long ones, the short ones, or both at once?"""

from __future__ import annotations

from studies.factors import Cell
from studies.questions import Scale


def cells(scale: Scale) -> tuple[Cell, ...]:
    """Return the four schedules, all of the same number of updates, for single actions and for macros."""
    schedules = (*scale.lengths, (scale.short, scale.long), (scale.short + scale.long,))
    return tuple(scale.cell(interface, train) for interface in ("atomic", "macro") for train in schedules)
