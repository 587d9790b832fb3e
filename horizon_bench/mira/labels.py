"""Progress labels p* and milestone vectors z: how far along its milestones each state of an episode is.

Time t counts decisions: t = 0 is the start, t = T the state after the last decision. Labels come from what was reached
in the episode alone; no solver is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from horizon_bench.credit.batch import BoolArray, FloatArray
from horizon_bench.episodes import Episode


def progress_labels(times: Sequence[int], length: int, subgoals: int | None = None) -> FloatArray:
    """Return p* of every state of a successful trace: linear between subgoals, the last one anchored at the end.

    At the time of the j-th subgoal p* is j / K, at the end 1. Subgoals reached at the same time count together: p*
    rises linearly to the highest of them.

    Args:
        times: decisions taken when each subgoal was completed, in rising order, each in 1..length.
        length: decisions T of the trace, at least 1.
        subgoals: number K of subgoals; by default as many as there are times, at least 1. The last needs no time.

    Returns:
        Labels in [0, 1], never falling, shape [length + 1].

    Raises:
        ValueError: if the times are out of order or range, or more than there are subgoals.

    >>> progress_labels((2, 4), 9, subgoals=3).round(2).tolist()
    [0.0, 0.17, 0.33, 0.5, 0.67, 0.73, 0.8, 0.87, 0.93, 1.0]
    """
    count = _checked(times, length, subgoals)
    anchors = _anchors(times[: count - 1], count) | {length: 1.0}
    return _between(anchors, length)


def partial_labels(times: Sequence[int], length: int, subgoals: int) -> FloatArray:
    """Return labels of a failed trace: as `progress_labels` up to its last subgoal, constant from there on. Ours.

    Args:
        times: decisions taken when each subgoal that was completed was completed, in rising order, each in 1..length.
        length: decisions T of the trace, at least 1.
        subgoals: number K of subgoals of the instance, reached or not.

    Returns:
        Labels in [0, 1], never falling, shape [length + 1].

    Raises:
        ValueError: as `progress_labels`.

    >>> partial_labels((2,), 4, subgoals=4).tolist()
    [0.0, 0.125, 0.25, 0.25, 0.25]
    """
    count = _checked(times, length, subgoals)
    return _between(_anchors(times, count), length)


def subgoal_times(episode: Episode) -> tuple[int, ...]:
    """Return how many decisions had been taken when each reached subgoal was completed first, in rising order."""
    first: dict[int, int] = {}
    for time, turn in enumerate(episode.turns, start=1):
        for subgoal in turn.subgoals_reached:
            first.setdefault(subgoal, time)
    return tuple(sorted(first.values()))


def episode_labels(episode: Episode, *, failed: bool = False, subgoals: int | None = None) -> FloatArray | None:
    """Return p* of every state of an episode, None where it gets none: by default only a solved one is labelled.

    Args:
        episode: what a rollout returned. Subgoals that held at its start count for nothing.
        failed: whether an episode that was not solved gets `partial_labels`.
        subgoals: number K of subgoals that were open at the start; for a solved episode, by default, all it reached.

    Returns:
        Labels, shape [decisions + 1], or None.

    Raises:
        ValueError: if a failed episode shall be labelled and `subgoals` is missing.
    """
    if not episode.turns or not (episode.solved or failed):
        return None
    times = subgoal_times(episode)
    if episode.solved:
        return progress_labels(times, len(episode.turns), subgoals)
    if subgoals is None:
        raise ValueError("a failed episode does not show how many subgoals there are; give `subgoals`, or failed=False")
    return partial_labels(times, len(episode.turns), subgoals)


def milestone_vectors(episode: Episode, subgoals: int, done_at_start: Iterable[int] = ()) -> BoolArray:
    """Return the binary milestone vector z of every state: which subgoals have been completed so far.

    Args:
        episode: what a rollout returned.
        subgoals: number of subgoals of the instance, those that held at the start included.
        done_at_start: indices of the subgoals that held at the start, which episodes do not report.

    Returns:
        Shape [decisions + 1, subgoals]; a milestone that was completed stays true, even if later undone.

    Raises:
        ValueError: if the episode reached a subgoal with an index beyond `subgoals`.
    """
    vectors = np.zeros((len(episode.turns) + 1, subgoals), dtype=np.bool_)
    reached = [(0, index) for index in done_at_start]
    reached += [(time, index) for time, turn in enumerate(episode.turns, 1) for index in turn.subgoals_reached]
    for time, index in reached:
        if not 0 <= index < subgoals:
            raise ValueError(
                f"subgoal {index} is beyond the instance's {subgoals}; give the number of all its subgoals"
            )
        vectors[time:, index] = True
    return vectors


def _checked(times: Sequence[int], length: int, subgoals: int | None) -> int:
    """Return the number of subgoals after checking all three against each other."""
    if length < 1:
        raise ValueError(f"a trace has at least 1 decision, not {length}")
    if list(times) != sorted(times) or any(not 1 <= time <= length for time in times):
        raise ValueError(f"times {tuple(times)} must rise within 1..{length}, the decisions of the trace")
    count = max(1, len(times)) if subgoals is None else subgoals
    if count < 1:
        raise ValueError(f"progress needs at least 1 subgoal, not {count}; leave `subgoals` out where none is known")
    if count < len(times):
        raise ValueError(f"{len(times)} times of subgoals, but only {count} subgoals")
    return count


def _anchors(times: Sequence[int], subgoals: int) -> dict[int, float]:
    """Return the label at each time a subgoal was completed, the highest where several were."""
    return {time: done / subgoals for done, time in enumerate(times, start=1)}


def _between(anchors: dict[int, float], length: int) -> FloatArray:
    """Return the labels of all times, linear between the anchors, constant after the last."""
    known = {0: 0.0} | dict(sorted(anchors.items()))
    return np.interp(np.arange(length + 1), list(known), list(known.values()))
