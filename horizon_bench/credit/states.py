"""Estimators that compare decisions taken in the same state by different attempts."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Sequence

import numpy as np

from horizon_bench.credit.arrays import compact_labels, group_statistics, return_to_go
from horizon_bench.credit.batch import CreditBatch, FloatArray, IntArray
from horizon_bench.credit.groups import Count, Scale, Single, episode_scores, group_relative, grpo
from horizon_bench.credit.returns import add_step_rewards


def gigpo(
    batch: CreditBatch,
    *,
    gamma: float = 0.95,
    weight: float = 1.0,
    scale: Scale = "group",
    ddof: int = 1,
    epsilon: float = 1e-6,
    single: Single = "zero",
    count: Count = "episodes",
    alpha: float = 0.0,
) -> FloatArray:
    """Return A = A_episode + weight * A_step, A_step comparing the discounted returns of decisions in one state.

    A_episode is `grpo`'s. A_step = (G_t - mean) / (std + epsilon) over all decisions of the group that saw the same
    state, repeated visits within an episode included; a state seen once gives 0, so that with all states different this
    is `grpo`. Source: GiGPO (arXiv 2505.10978); `single="raw"` with `count="turns"` is its released default, `scale`
    `none` its mode `mean_norm`. Known bias: as `grpo`; a state's mean contains the decision itself; a return from late
    in an episode is compared with one from early.

    Args:
        batch: shapes as in `CreditBatch`.
        gamma: discount of the step return.
        weight: of the step advantage.
        scale: `group` divides by the deviation at both levels, `none` at neither.
        ddof: 1 for the sample deviation, 0 for the population's.
        epsilon: added to the deviation.
        single: what an episode alone in its group gets.
        count: whether episodes or decisions enter the episode level's statistics.
        alpha: weight of the normalised step reward.

    Returns:
        Advantages, shape [turns].
    """
    whole = grpo(batch, scale=scale, ddof=ddof, epsilon=epsilon, single=single, count=count)
    step = step_advantages(batch, gamma=gamma, scale=scale, ddof=ddof, epsilon=epsilon)
    return add_step_rewards(whole + weight * step, batch, alpha)


def step_advantages(
    batch: CreditBatch, *, gamma: float = 0.95, scale: Scale = "group", ddof: int = 1, epsilon: float = 1e-6
) -> FloatArray:
    """Return gigpo's A_step alone, shape [turns]."""
    returns = return_to_go(batch.rewards, batch.offsets, gamma)
    return group_relative(returns, state_groups(batch), scale=scale, ddof=ddof, epsilon=epsilon)


def hindsight(
    batch: CreditBatch, *, weight: float = 1.0, scale: Scale = "group", ddof: int = 1, alpha: float = 0.0
) -> FloatArray:
    """Return A = A_episode + weight * (mean R of the same action in the same state - mean R of the state).

    For outcomes of 0 or 1 the second term is P(success | s) * (h(a | s, success) / pi(a | s) - 1): the hindsight ratio
    of Harutyunyan et al. (arXiv 1912.02503), with both probabilities counted within the group instead of modelled. A
    state or an action seen by one decision only adds little: a state seen once gives 0. Known bias: as `grpo`; counts
    are few, and an episode that visits a state twice counts twice.

    Args:
        batch: shapes as in `CreditBatch`.
        weight: of the hindsight term.
        scale: of the episode term.
        ddof: of the episode term.
        alpha: weight of the normalised step reward.

    Returns:
        Advantages, shape [turns].
    """
    whole = grpo(batch, scale=scale, ddof=ddof)
    per_turn = episode_scores(batch)[batch.episode_of_turn]
    states = state_groups(batch)
    of_action = group_statistics(per_turn, pair_labels(states, batch.actions)).mean
    of_state = group_statistics(per_turn, states).mean
    return add_step_rewards(whole + weight * (of_action - of_state), batch, alpha)


def state_groups(batch: CreditBatch) -> IntArray:
    """Return a label for each decision, equal where group and state are equal, shape [turns]."""
    return pair_labels(batch.group_of_turn, batch.states)


def pair_labels(first: IntArray, second: IntArray) -> IntArray:
    """Return a number for each pair of labels, equal for equal pairs, same shape."""
    one, _ = compact_labels(first)
    other, width = compact_labels(second)
    return compact_labels(one * max(width, 1) + other)[0]


def similar_states(texts: Sequence[str], groups: Sequence[Hashable] | IntArray, threshold: float) -> IntArray:
    """Return a label for each decision's state, equal where texts of one group resemble each other enough.

    Greedy and dependent on order, as GiGPO's released code: a text joins the first cluster of its group whose first
    member it resembles with a `difflib` ratio of at least `threshold`.

    Args:
        texts: the observation of each decision, shape [turns].
        groups: group of each decision, any labels, shape [turns].
        threshold: 0 to 1.
    """
    clusters: dict[Hashable, list[tuple[str, int]]] = {}
    labels: list[int] = []
    for text, group in zip(texts, groups, strict=True):
        known = clusters.setdefault(group, [])
        label = next((label for first, label in known if _ratio(text, first) >= threshold), None)
        if label is None:
            label = sum(len(members) for members in clusters.values())
            known.append((text, label))
        labels.append(label)
    return np.array(labels, dtype=np.int64)


def _ratio(text: str, other: str) -> float:
    return difflib.SequenceMatcher(None, text, other).ratio()
