"""The data behind the credit picture: what every estimator says about every decision of the same episodes."""

from __future__ import annotations

from collections.abc import Sequence

from horizon_bench.credit.batch import CreditBatch, FloatArray
from horizon_bench.credit.registry import ESTIMATORS, NEEDS_VALUES, find_estimator


def credit_table(batch: CreditBatch, names: Sequence[str] | None = None) -> dict[str, FloatArray]:
    """Return the advantage of every decision under each estimator, one array of shape [turns] for each name.

    Give the whole group of an episode, not the episode alone: estimators compare within groups. `batch.split` cuts an
    array into episodes.

    Args:
        batch: shapes as in `CreditBatch`.
        names: which estimators; all that the batch has the values for where left out.

    Raises:
        ValueError: if a name is unknown, or an estimator's values are missing.
    """
    chosen = usable_estimators(batch) if names is None else names
    return {name: find_estimator(name)(batch) for name in chosen}


def usable_estimators(batch: CreditBatch) -> tuple[str, ...]:
    """Return the names of the registered estimators whose inputs the batch holds."""
    has_values = batch.values is not None
    has_tails = batch.final_values is not None or bool(batch.terminated.all())
    return tuple(
        name
        for name in ESTIMATORS
        if name not in NEEDS_VALUES or (has_values and (has_tails or NEEDS_VALUES[name] == "rollouts"))
    )
