"""BEACON: advantages of segments between subgoals, as published and as its public code differs.

A segment is the run of decisions up to and including the one that completes a subgoal. Segments are counted by the
subgoals completed before, so that a decision which completes two at once makes the next segment's number rise by two.
"""

from __future__ import annotations

import difflib
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from horizon_bench.credit.arrays import check_share, compact_labels, divide, scan_backward, sum_by
from horizon_bench.credit.batch import BoolArray, CreditBatch, FloatArray, IntArray
from horizon_bench.credit.groups import Count, Scale, Single, group_relative, grpo
from horizon_bench.credit.returns import add_step_rewards
from horizon_bench.credit.states import pair_labels
from puzzles.names import check_name

Mode = Literal["paper", "released"]
Part = Literal["both", "trajectory", "segment"]
Unfinished = Literal["zero", "baseline"]
Cuts = Literal["subgoals", "random", "dropped"]

RELEASED_SUBGOAL_REWARD = 10.0


def beacon(
    batch: CreditBatch,
    *,
    gamma: float = 0.95,
    lam: float = 1.0,
    subgoal_reward: float | None = None,
    mode: Mode = "paper",
    part: Part = "both",
    scale: Scale | None = None,
    ddof: int = 1,
    epsilon: float = 1e-6,
    unfinished: Unfinished = "zero",
    cuts: Cuts = "subgoals",
    dropped: float = 0.5,
    seed: int = 0,
    alpha: float = 0.0,
) -> FloatArray:
    """Return A = A_trajectory + lam * A_segment.

    With r_t = subgoal_reward * gamma^(t_k - t) in a segment that ends at a subgoal (0^0 = 1), 0 after the last subgoal:

    - `paper`: A_trajectory as `grpo`; A_segment = r_t - b_k, b_k the mean over the group's episodes that completed
      segment k of (sum of r in segment k / its length); 0 in an unfinished segment (`unfinished="baseline"`: 0 - b_k).
    - `released`: A_trajectory = R - mean over the group's *decisions*, no deviation; A_segment = r_t - mean of r over
      all decisions of the group in segment k, completed or not; `scale="group"` divides both by their deviation +
      epsilon (its mode `mean_std_norm`); subgoal_reward 10.

    Source: the BEACON article, and github.com/ZJU-REAL/BEACON for `released`. With `lam=0` and `mode="paper"` it is
    `grpo`. Assumes an outcome reward (subgoals paid by the environment would count twice). Known bias: as `grpo`; a
    segment's baseline contains the episode itself and selects episodes by their success; decisions after the last
    subgoal learn from the trajectory term alone.

    Args:
        batch: shapes as in `CreditBatch`.
        gamma: discount within a segment.
        lam: weight of the segment term.
        subgoal_reward: reward of a completed subgoal; 1, or 10 in mode `released`, where left out.
        mode: which formulas.
        part: `trajectory` or `segment` leaves the other term out.
        scale: what is divided by: `group` (default of `paper`) or `none` (default of `released`).
        ddof: 1 for the sample deviation, 0 for the population's.
        epsilon: added to the deviation.
        unfinished: what mode `paper` gives a segment without its subgoal.
        cuts: `random` moves every episode's subgoals to random decisions, `dropped` forgets a share of them.
        dropped: that share.
        seed: of the two; mixed with the batch's content, so that different batches are cut differently.
        alpha: weight of the normalised step reward.

    Returns:
        Advantages, shape [turns].
    """
    check_name("mode", mode, get_args(Mode))
    check_name("part", part, get_args(Part))
    batch = _cut(batch, cuts, dropped, seed)
    released = mode == "released"
    divided: Scale = scale if scale is not None else ("none" if released else "group")
    reward = subgoal_reward if subgoal_reward is not None else (RELEASED_SUBGOAL_REWARD if released else 1.0)
    advantages = np.zeros(batch.turns)
    if part != "segment":
        single: Single = "raw" if released else "zero"
        count: Count = "turns" if released else "episodes"
        advantages += grpo(batch, scale=divided, ddof=ddof, epsilon=epsilon, single=single, count=count)
    if part != "trajectory":
        shaped = shaped_rewards(batch, gamma=gamma, subgoal_reward=reward)
        segments = segment_numbers(batch)
        if released:
            step = released_segment_advantages(batch, shaped, segments, scale=divided, ddof=ddof, epsilon=epsilon)
        else:
            step = paper_segment_advantages(batch, shaped, segments, unfinished=unfinished)
        advantages += lam * step
    return add_step_rewards(advantages, batch, alpha)


def segment_numbers(batch: CreditBatch) -> IntArray:
    """Return the number of subgoals completed before each decision, that is its segment counted from 0, [turns]."""
    total = np.cumsum(batch.subgoals_reached) - batch.subgoals_reached
    starts = np.append(total, 0)[np.minimum(batch.offsets[:-1], batch.turns)]
    return np.asarray(total - np.repeat(starts, batch.lengths), dtype=np.int64)


