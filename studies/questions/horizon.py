"""Does training on longer ways differ between single actions, macros, and single actions with subgoal credit?"""

from __future__ import annotations

from studies.factors import Cell
from studies.questions import Scale

CONDITIONS = (("atomic", "outcome"), ("macro", "outcome"), ("atomic", "subgoal"), ("atomic", "ownsubgoal"))
"""Interface and credit."""


def cells(scale: Scale) -> tuple[Cell, ...]:
    """Return every condition, trained on the short and on the long levels."""
    return tuple(scale.cell(interface, train, learner) for train in scale.lengths for interface, learner in CONDITIONS)
