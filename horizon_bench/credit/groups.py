"""Estimators that compare an episode's total reward with the other attempts at the same instance.

Every decision of an episode gets the same advantage. The cores (`group_relative`, `leave_one_out`, `best_of_group`)
take plain scores, so that they serve episodes, rows of tokens and rows of turns alike.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from horizon_bench.credit.arrays import (
    GroupStatistics,
    as_floats,
    compact_labels,
    divide,
    episode_sums,
    group_statistics,
    return_to_go,
    whiten,
)
from horizon_bench.credit.batch import CreditBatch, FloatArray
from horizon_bench.credit.returns import add_step_rewards
from puzzles.names import check_name

Scale = Literal["group", "batch", "none"]
"""What the centred score is divided by: the group's deviation, the whole batch's, or nothing."""

Single = Literal["zero", "raw"]
"""What a group of one gets: 0 (ours: there is nothing to compare with), or its raw score (mean 0, deviation 1)."""

Count = Literal["episodes", "turns"]
"""What enters the group's statistics once: an episode, or a decision (long episodes then weigh more)."""


def group_relative(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    scale: Scale = "group",
    ddof: int = 1,
    epsilon: float = 1e-6,
    single: Single = "zero",
    weights: ArrayLike | None = None,
    variance_floor: float = 0.0,
) -> FloatArray:
    """Return (s - mean) / (deviation + epsilon) of each sample within its group.

    Args:
        scores: shape [samples]; NaN marks a sample that could not be scored: it enters no statistics and gets 0.
        labels: group of each sample, shape [samples].
        scale: what the centred score is divided by.
        ddof: 1 divides the variance by n - 1, 0 by n.
        epsilon: added to the deviation.
        single: what a group of one gets.
        weights: how often each sample enters the statistics, shape [samples]; once where left out.
        variance_floor: the variance counts at least this much.

    Returns:
        Shape [samples]; zeros in a group whose scores are all equal.
    """
    check_name("scale", scale, get_args(Scale))
    check_name("single", single, get_args(Single))
    (scores,) = as_floats(scores)
    scored = ~np.isnan(scores)
    result = np.zeros(len(scores))
    if not scored.any():
        return result
    values = scores[scored]
    share = None if weights is None else np.asarray(weights, dtype=np.float64)[scored]
    statistics = group_statistics(values, np.asarray(labels)[scored], ddof=ddof, weights=share)
    deviation = _deviation(values, statistics, scale, ddof, share)
    advantages = _scaled(values - statistics.mean, statistics, deviation, epsilon, variance_floor)
    if single == "raw":
        raw = values / (1 + epsilon) if scale == "group" else values
        advantages = np.where(statistics.count == 1, raw, advantages)
    result[scored] = advantages
    return result


def leave_one_out(
    scores: ArrayLike, labels: ArrayLike, *, single: Single = "zero", weights: ArrayLike | None = None
) -> FloatArray:
    """Return each score minus the mean of the others in its group, that is n / (n - 1) * (s - mean).

    Args:
        scores: shape [samples]; NaN marks a sample that could not be scored: it enters no mean and gets 0.
        labels: group of each sample, shape [samples].
        single: what a group of one gets.
        weights: how often each sample counts, shape [samples]; with weights one *occurrence* is left out, so that the
            other occurrences of a sample stay in its own baseline (the verl-agent fork; biased).

    Returns:
        Shape [samples].
    """
    check_name("single", single, get_args(Single))
    (scores,) = as_floats(scores)
    scored = ~np.isnan(scores)
    result = np.zeros(len(scores))
    values = scores[scored]
    share = None if weights is None else np.asarray(weights, dtype=np.float64)[scored]
    statistics = group_statistics(values, np.asarray(labels)[scored], weights=share)
    factor = divide(statistics.count, np.maximum(statistics.count - 1, 0))
    advantages = factor * (values - statistics.mean)
    result[scored] = np.where(statistics.count == 1, values, advantages) if single == "raw" else advantages
    return result


def best_of_group(scores: ArrayLike, labels: ArrayLike, *, scale: Scale = "group", epsilon: float = 1e-6) -> FloatArray:
    """Return best minus second best score at the best sample of each group, 0 elsewhere (a pass@k objective).

    Ties give 0. With scale `group` the difference is divided by the sample deviation + epsilon.

    Raises:
        ValueError: if a group holds fewer than two samples, or the scale is `batch`.
    """
    check_name("scale", scale, ("group", "none"))
    (scores,) = as_floats(scores)
    given, (labels, _) = np.asarray(labels), compact_labels(np.asarray(labels))
    statistics = group_statistics(scores, labels, ddof=1)
    if np.any(statistics.count < 2):
        raise ValueError(f"group {given[statistics.count < 2][0]} has one sample, but a best needs a second best")
    order = np.lexsort((scores, labels))
    last = np.append(np.flatnonzero(np.diff(labels[order])), len(order) - 1)
    best, second = order[last], order[last - 1]
    result = np.zeros(len(scores))
    result[best] = scores[best] - scores[second]
    return divide(result, statistics.deviation + epsilon) if scale == "group" else result