def shaped_rewards(batch: CreditBatch, *, gamma: float, subgoal_reward: float = 1.0) -> FloatArray:
    """Return r_t = subgoal_reward * gamma^(t_k - t) up to the next subgoal at t_k, 0 after the last, shape [turns]."""
    check_share("gamma", gamma)
    reached = batch.subgoals_reached > 0
    return scan_backward(np.where(reached, subgoal_reward, 0.0), np.where(reached, 0.0, gamma), batch.offsets)


def completed_segments(batch: CreditBatch) -> BoolArray:
    """Return whether each decision lies in a segment that ends at a subgoal, shape [turns]."""
    return shaped_rewards(batch, gamma=1.0) > 0


def paper_segment_advantages(
    batch: CreditBatch, shaped: FloatArray, segments: IntArray, *, unfinished: Unfinished = "zero"
) -> FloatArray:
    """Return r_t - b_k as the article defines it, shape [turns].

    Args:
        batch: shapes as in `CreditBatch`.
        shaped: r_t, shape [turns].
        segments: segment of each decision, shape [turns].
        unfinished: what a segment without its subgoal gets: 0, or 0 - b_k.
    """
    check_name("unfinished", unfinished, get_args(Unfinished))
    complete = completed_segments(batch)
    runs, count = compact_labels(pair_labels(batch.episode_of_turn, segments))
    length = sum_by(runs, np.ones(batch.turns), count)
    mean_of_run = divide(sum_by(runs, shaped, count), length)
    place, places = compact_labels(pair_labels(batch.group_of_turn, segments))
    share = np.where(complete, 1.0 / np.maximum(length[runs], 1.0), 0.0)
    baseline = divide(sum_by(place, share * mean_of_run[runs], places), sum_by(place, share, places))[place]
    difference = np.where(np.abs(shaped - baseline) <= 1e-14 * np.abs(baseline), 0.0, shaped - baseline)
    return difference if unfinished == "baseline" else np.where(complete, difference, 0.0)


def released_segment_advantages(
    batch: CreditBatch,
    shaped: FloatArray,
    segments: IntArray,
    *,
    scale: Scale = "none",
    ddof: int = 1,
    epsilon: float = 1e-6,
) -> FloatArray:
    """Return r_t minus its mean over all decisions of the group in the segment, as the released code does, [turns]."""
    labels = pair_labels(batch.group_of_turn, segments)
    return group_relative(shaped, labels, scale=scale, ddof=ddof, epsilon=epsilon)


def match_milestones(
    actions: Sequence[str], milestones: Sequence[str] | None, threshold: float
) -> tuple[list[int], list[int]]:
    """Return which decisions reach a milestone, and each decision's segment, by comparing action texts.

    Milestone k is reached by the first action after milestone k - 1 whose `difflib` ratio with it is at least
    `threshold`; the search ends at the first milestone that is not found. Decisions after the last milestone get
    segment -1 if all were found (the released code's static path).

    Args:
        actions: what one episode did.
        milestones: the task's milestones in order; None for a task without any.
        threshold: 0 to 1.
    """
    reached, segments = [0] * len(actions), [0] * len(actions)
    wanted, found = list(milestones or ()), 0
    for time, action in enumerate(actions):
        segments[time] = -1 if wanted and found == len(wanted) else found
        if found < len(wanted) and difflib.SequenceMatcher(None, action, wanted[found]).ratio() >= threshold:
            reached[time] = 1
            found += 1
    return reached, segments


def random_cuts(batch: CreditBatch, rng: np.random.Generator) -> CreditBatch:
    """Return the batch with every episode's subgoals moved to as many random decisions, without replacement."""
    order = np.lexsort((rng.random(batch.turns), batch.episode_of_turn))
    reached = np.zeros_like(batch.subgoals_reached)
    by_size = np.lexsort((-batch.subgoals_reached, batch.episode_of_turn))
    reached[order] = batch.subgoals_reached[by_size]
    return replace(batch, subgoals_reached=reached)


def drop_subgoals(batch: CreditBatch, share: float, rng: np.random.Generator) -> CreditBatch:
    """Return the batch with each completed subgoal forgotten with probability `share`."""
    check_share("share", share)
    return replace(batch, subgoals_reached=rng.binomial(batch.subgoals_reached, 1.0 - share).astype(np.int64))


def _cut(batch: CreditBatch, cuts: Cuts, dropped: float, seed: int) -> CreditBatch:
    check_name("cuts", cuts, get_args(Cuts))
    if cuts == "subgoals":
        return batch
    content = zlib.crc32(batch.states.tobytes() + batch.subgoals_reached.tobytes())
    rng = np.random.default_rng(np.random.SeedSequence([seed, content]))
    return random_cuts(batch, rng) if cuts == "random" else drop_subgoals(batch, dropped, rng)
