"""Estimators that compare with the value of a state: a learned critic's, or the mean of rollouts from a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from horizon_bench.credit.arrays import check_numbers, check_share, normalize, scan_backward
from horizon_bench.credit.batch import BoolArray, CreditBatch, FloatArray, IntArray
from horizon_bench.credit.returns import add_step_rewards

Snapshot = TypeVar("Snapshot")


def ppo(
    batch: CreditBatch,
    *,
    gamma: float = 0.995,
    lam: float = 0.95,
    bootstrap: bool = True,
    normalized: bool = False,
    alpha: float = 0.0,
) -> FloatArray:
    """Return generalised advantage estimates over decisions, A = sum of (gamma lam)^i delta_(t+i).

    delta_t = r_t + gamma V_(t+1) - V_t. After the last decision V is 0 for an episode that ended by the rules and
    `final_values` for one cut off by a budget. Source: Schulman et al. (arXiv 1506.02438). With lam 1 and values 0 this
    is the discounted return-to-go. Assumes a critic; biased by the critic's error for lam < 1, by the missing tail with
    `bootstrap=False`.

    Args:
        batch: with `values`, and `final_values` where an episode was cut off.
        gamma: discount for one decision.
        lam: 0 trusts the critic one decision ahead, 1 trusts the return.
        bootstrap: whether an episode cut off by a budget continues with its final value; otherwise it ends with 0.
        normalized: whether the result is normalised over the batch (population deviation).
        alpha: weight of the normalised step reward.

    Returns:
        Advantages, shape [turns].

    Raises:
        ValueError: if the values an episode needs are missing.
    """
    advantages = generalised_advantages(batch, gamma=gamma, lam=lam, bootstrap=bootstrap)
    return add_step_rewards(normalize(advantages) if normalized else advantages, batch, alpha)


def generalised_advantages(batch: CreditBatch, *, gamma: float, lam: float, bootstrap: bool = True) -> FloatArray:
    """Return generalised advantage estimates over decisions as `ppo` defines them, shape [turns]."""
    check_share("gamma", gamma)
    check_share("lam", lam)
    differences = temporal_differences(batch, gamma=gamma, bootstrap=bootstrap)
    return scan_backward(differences, np.full(batch.turns, gamma * lam), batch.offsets)


def critic_targets(
    batch: CreditBatch, *, gamma: float = 0.995, lam: float = 0.95, bootstrap: bool = True
) -> FloatArray:
    """Return what the critic should predict at each decision, A + V, shape [turns]."""
    values = known_values(batch, "critic_targets")
    return generalised_advantages(batch, gamma=gamma, lam=lam, bootstrap=bootstrap) + values


def vineppo(batch: CreditBatch, *, gamma: float = 1.0, alpha: float = 0.0) -> FloatArray:
    """Return A = r_t + gamma V_(t+1) - V_t with V the mean return of rollouts from a snapshot of each state.

    Source: VinePPO (arXiv 2410.01679). Unbiased: V is a plain mean over the current policy's own rollouts, independent
    of the decision taken. Costs `rollouts` further episodes for each decision. The value after the last decision is 0,
    or `final_values` for an episode cut off by a budget, where given.

    Args:
        batch: with `values`, as `horizon_bench.credit.snapshots.rollout_values` or `snapshot_values` makes them.
        gamma: discount for one decision.
        alpha: weight of the normalised step reward.

    Returns:
        Advantages, shape [turns].

    Raises:
        ValueError: if `values` are missing.
    """
    check_share("gamma", gamma)
    advantages = temporal_differences(batch, gamma=gamma, bootstrap=batch.final_values is not None)
    return add_step_rewards(advantages, batch, alpha)


def temporal_differences(batch: CreditBatch, *, gamma: float, bootstrap: bool = True) -> FloatArray:
    """Return delta_t = r_t + gamma V_(t+1) - V_t, shape [turns].

    Raises:
        ValueError: if the batch lacks `values`, or `final_values` that it bootstraps from, or a reward is NaN.
    """
    values = known_values(batch, "this estimator")
    check_numbers("rewards", batch.rewards)
    return batch.rewards + gamma * following(values, _tail_values(batch, bootstrap), batch.offsets) - values


def following(per_turn: FloatArray, tails: FloatArray, offsets: IntArray) -> FloatArray:
    """Return the number of the next decision of the same episode, and the episode's tail after its last one, [turns].

    Args:
        per_turn: one number for each decision, shape [turns].
        tails: one for each episode, shape [episodes].
        offsets: shape [episodes + 1].
    """
    after = np.append(per_turn[1:], 0.0)[: len(per_turn)]
    filled = np.diff(offsets) > 0
    after[offsets[1:][filled] - 1] = tails[filled]
    return after


def known_values(batch: CreditBatch, who: str) -> FloatArray:
    """Return the values of the states that decisions saw, shape [turns].

    Raises:
        ValueError: naming who asks, if the batch lacks them.
    """
    if batch.values is None:
        raise ValueError(f"{who} needs the value of every state, but the batch's `values` are missing")
    return batch.values


def snapshot_values(
    snapshots: Sequence[Snapshot],
    simulate: Callable[[Snapshot, np.random.Generator], float],
    *,
    rollouts: int,
    seed: int | np.random.SeedSequence,
) -> FloatArray:
    """Return the mean return of `rollouts` simulated continuations of each snapshot, shape [snapshots].

    Args:
        snapshots: states to continue from.
        simulate: plays one continuation with the policy and returns its return.
        rollouts: continuations of each snapshot.
        seed: every continuation gets a generator spawned from it.

    Raises:
        ValueError: if `rollouts` is below 1.
    """
    if rollouts < 1:
        raise ValueError(f"rollouts is {rollouts}, but a mean needs at least 1")
    root = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    streams = iter(root.spawn(len(snapshots) * rollouts))
    return np.array(
        [
            np.mean([simulate(snapshot, np.random.default_rng(next(streams))) for _ in range(rollouts)])
            for snapshot in snapshots
        ],
        dtype=np.float64,
    )


def fill_values(
    rewards: FloatArray,
    returns: Sequence[Sequence[float]],
    truncated: Sequence[Sequence[bool]] | None = None,
    *,
    truncated_return: float = 0.0,
) -> FloatArray:
    """Return Monte-Carlo values of one episode's states, filled backwards from the end where nothing was rolled out.

    Args:
        rewards: reward of each decision, shape [decisions].
        returns: what each rollout from each state earned, one inner sequence for each state; empty for none.
        truncated: whether each of them was cut off; then it counts `truncated_return`. None was where left out.
        truncated_return: what a rollout that was cut off counts.

    Returns:
        Values, shape [decisions + 1], the terminal 0 last. A state without rollouts counts 0, except in an unbroken
        run at the end, where V_t = r_t + V_(t+1) (VinePPO's code).
    """
    cut = truncated if truncated is not None else [[False] * len(row) for row in returns]
    means = [
        float(np.mean([truncated_return if over else value for value, over in zip(row, flags, strict=True)]))
        if row
        else 0.0
        for row, flags in zip(returns, cut, strict=True)
    ]
    values = np.append(np.array(means, dtype=np.float64), 0.0)
    last = len(returns) - 1
    while last >= 0 and not returns[last]:
        values[last] = rewards[last] + values[last + 1]
        last -= 1
    return values


def stream_advantages(
    rewards: FloatArray,
    values: FloatArray,
    starts: BoolArray,
    *,
    final_value: float,
    final_done: bool,
    gamma: float,
    lam: float,
) -> FloatArray:
    """Return generalised advantage estimates over one stream of decisions that holds several episodes.

    Every episode that ends within the stream counts as ended by the rules.

    Args:
        rewards: shape [decisions].
        values: critic's values, shape [decisions].
        starts: true where a decision is the first of an episode, shape [decisions].
        final_value: critic's value after the last decision.
        final_done: whether the last episode ended with the stream.
        gamma: discount for one decision.
        lam: as in `ppo`.
    """
    first = np.flatnonzero(starts)
    cuts = np.unique(np.concatenate([[0], first, [len(rewards)]])).astype(np.int64)
    episodes = len(cuts) - 1
    nothing = np.zeros(len(rewards), dtype=np.int64)
    terminated = np.ones(episodes, dtype=np.bool_)
    terminated[-1:] = final_done
    batch = CreditBatch(
        offsets=cuts,
        group=np.zeros(episodes, dtype=np.int64),
        rewards=rewards,
        step_rewards=np.zeros(len(rewards)),
        subgoals_reached=nothing,
        own_subgoal_turn=nothing - 1,
        states=nothing,
        actions=nothing,
        terminated=terminated,
        values=values,
        final_values=np.full(episodes, float(final_value)),
    )
    return generalised_advantages(batch, gamma=gamma, lam=lam)


def _tail_values(batch: CreditBatch, bootstrap: bool) -> FloatArray:
    if not bootstrap or batch.terminated.all():
        return np.zeros(batch.episodes)
    if batch.final_values is None:
        episode = int(np.flatnonzero(~batch.terminated)[0])
        raise ValueError(
            f"episode {episode} was cut off by a budget, but the batch's `final_values` are missing; "
            "give them, or say bootstrap=False to let it end with 0"
        )
    return np.where(batch.terminated, 0.0, batch.final_values)
