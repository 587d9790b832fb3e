"""Numbers that say what an estimator did with a batch: conflicts, zeros, contrast at subgoals, use, isolation.

Pure functions of arrays; an undefined share (nothing to count) is NaN here and left out of `update_diagnostics`, whose
dictionary goes into the records. What the policy did, credit aside, is in `horizon_bench.training.metrics`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from horizon_bench.credit.arrays import compact_labels, divide, episode_sums, group_statistics, sum_by
from horizon_bench.credit.batch import BoolArray, CreditBatch, FloatArray
from horizon_bench.credit.beacon import segment_numbers
from horizon_bench.credit.states import pair_labels, state_groups
from puzzles.names import check_name

Scope = Literal["group", "batch"]
"""Whether equal state-action pairs are pooled inside a group or over the whole batch."""

Rule = Literal["trajectories", "occurrences"]
"""Whether a pair counts as repeated when two episodes hold it, or when it occurs twice anywhere."""


@dataclass(frozen=True)
class PairConflicts:
    """How the advantages of repeated state-action pairs agree."""

    repeated: int
    """Number of repeated pairs."""
    car: float
    """Conflict share: of repeated pairs, those with advantages of both signs; NaN without any."""
    egr: float
    """Net over total push on repeated pairs, sum |g+ - g-| / sum (g+ + g-); NaN without any push."""


def pair_conflicts(
    batch: CreditBatch, advantages: ArrayLike, *, scope: Scope = "group", rule: Rule = "trajectories"
) -> PairConflicts:
    """Return the conflict share (CAR) and the effective gradient ratio (EGR) of repeated state-action pairs.

    g+ and g- are the sums of positive and of negated negative advantages over all occurrences of a pair; a zero is of
    neither sign. Source: the BEACON article; of its readings the default counts pairs that two trajectories of one
    group share.

    Args:
        batch: shapes as in `CreditBatch`.
        advantages: shape [turns].
        scope: where pairs are pooled.
        rule: what counts as repeated.
    """
    check_name("scope", scope, get_args(Scope))
    check_name("rule", rule, get_args(Rule))
    pushes = np.asarray(advantages, dtype=np.float64)
    places = state_groups(batch) if scope == "group" else batch.states
    pair, pairs = compact_labels(pair_labels(places, batch.actions))
    if rule == "trajectories":
        holders = np.unique(pair * batch.episodes + batch.episode_of_turn) // max(batch.episodes, 1)
        repeated = np.bincount(holders, minlength=pairs) >= 2
    else:
        repeated = np.bincount(pair, minlength=pairs) >= 2
    up = sum_by(pair, np.maximum(pushes, 0.0), pairs)[repeated]
    down = sum_by(pair, np.maximum(-pushes, 0.0), pairs)[repeated]
    push = float((up + down).sum())
    return PairConflicts(
        repeated=int(repeated.sum()),
        car=float(((up > 0) & (down > 0)).mean()) if len(up) else math.nan,
        egr=float(np.abs(up - down).sum()) / push if push > 0 else math.nan,
    )


def zero_shares(batch: CreditBatch, advantages: ArrayLike) -> tuple[float, float]:
    """Return ZAR: the share of decisions with advantage exactly 0, and of episodes with nothing but zeros."""
    zero = np.asarray(advantages, dtype=np.float64) == 0
    episodes = episode_sums((~zero).astype(np.float64), batch.offsets) == 0
    return _mean(zero), _mean(episodes)


def subgoal_contrast(batch: CreditBatch, advantages: ArrayLike) -> tuple[float, float, float]:
    """Return mean |A| at decisions that complete a subgoal, mean |A| elsewhere, and their quotient (CCR)."""
    size, reached = np.abs(np.asarray(advantages, dtype=np.float64)), batch.subgoals_reached > 0
    at = float(size[reached].mean()) if reached.any() else math.nan
    elsewhere = float(size[~reached].mean()) if not reached.all() else math.nan
    return at, elsewhere, at / elsewhere if elsewhere > 0 else math.nan


def used_shares(batch: CreditBatch, advantages: FloatArray, weights: FloatArray | None = None) -> tuple[float, float]:
    """Return the shares of decisions and of episodes that push the policy at all.

    Our formula: a decision is used when |w A| > 0, A its advantage and w its mean importance weight; an episode is used
    when one of its decisions is.

    Args:
        batch: shapes as in `CreditBatch`.
        advantages: shape [turns].
        weights: mean importance weight of each decision's tokens, shape [turns]; 1 where left out.
    """
    used = advantages != 0 if weights is None else (advantages != 0) & (weights != 0)
    per_episode = episode_sums(used.astype(np.float64), batch.offsets) > 0
    return _mean(used), _mean(per_episode)


def partial_success_share(batch: CreditBatch, solved: BoolArray | None = None) -> float:
    """Return the share of episodes that completed a subgoal and yet were not solved.

    Args:
        batch: shapes as in `CreditBatch`.
        solved: shape [episodes]; where left out, an episode counts as solved that ended by the rules with a positive
            task reward at its last decision.
    """
    done = solved_by_reward(batch) if solved is None else solved
    reached = episode_sums(batch.subgoals_reached.astype(np.float64), batch.offsets) > 0
    return _mean(reached & ~done)


def solved_by_reward(batch: CreditBatch) -> BoolArray:
    """Return whether each episode ended by the rules with a positive task reward at its last decision, [episodes]."""
    return batch.terminated & (_at_the_end(batch, batch.rewards) > 0)


def _at_the_end(batch: CreditBatch, per_turn: FloatArray) -> FloatArray:
    """Return the number at each episode's last decision, 0 for an episode without any, shape [episodes]."""
    last = np.zeros(batch.episodes)
    some = batch.lengths > 0
    last[some] = per_turn[batch.offsets[1:][some] - 1]
    return last


