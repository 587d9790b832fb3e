"""Which way of giving credit to single decisions wins at short, at medium and at long distance?"""

from __future__ import annotations

from horizon_bench.credit import ESTIMATORS
from studies.factors import Cell
from studies.learners import LEARNERS
from studies.questions import Scale


def cells(scale: Scale) -> tuple[Cell, ...]:
    """Return every estimator, trained on short and long levels at once and evaluated on all."""
    train = (scale.short + scale.long,)
    return tuple(
        scale.cell("atomic", train, word) for word, learner in LEARNERS.items() if learner.estimator in ESTIMATORS
    )
