"""How well a critic's chances agree with what came: counts and means by bins of the prediction, as flat numbers."""

from __future__ import annotations

import numpy as np

from horizon_bench.credit.batch import FloatArray

BINS = 10
"""Bins of equal width in [0, 1]."""


def calibration_metrics(name: str, predicted: FloatArray, observed: FloatArray) -> dict[str, float]:
    """Return the metrics of one critic on episodes that it has not learned from.

    Args:
        name: `value` or `potential`.
        predicted: in [0, 1], shape [states].
        observed: what should have been predicted, in [0, 1]; NaN where that is unknown, same shape.

    Returns:
        `<name>_error` (mean squared difference), and for each bin b that holds states `<name>_bin<b>_count`,
        `<name>_bin<b>_predicted` and `<name>_bin<b>_observed` (means).
    """
    known = ~np.isnan(observed)
    predicted, observed = predicted[known], observed[known]
    if not len(predicted):
        return {}
    metrics = {f"{name}_error": float(np.mean((predicted - observed) ** 2))}
    bins = np.minimum((predicted * BINS).astype(np.int64), BINS - 1)
    for place in np.unique(bins):
        inside = bins == place
        metrics |= {
            f"{name}_bin{place}_count": float(inside.sum()),
            f"{name}_bin{place}_predicted": float(predicted[inside].mean()),
            f"{name}_bin{place}_observed": float(observed[inside].mean()),
        }
    return metrics
