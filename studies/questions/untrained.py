"""How far do policies without training come, level by level: the expert, the only one who knows the way, and chance?"""

from __future__ import annotations

from studies.factors import Cell
from studies.questions import Scale

UNTRAINED = ("expert", "random")
"""Learners."""


def cells(scale: Scale) -> tuple[Cell, ...]:
    """Return one cell for each policy, one action a decision."""
    return tuple(scale.cell("atomic", learner=learner) for learner in UNTRAINED)
