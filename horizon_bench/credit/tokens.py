"""Advantages of single tokens, as public trainers compute them: rows of tokens, a mask, rewards on the tokens.

The suite itself assigns credit to decisions; these forms exist to compare with and to reproduce other people's numbers.
Shapes are [rows, tokens] throughout; a token with mask 0 (padding, or an observation between two replies) gets 0 unless
a docstring says otherwise. Lists and integers are taken as well as floats; groups may carry any labels.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from horizon_bench.credit.arrays import as_rows, check_share, whiten
from horizon_bench.credit.batch import FloatArray
from horizon_bench.credit.groups import Scale, Single, best_of_group, group_relative, leave_one_out

MaskedTokens = Literal["skip", "ignore-mask"]


def token_grpo(
    rewards: ArrayLike,
    mask: ArrayLike,
    groups: ArrayLike,
    *,
    scale: Scale = "group",
    epsilon: float = 1e-6,
    single: Single = "raw",
    variance_floor: float = 0.0,
) -> FloatArray:
    """Return verl's GRPO: the row's score (all its rewards, masked or not) relative to its group, on every token.

    Args:
        rewards: shape [rows, tokens].
        mask: 1 at generated tokens.
        groups: group of each row, shape [rows].
        scale: what the centred score is divided by.
        epsilon: added to the sample deviation.
        single: what a group of one gets.
        variance_floor: verl's vectorised version puts epsilon here too.
    """
    rewards, mask = as_rows(rewards, mask)
    scores = group_relative(
        rewards.sum(axis=1), groups, scale=scale, epsilon=epsilon, single=single, variance_floor=variance_floor
    )
    return scores[:, None] * mask


def token_grpo_best(
    rewards: ArrayLike, mask: ArrayLike, groups: ArrayLike, *, scale: Scale = "group", epsilon: float = 1e-6
) -> FloatArray:
    """Return verl's pass@k variant of GRPO: best minus second best score, on the best row's tokens."""
    rewards, mask = as_rows(rewards, mask)
    return best_of_group(rewards.sum(axis=1), groups, scale=scale, epsilon=epsilon)[:, None] * mask


def token_rloo(rewards: ArrayLike, mask: ArrayLike, groups: ArrayLike, *, single: Single = "raw") -> FloatArray:
    """Return verl's RLOO: the row's score minus the mean of the group's others (vectorised: `single="zero"`)."""
    rewards, mask = as_rows(rewards, mask)
    return leave_one_out(rewards.sum(axis=1), groups, single=single)[:, None] * mask


def token_returns(rewards: ArrayLike, mask: ArrayLike, *, gamma: float = 1.0) -> FloatArray:
    """Return verl's discounted return-to-go of REINFORCE++, at masked tokens too.

    A masked token cuts the return: what comes behind it does not reach the tokens before it.
    """
    check_share("gamma", gamma)
    rewards, mask = as_rows(rewards, mask)
    returns = np.zeros_like(rewards)
    running = np.zeros(len(rewards))
    for time in range(rewards.shape[1] - 1, -1, -1):
        returns[:, time] = rewards[:, time] + gamma * running
        running = returns[:, time] * mask[:, time]
    return returns


def token_reinforce_plus_plus(rewards: ArrayLike, mask: ArrayLike, *, gamma: float = 1.0) -> FloatArray:
    """Return verl's REINFORCE++: `token_returns`, whitened over the mask."""
    rewards, mask = as_rows(rewards, mask)
    return whiten(token_returns(rewards, mask, gamma=gamma), weights=mask) * mask


def token_reinforce_plus_plus_baseline(
    rewards: ArrayLike, mask: ArrayLike, groups: ArrayLike, *, single: Single = "raw"
) -> FloatArray:
    """Return verl's REINFORCE++ baseline: the row's score minus the group mean, whitened over all generated tokens."""
    rewards, mask = as_rows(rewards, mask)
    centred = group_relative(rewards.sum(axis=1), groups, scale="none", single=single)
    return whiten(np.repeat(centred[:, None], rewards.shape[1], axis=1), weights=mask) * mask


def token_gae(
    rewards: ArrayLike,
    values: ArrayLike,
    mask: ArrayLike,
    *,
    gamma: float,
    lam: float,
    masked_tokens: MaskedTokens = "skip",
) -> FloatArray:
    """Return verl's generalised advantage estimates of tokens, before whitening.

    The value after the last token is 0, whether the episode was cut off or not. A masked token carries the next
    token's estimate and has no meaning of its own. Whitened: `whiten(advantages, weights=mask)`; returns: advantages +
    values.

    Args:
        rewards: shape [rows, tokens].
        values: shape [rows, tokens].
        mask: 1 at generated tokens.
        gamma: discount for one token.
        lam: as in `ppo`.
        masked_tokens: `skip` leaves rewards and values at masked tokens out; `ignore-mask` is the verl-agent fork's
            older version, into which padded values leak.
    """
    rewards, values, mask = as_rows(rewards, values, mask)
    kept = mask if masked_tokens == "skip" else np.ones_like(mask)
    return _masked_scan(rewards, values, kept, np.ones_like(mask), gamma, lam)


def bi_level_gae(
    rewards: ArrayLike, values: ArrayLike, mask: ArrayLike, *, gamma: float, lam: float, turn_gamma: float
) -> FloatArray:
    """Return RAGEN's bi-level estimates: first over turns, then over tokens with the turn's return as reward.

    A turn ends at a token with non-zero reward. Source: RAGEN (arXiv 2504.20073). Whitened:
    `whiten(advantages, weights=mask)`; returns: advantages + values at generated tokens.

    Args:
        rewards: shape [rows, tokens].
        values: shape [rows, tokens].
        mask: 1 at generated tokens.
        gamma: discount for one token within a turn.
        lam: as in `ppo`, at both levels.
        turn_gamma: discount for one turn.

    Raises:
        ValueError: if generated tokens follow the last non-zero reward of a row: they would belong to no turn.
    """
    rewards, values, mask = as_rows(rewards, values, mask)
    ends = ((rewards != 0) & (mask > 0)).astype(np.float64)
    open_tail = mask * (np.cumsum(ends[:, ::-1], axis=1)[:, ::-1] == 0)
    if open_tail.any():
        row = int(np.flatnonzero(open_tail.any(axis=1))[0])
        raise ValueError(
            f"row {row} has generated tokens behind its last non-zero reward; every turn must end with one"
        )
    over_turns = _masked_scan(rewards, values, ends, np.ones_like(mask), turn_gamma, lam)
    turn_returns = np.where(ends > 0, over_turns + values, 0.0)
    return _masked_scan(turn_returns, values, mask, 1.0 - ends, gamma, lam) * mask


def _masked_scan(
    rewards: FloatArray, values: FloatArray, kept: FloatArray, goes_on: FloatArray, gamma: float, lam: float
) -> FloatArray:
    """Return estimates over the kept tokens; where `goes_on` is 0 neither value nor estimate comes from behind."""
    check_share("gamma", gamma)
    check_share("lam", lam)
    advantages = np.zeros_like(values)
    running, following = np.zeros(len(values)), np.zeros(len(values))
    for time in range(values.shape[1] - 1, -1, -1):
        carry = gamma * goes_on[:, time]
        fresh = rewards[:, time] + carry * following - values[:, time] + carry * lam * running
        chosen = kept[:, time] > 0
        running = np.where(chosen, fresh, running)
        following = np.where(chosen, values[:, time], following)
        advantages[:, time] = running
    return advantages
