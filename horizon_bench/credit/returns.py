"""Estimators from the episode's own return: plain, and cut at subgoals.

Both follow the horizon-length study (arXiv 2605.02572): a discounted return-to-go and the format-and-legality reward,
each normalised over the batch on its own, added with weight alpha.
"""

from __future__ import annotations

import numpy as np

from horizon_bench.credit.arrays import check_share, normalize, return_to_go
from horizon_bench.credit.batch import CreditBatch, FloatArray


def reinforce(batch: CreditBatch, *, gamma: float = 0.995, alpha: float = 0.2, normalized: bool = True) -> FloatArray:
    """Return A = norm(G) + alpha * norm(step reward), G the discounted return-to-go.

    Formula and defaults: arXiv 2605.02572. `norm` takes the batch's mean and population standard deviation over
    decisions; equal values give zeros. Reduces to the plain return-to-go with `normalized=False, alpha=0`.
    Known bias: the batch mean contains the decision's own episode (shrinks by about 1 - 1/n), and the deviation scales
    the gradient; long episodes weigh more in both.

    Args:
        batch: shapes as in `CreditBatch`.
        gamma: discount for one decision.
        alpha: weight of the normalised step reward.
        normalized: whether the return is normalised (the step reward always is).

    Returns:
        Advantages, shape [turns].
    """
    returns = return_to_go(batch.rewards, batch.offsets, gamma)
    return add_step_rewards(normalize(returns) if normalized else returns, batch, alpha)


def subgoal_next(
    batch: CreditBatch, *, gamma: float = 0.995, alpha: float = 0.2, reward: float = 1.0, normalized: bool = True
) -> FloatArray:
    """Return A = norm(G) + alpha * norm(step reward), G ending at the next completed subgoal.

    A decision that completes a subgoal earns its task reward, or `reward` where the environment pays subgoals nothing;
    behind it the sum ends. Decisions after the last completed subgoal see the task rewards that follow them, as in
    `reinforce`, to which this reduces where no subgoal is completed. Formula: arXiv 2605.02572 (subgoal reward). Known
    bias: besides that of `reinforce`, credit leaks where subgoals are worked on in turn: a wrong move in one is paid
    when another is completed.

    Args:
        batch: shapes as in `CreditBatch`.
        gamma: discount for one decision.
        alpha: weight of the normalised step reward.
        reward: what a completed subgoal is worth where its decision has task reward 0.
        normalized: whether the return is normalised.

    Returns:
        Advantages, shape [turns].
    """
    reached = batch.subgoals_reached > 0
    rewards = np.where(reached & (batch.rewards == 0), reward, batch.rewards)
    returns = return_to_go(rewards, batch.offsets, gamma, cut_after=reached)
    return add_step_rewards(normalize(returns) if normalized else returns, batch, alpha)


def subgoal_own(
    batch: CreditBatch, *, gamma: float = 0.995, alpha: float = 0.2, reward: float = 1.0, normalized: bool = True
) -> FloatArray:
    """Return A = norm(G) + alpha * norm(step reward), G from the subgoal that the decision itself worked on.

    G = reward * gamma^(t_own - t) if the subgoal the decision worked on is completed at t_own, else 0. Formula: ours.
    Known bias: a decision is never blamed for what it does to other subgoals.

    Args:
        batch: shapes as in `CreditBatch`.
        gamma: discount for one decision.
        alpha: weight of the normalised step reward.
        reward: what a completed subgoal is worth.
        normalized: whether the return is normalised.

    Returns:
        Advantages, shape [turns].
    """
    check_share("gamma", gamma)
    wait = batch.own_subgoal_turn - batch.turn_in_episode
    returns = np.where(batch.own_subgoal_turn >= 0, reward * gamma ** np.maximum(wait, 0), 0.0)
    return add_step_rewards(normalize(returns) if normalized else returns, batch, alpha)


def add_step_rewards(advantages: FloatArray, batch: CreditBatch, alpha: float) -> FloatArray:
    """Return the advantages plus alpha times the batch-normalised step reward."""
    return advantages + alpha * normalize(batch.step_rewards) if alpha else advantages
