"""Estimators that compare the n-th decisions of the attempts in a group: one unbiased form and two biased ones.

The biased forms stand here under their own names because they are common and instructive; the probe measures by how
much they are off.
"""

from __future__ import annotations

from horizon_bench.credit.arrays import group_statistics, return_to_go
from horizon_bench.credit.batch import CreditBatch, FloatArray, IntArray
from horizon_bench.credit.groups import leave_one_out
from horizon_bench.credit.returns import add_step_rewards
from horizon_bench.credit.states import pair_labels


def leave_one_out_decisions(batch: CreditBatch, *, gamma: float = 1.0, alpha: float = 0.0) -> FloatArray:
    """Return A = G_t minus the mean of the other attempts' G at their t-th decision, G the discounted return-to-go.

    Source: the design note of this suite; `rloo` with the return-to-go in place of the whole return. Unbiased: nothing
    subtracted depends on the episode's own actions. Where no other attempt of the group took a t-th decision, nothing
    is subtracted.

    Args:
        batch: shapes as in `CreditBatch`.
        gamma: discount for one decision.
        alpha: weight of the normalised step reward.

    Returns:
        Advantages, shape [turns].
    """
    returns = return_to_go(batch.rewards, batch.offsets, gamma)
    return add_step_rewards(leave_one_out(returns, turn_groups(batch), single="raw"), batch, alpha)


def group_mean_decisions(batch: CreditBatch, *, gamma: float = 1.0, alpha: float = 0.0) -> FloatArray:
    """Return A = G_t minus the mean of the group's G at the t-th decision, the episode itself included.

    Biased: the gradient shrinks by 1 - 1/n, n the attempts that reach a t-th decision, so that late decisions learn
    less.

    Args:
        batch: shapes as in `CreditBatch`.
        gamma: discount for one decision.
        alpha: weight of the normalised step reward.

    Returns:
        Advantages, shape [turns].
    """
    returns = return_to_go(batch.rewards, batch.offsets, gamma)
    return add_step_rewards(returns - group_statistics(returns, turn_groups(batch)).mean, batch, alpha)


def summed_centred_turns(batch: CreditBatch, *, gamma: float = 1.0, alpha: float = 0.0) -> FloatArray:
    """Return the discounted return-to-go of rewards that were centred turn by turn within the group.

    Biased where the agent decides how long it acts: the number of means subtracted depends on its own actions, so that
    a cost paid at every turn vanishes. Kept for comparison; prefer `leave_one_out_decisions`.

    Args:
        batch: shapes as in `CreditBatch`.
        gamma: discount for one decision.
        alpha: weight of the normalised step reward.

    Returns:
        Advantages, shape [turns].
    """
    centred = batch.rewards - group_statistics(batch.rewards, turn_groups(batch)).mean
    return add_step_rewards(return_to_go(centred, batch.offsets, gamma), batch, alpha)


def turn_groups(batch: CreditBatch) -> IntArray:
    """Return a label for each decision, equal where group and index within the episode are equal, shape [turns]."""
    return pair_labels(batch.group_of_turn, batch.turn_in_episode)
