"""Several reward functions in one advantage, as TRL's GRPO trainer combines them."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from horizon_bench.credit.arrays import as_floats
from horizon_bench.credit.batch import FloatArray
from horizon_bench.credit.groups import Scale, group_relative
from puzzles.names import check_name

Aggregation = Literal["sum_then_normalize", "normalize_then_sum"]


def combined_advantages(
    rewards: ArrayLike,
    weights: ArrayLike,
    groups: ArrayLike,
    *,
    aggregation: Aggregation = "sum_then_normalize",
    scale: Scale = "group",
    epsilon: float = 1e-4,
) -> FloatArray:
    """Return one advantage for each sample from several reward functions.

    `sum_then_normalize` weighs and sums the rewards, then is `group_relative`. `normalize_then_sum` makes every reward
    function relative to its group first, sums with the weights, and is normalised over the batch at the end.

    Args:
        rewards: shape [samples, functions]; NaN where a function gives no reward. A sample without any gets 0.
        weights: shape [functions].
        groups: group of each sample, shape [samples].
        aggregation: which of the two.
        scale: of the first.
        epsilon: added to every deviation.

    Returns:
        Shape [samples].
    """
    check_name("aggregation", aggregation, get_args(Aggregation))
    rewards, weights = as_floats(rewards, weights)
    scored = ~np.isnan(rewards).all(axis=1)
    if aggregation == "sum_then_normalize":
        total = np.where(scored, np.nansum(rewards * weights, axis=1), np.nan)
        return group_relative(total, groups, scale=scale, epsilon=epsilon)
    columns = [group_relative(column, groups, epsilon=epsilon) for column in rewards.T]
    total = np.where(scored, np.stack(columns, axis=1) @ weights, np.nan)
    return group_relative(total, np.zeros(len(total), dtype=np.int64), epsilon=epsilon)