def isolation_correlation(batch: CreditBatch, advantages: FloatArray) -> float:
    """Return the correlation of a segment's mean advantage with what its episode earned after the segment.

    What is earned later: subgoals completed plus task reward. Both are centred within the group's segments of the same
    number, so that easy instances do not make the correlation. 0 means that credit is isolated from later luck
    (BEACON's variance-isolation claim, measured); 1 that it follows it. NaN with fewer than two segments that have a
    later one, or without any variance.

    Args:
        batch: shapes as in `CreditBatch`.
        advantages: shape [turns].
    """
    segments = segment_numbers(batch)
    _, first, run = np.unique(pair_labels(batch.episode_of_turn, segments), return_index=True, return_inverse=True)
    runs = len(first)
    mean_advantage = divide(sum_by(run, advantages, runs), sum_by(run, np.ones(batch.turns), runs))
    earned = sum_by(run, np.nan_to_num(batch.rewards) + batch.subgoals_reached, runs)
    episode = batch.episode_of_turn[first]
    total = sum_by(episode, earned, batch.episodes)
    order = np.lexsort((segments[first], episode))
    running = np.cumsum(earned[order])
    before = np.append(0.0, np.cumsum(total))[episode[order]]
    later = np.empty(runs)
    later[order] = total[episode[order]] - (running - before)
    has_later = segments[first] < _at_the_end(batch, segments.astype(np.float64))[episode]
    labels = pair_labels(batch.group[episode], segments[first])[has_later]
    one, other = mean_advantage[has_later], later[has_later]
    return correlation(one - group_statistics(one, labels).mean, other - group_statistics(other, labels).mean)


def correlation(one: FloatArray, other: FloatArray) -> float:
    """Return Pearson's correlation; NaN with fewer than two pairs or without variance."""
    if len(one) < 2:
        return math.nan
    one, other = _unit(one - one.mean()), _unit(other - other.mean())
    scale = math.sqrt(float((one**2).sum()) * float((other**2).sum()))
    return float((one * other).sum()) / scale if scale > 0 else math.nan


def update_diagnostics(
    batch: CreditBatch,
    advantages: FloatArray,
    *,
    weights: FloatArray | None = None,
    solved: BoolArray | None = None,
) -> dict[str, float]:
    """Return the credit figures of one update for the records; what is undefined is left out.

    Keys: `repeated_pairs`, `car`, `egr`, `zar`, `zar_episodes`, `subgoal_advantage`, `other_advantage`, `ccr`,
    `used_share`, `used_episode_share`, `partial_success_share`, `isolation_correlation`, `advantage_mean`,
    `advantage_std`, `subgoals_per_episode`.

    Args:
        batch: shapes as in `CreditBatch`.
        advantages: shape [turns].
        weights: mean importance weight of each decision's tokens, shape [turns].
        solved: shape [episodes].
    """
    pairs = pair_conflicts(batch, advantages)
    zar, zar_episodes = zero_shares(batch, advantages)
    at, elsewhere, ccr = subgoal_contrast(batch, advantages)
    used, used_episodes = used_shares(batch, advantages, weights)
    episodes = max(batch.episodes, 1)
    return _defined(
        {
            "repeated_pairs": float(pairs.repeated),
            "car": pairs.car,
            "egr": pairs.egr,
            "zar": zar,
            "zar_episodes": zar_episodes,
            "subgoal_advantage": at,
            "other_advantage": elsewhere,
            "ccr": ccr,
            "used_share": used,
            "used_episode_share": used_episodes,
            "partial_success_share": partial_success_share(batch, solved),
            "isolation_correlation": isolation_correlation(batch, advantages),
            "advantage_mean": float(advantages.mean()) if batch.turns else math.nan,
            "advantage_std": _deviation(advantages) if batch.turns else math.nan,
            "subgoals_per_episode": float(batch.subgoals_reached.sum()) / episodes,
        }
    )


def _unit(values: FloatArray) -> FloatArray:
    """Return the values divided by the largest size among them, so that their squares neither overflow nor vanish."""
    peak = np.abs(values).max()
    return np.asarray(values / peak, dtype=np.float64) if peak > 0 else values


def _deviation(values: FloatArray) -> float:
    """Return the population standard deviation without squaring large numbers."""
    return float(group_statistics(values, np.zeros(len(values), dtype=np.int64)).deviation[0])


def _mean(values: Sequence[float] | np.ndarray) -> float:
    return float(np.mean(values)) if len(values) else math.nan


def _defined(figures: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in figures.items() if not math.isnan(value)}
