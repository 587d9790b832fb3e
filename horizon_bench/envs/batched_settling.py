"""What follows a move in every lane, in one compiled pass: counters, budgets, end reasons, subgoals paid, rewards."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from horizon_bench.envs.rewards import DEAD_POTENTIAL

REASONS = np.array(["", "solved", "wrong", "illegal", "dead", "max_decisions", "max_atomic_steps"], dtype=object)
"""End reasons by number; those from 5 are budgets."""
SOLVED, WRONG, ILLEGAL, DEAD, MAX_DECISIONS, MAX_ATOMIC_STEPS = range(1, 7)

REWARD_NUMBERS = {"outcome": 0, "subgoal": 1, "potential": 2, "step": 3, "score": 0}
"""Numbers by which the compiled pass knows the rewards; the score of a batched puzzle is its outcome."""


class Settled(NamedTuple):
    """What one step came to, each of shape [lanes]."""

    reason: NDArray[np.int64]
    """Number of the end reason, 0 while the episode goes on."""
    reached: NDArray[np.int64]
    """Subgoal reached for the first time, -1 if none."""
    written: NDArray[np.int64]
    """1 where a decision was taken."""
    refused: NDArray[np.int64]
    """1 where the rules refused it."""
    own: NDArray[np.int64]
    """Subgoal that the move worked on, -1 if none."""
    decisions: NDArray[np.int64]
    steps: NDArray[np.int64]
    togo: NDArray[np.int64]
    distance: NDArray[np.int64]
    nothing: NDArray[np.int64]
    """Zeros."""
    zeros: NDArray[np.int64]
    """Zeros once more."""
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    goal: NDArray[np.bool_]
    legal: NDArray[np.bool_]
    reachable: NDArray[np.bool_]
    """Whether the goal is in reach."""
    has_reached: NDArray[np.bool_]
    has_own: NDArray[np.bool_]
    rewards: NDArray[np.float64]
    step_rewards: NDArray[np.float64]


def blank_settled(lanes: int) -> Settled:
    """Return fresh arrays for `settle` to fill in."""
    numbers, zeros = rows_apart(9, lanes, np.int64), np.zeros(lanes, dtype=np.int64)
    flags, rewards = rows_apart(7, lanes, np.bool_), rows_apart(2, lanes, np.float64)
    return Settled._make((*numbers, zeros, zeros.copy(), *flags, *rewards))


def rows_apart(rows: int, lanes: int, kind: type[np.generic]) -> NDArray[Any]:
    """Return rows of lanes, not yet filled in, that a loop over lanes can hold in the cache all at once.

    Rows that lie a power of two apart would share the same few places of the cache and drive each other out, so that a
    pass over them would take twice as long.
    """
    line = 64 // np.dtype(kind).itemsize
    width = (lanes // line + 1 | 1) * line
    return np.empty((rows, width), dtype=kind)[:, :lanes]


@njit(cache=True)
def settle(  # type: ignore[no-untyped-def]
    settled, active, legal, own, before, togo, distance, decisions, steps, most_decisions, most_steps, done, changed,
    paid, subgoals, mask, strict, wrong_ends, dead_ends, reward, gamma
):  # fmt: skip
    """Fill in `settled` and bring the counters and `paid` up to date, in place."""
    for lane in range(active.shape[0]):
        moved, refused = active[lane] and legal[lane], active[lane] and not legal[lane]
        decisions[lane] += active[lane]
        steps[lane] += moved
        count, first = 0, -1
        for index in range(done.shape[1] if changed[lane] else 0):
            if done[lane, index] and not paid[lane, index]:
                paid[lane, index] = True
                count += 1
                if first < 0:
                    first = index
        reason = 0
        if moved and togo[lane] == 0:
            reason = SOLVED
        elif moved and wrong_ends and togo[lane] < 0:
            reason = WRONG
        elif refused and strict:
            reason = ILLEGAL
        elif moved and dead_ends and not mask[lane].any():
            reason = DEAD
        elif active[lane] and decisions[lane] >= most_decisions[lane]:
            reason = MAX_DECISIONS
        elif active[lane] and steps[lane] >= most_steps[lane]:
            reason = MAX_ATOMIC_STEPS
        ends = 0 < reason < MAX_DECISIONS
        paid_now = 1.0 if reason == SOLVED else 0.0
        if active[lane]:
            if reward == 1 and count:
                paid_now += count / subgoals[lane]
            elif reward == 2:
                phi = DEAD_POTENTIAL if before[lane] < 0 else -before[lane] / distance[lane]
                phi_after = 0.0
                if not ends:
                    phi_after = DEAD_POTENTIAL if togo[lane] < 0 else -togo[lane] / distance[lane]
                paid_now += gamma * phi_after - phi
            elif reward == 3 and refused:
                paid_now -= 1.0
        settled.reason[lane], settled.reached[lane] = reason, first
        settled.written[lane], settled.refused[lane] = active[lane], refused
        settled.own[lane] = own[lane] if moved else -1
        settled.decisions[lane], settled.steps[lane] = decisions[lane], steps[lane]
        settled.togo[lane], settled.distance[lane] = togo[lane], distance[lane]
        settled.terminated[lane], settled.truncated[lane] = ends, reason >= MAX_DECISIONS
        settled.goal[lane], settled.legal[lane] = reason == SOLVED, not refused
        settled.reachable[lane], settled.has_reached[lane] = togo[lane] >= 0, first >= 0
        settled.has_own[lane] = settled.own[lane] >= 0
        settled.rewards[lane], settled.step_rewards[lane] = paid_now, -1.0 if refused else 0.0
