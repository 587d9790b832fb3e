"""Is it the learning from failures, the negative advantages, that breaks training on long ways?"""

from __future__ import annotations

from studies.factors import Cell
from studies.questions import Scale

SIGNS = ("both", "positive", "negative")


def cells(scale: Scale) -> tuple[Cell, ...]:
    """Return training on all advantages, on the positive and on the negative ones, at each length."""
    return tuple(scale.cell("atomic", train, signs=signs) for train in scale.lengths for signs in SIGNS)
