"""Should a return be compared with the whole batch or with the other attempts at the same puzzle?"""

from __future__ import annotations

from studies.factors import Cell
from studies.questions import Scale

LEARNERS = ("outcome", "reinforcepp", "reinforceppbaseline", "grpo", "grponostd", "rloo")
"""Compared with the batch, with both, and with the group; with and without the deviation."""


def cells(scale: Scale) -> tuple[Cell, ...]:
    """Return every comparison on the short and on the long levels."""
    return tuple(scale.cell("atomic", train, learner) for train in scale.lengths for learner in LEARNERS)
