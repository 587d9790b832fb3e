"""Which part of MiRA carries it: potential critic, mixed advantages, squared objective; at which distance?"""

from __future__ import annotations

from studies.factors import FAMILIES, TECHNIQUE_FAMILY, Cell, Schedule
from studies.questions import Scale

LEARNERS = ("mira", "miranopotential", "miramc", "miratd", "mirakl", "miraawr", "bc", "subgoal", "beacon")
"""The whole, its ablations, and the baselines."""
COLD = ("mira", "miranopotential", "subgoal")
"""Learners that start cold as well: where even the first milestone is hard to reach."""


def cells(scale: Scale) -> tuple[Cell, ...]:
    """Return every learner on the long levels, and some of them where SFT hardly ever succeeds."""
    return (
        *(scale.cell("atomic", (scale.long,), learner) for learner in LEARNERS),
        *(scale.cell("atomic", cold(scale), learner) for learner in COLD if cold(scale)),
    )


def cold(scale: Scale) -> Schedule:
    """Return training on the family's longest level that is not trained on otherwise; () where there is none."""
    if scale.module or scale.family == TECHNIQUE_FAMILY:
        return ()
    last = FAMILIES[scale.family].levels[-1]
    return () if last in scale.long else ((last,),)