def grpo(
    batch: CreditBatch,
    *,
    scale: Scale = "group",
    ddof: int = 1,
    epsilon: float = 1e-6,
    single: Single = "zero",
    count: Count = "episodes",
    alpha: float = 0.0,
) -> FloatArray:
    """Return A = (R - mean_group) / (std_group + epsilon) for every decision of an episode, R its total task reward.

    Source: DeepSeekMath (arXiv 2402.03300); `ddof=1, epsilon=1e-6, single="raw"` is verl's, `epsilon=1e-4` TRL's;
    `scale="none"` is Dr. GRPO's (arXiv 2503.20783). Assumes attempts at one instance in each group. Known bias: the
    mean contains the episode itself, so that without the deviation the gradient shrinks by 1 - 1/n; the deviation
    scales every instance differently; all decisions of an episode are praised or blamed alike.

    Args:
        batch: shapes as in `CreditBatch`.
        scale: what the centred reward is divided by.
        ddof: 1 for the sample deviation, 0 for the population's.
        epsilon: added to the deviation.
        single: what a group of one gets.
        count: whether episodes or decisions enter the statistics.
        alpha: weight of the normalised step reward.

    Returns:
        Advantages, shape [turns].
    """
    weights = count_weights(batch, count)
    advantages = group_relative(
        episode_scores(batch), batch.group, scale=scale, ddof=ddof, epsilon=epsilon, single=single, weights=weights
    )
    return add_step_rewards(advantages[batch.episode_of_turn], batch, alpha)


def rloo(
    batch: CreditBatch,
    *,
    single: Single = "zero",
    count: Count = "episodes",
    normalized: bool = False,
    alpha: float = 0.0,
) -> FloatArray:
    """Return A = R - mean of the other episodes' R in the group, for every decision of an episode.

    Source: Kool et al. 2019; Ahmadian et al. (arXiv 2402.14740). Equals n / (n - 1) times the centred reward. Unbiased,
    since the baseline does not contain the episode; needs two attempts at an instance. `single="raw"` is verl's loop
    version, `count="turns"` the verl-agent fork's (leaves out one decision instead of one episode; biased).

    Args:
        batch: shapes as in `CreditBatch`.
        single: what a group of one gets.
        count: whether one episode or one decision is left out.
        normalized: whether the result is divided by the batch's sample deviation + 1e-4 over episodes (TRL's option).
        alpha: weight of the normalised step reward.

    Returns:
        Advantages, shape [turns].
    """
    advantages = leave_one_out(episode_scores(batch), batch.group, single=single, weights=count_weights(batch, count))
    if normalized:
        everyone = np.zeros(batch.episodes, dtype=np.int64)
        advantages = group_relative(advantages, everyone, ddof=1, epsilon=1e-4)
    return add_step_rewards(advantages[batch.episode_of_turn], batch, alpha)


def reinforce_plus_plus(
    batch: CreditBatch, *, gamma: float = 1.0, epsilon: float = 1e-8, alpha: float = 0.0
) -> FloatArray:
    """Return the discounted return-to-go, whitened over all decisions of the batch.

    A = (G - mean) / sqrt(variance + epsilon), variance with n - 1. Source: REINFORCE++ (arXiv 2501.03262), at the level
    of decisions. Needs no groups. Known bias: as `reinforce`.

    Args:
        batch: shapes as in `CreditBatch`.
        gamma: discount for one decision.
        epsilon: added to the variance.
        alpha: weight of the normalised step reward.

    Returns:
        Advantages, shape [turns].
    """
    returns = return_to_go(batch.rewards, batch.offsets, gamma)
    return add_step_rewards(whiten(returns, epsilon=epsilon), batch, alpha)


def reinforce_plus_plus_baseline(
    batch: CreditBatch,
    *,
    epsilon: float = 1e-8,
    single: Single = "zero",
    count: Count = "episodes",
    token_counts: FloatArray | None = None,
    alpha: float = 0.0,
) -> FloatArray:
    """Return R - mean_group for every decision of an episode, whitened over the batch.

    Source: REINFORCE++ (arXiv 2501.03262), baseline variant. `single="raw"` and `token_counts` (the published code
    whitens over tokens) give verl's and the verl-agent fork's numbers. Known bias: as `grpo`, with one scale for all
    groups.

    Args:
        batch: shapes as in `CreditBatch`.
        epsilon: added to the variance of the whitening.
        single: what a group of one gets.
        count: whether episodes or decisions enter the group's mean.
        token_counts: how often each decision counts in the whitening, shape [turns]; once where left out.
        alpha: weight of the normalised step reward.

    Returns:
        Advantages, shape [turns].
    """
    weights = count_weights(batch, count)
    centred = group_relative(episode_scores(batch), batch.group, scale="none", single=single, weights=weights)
    whitened = whiten(centred[batch.episode_of_turn], weights=token_counts, epsilon=epsilon)
    return add_step_rewards(whitened, batch, alpha)


def episode_scores(batch: CreditBatch) -> FloatArray:
    """Return R, the sum of the task rewards of each episode, shape [episodes]."""
    return episode_sums(batch.rewards, batch.offsets)


def count_weights(batch: CreditBatch, count: Count) -> FloatArray | None:
    """Return how often each episode enters its group's statistics, shape [episodes]; None for once."""
    check_name("count", count, get_args(Count))
    return batch.lengths.astype(np.float64) if count == "turns" else None


def _deviation(
    values: FloatArray, statistics: GroupStatistics, scale: Scale, ddof: int, weights: FloatArray | None
) -> FloatArray | None:
    if scale == "none":
        return None
    if scale == "group":
        return statistics.deviation
    return group_statistics(values, np.zeros(len(values), dtype=np.int64), ddof=ddof, weights=weights).deviation


def _scaled(
    centred: FloatArray, statistics: GroupStatistics, deviation: FloatArray | None, epsilon: float, floor: float
) -> FloatArray:
    centred = np.where(statistics.deviation == 0, 0.0, centred)
    if deviation is None:
        return centred
    scale = np.maximum(deviation, np.sqrt(floor))
    return divide(centred, np.where(scale > 0, scale + epsilon, 0.0))
