"""Shaped rewards and mixed advantages, as pure functions of numbers.

The value critic never sees a shaped reward: shaping enters the one-step term of the advantage and nothing else.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from horizon_bench.credit.arrays import check_share, return_to_go
from horizon_bench.credit.batch import BoolArray, CreditBatch, FloatArray
from horizon_bench.credit.critics import following, known_values, temporal_differences


def shaped_rewards(
    rewards: FloatArray, before: FloatArray, after: FloatArray, *, coefficient: float = 0.3, gamma: float = 1.0
) -> FloatArray:
    """Return r' = r + a (gamma P(s') - P(s)).

    The published form is that of gamma 1. With any gamma, and a fixed potential of the states that end an episode, no
    policy becomes better or worse than another by it (Ng, Harada & Russell 1999).

    Args:
        rewards: true rewards, shape [turns].
        before: potential of the state that each decision saw, shape [turns].
        after: potential of the state after it, shape [turns].
        coefficient: a.
        gamma: discount of the returns that are compared.
    """
    return rewards + coefficient * (gamma * after - before)


def mixed_advantages(
    batch: CreditBatch,
    potentials: FloatArray,
    solved: BoolArray,
    *,
    lam: float = 0.5,
    gamma: float = 1.0,
    shaping: float = 0.3,
) -> FloatArray:
    """Return A = lam (r' + gamma V(s') - V(s)) + (1 - lam)(G - V(s)), r' shaped and G the return of true rewards.

    A state that ends an episode, by the rules or by a budget, has the value 0 and the potential 1 where solved, else 0.

    Args:
        batch: with `values`, the value critic's estimate of each state that a decision saw.
        potentials: the potential critic's estimate of the same states, shape [turns].
        solved: whether each episode reached the goal, shape [episodes].
        lam: weight of the one-step term, in 0..1.
        gamma: discount for one decision.
        shaping: a; with 0 the potentials count for nothing.

    Returns:
        Advantages, shape [turns].

    Raises:
        ValueError: if the batch lacks values, or a share is outside 0..1.
    """
    check_share("lam", lam)
    check_share("gamma", gamma)
    tails = np.asarray(solved, dtype=np.float64)
    after = following(potentials, tails, batch.offsets)
    shaped = shaped_rewards(batch.rewards, potentials, after, coefficient=shaping, gamma=gamma)
    one_step = temporal_differences(replace(batch, rewards=shaped), gamma=gamma, bootstrap=False)
    whole = return_to_go(batch.rewards, batch.offsets, gamma) - known_values(batch, "mixed_advantages")
    return lam * one_step + (1.0 - lam) * whole
