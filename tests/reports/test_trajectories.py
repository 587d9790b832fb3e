from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from horizon_bench.episodes import Episode, Turn
from reports.records import StoredEpisode
from reports.trajectories import LONGEST, change_of, detour_decisions, groups_of, pick_attempts


def turn(before: int | None, after: int | None, subgoals: int = 0) -> Turn:
    """Return a decision that takes the goal from one distance to another."""
    return Turn(
        "board", "reply", np.arange(0), np.arange(0), np.zeros(0, np.float32), 0.0, False, True, True, 1, ("press(1)",),
        0, 0.0, 0.0, tuple(range(subgoals)), None, 1, before, after,
    )  # fmt: skip


def attempt(
    *distances: int | None, key: str = "a", number: int = 0, subgoals: tuple[int, ...] = (), phase: str = "rl"
) -> StoredEpisode:
    """Return an attempt of one puzzle that passes through the given goal distances; it solved it if the last is 0."""
    turns = tuple(turn(*pair, subgoals=index in subgoals) for index, pair in enumerate(pairwise(distances)))
    solved = distances[-1] == 0
    episode = Episode(
        key,
        "start",
        "-",
        int(distances[0] or 0),
        0,
        number,
        turns,
        solved,
        True,
        False,
        "solved" if solved else "wrong",
    )
    return StoredEpisode("study", "cell", 0, phase, 80, "mine", 0, "atomic", episode)


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [(3, 2, "nearer"), (3, 3, "same"), (3, 4, "farther"), (3, None, "lost"), (None, None, "lost"), (None, 3, "nearer")],
)
def test_a_decision_changes_the_distance(before: int | None, after: int | None, change: str) -> None:
    assert change_of(turn(before, after)) == change


@pytest.mark.parametrize(
    ("distances", "detour"),
    [
        ((2, 1, 0), ()),
        ((2, 3, 2, 1, 0), (0,)),
        ((2, 2, 2, 1, 1, 0), (0, 1, 3)),
        ((3, 2, 3), ()),
        ((3, 3, 2, None), (0,)),
        ((3, None, 3, 2), ()),
    ],
)
def test_a_detour_is_made_in_reach_of_the_goal_and_left_again(
    distances: tuple[int, ...], detour: tuple[int, ...]
) -> None:
    assert detour_decisions(attempt(*distances).episode) == detour


def test_only_several_attempts_of_fair_length_are_a_group() -> None:
    pair = [attempt(2, 1, 0), attempt(2, None, number=1)]
    long = [attempt(*[5] * (LONGEST + 1), 4, key="long"), attempt(5, 4, key="long", number=1)]
    empty = [attempt(2, key="empty"), attempt(2, 1, 0, key="empty", number=1)]
    stored = [*pair, attempt(2, 1, 0, key="alone"), *long, *empty]
    assert groups_of(stored) == [tuple(pair)]
    assert groups_of([*pair, replace(pair[0], phase="sft")]) == [tuple(pair)]


def test_the_failed_attempt_stands_beside_the_detour_if_it_got_anywhere() -> None:
    detour, failed = attempt(3, 4, 3, 2, 1, 0), attempt(3, 2, None, number=1, subgoals=(0,))
    other = [attempt(3, 2, 1, None, key="b", subgoals=(0, 1)), attempt(3, 2, 1, 0, key="b", number=1)]
    groups = groups_of([detour, failed, *other])
    assert [one.stored for one in pick_attempts(groups) if one] == [failed, detour]
    stuck = attempt(3, None, number=1)
    assert [one.stored for one in pick_attempts(groups_of([detour, stuck, *other])) if one] == [other[0], detour]


def test_a_group_of_both_outcomes_comes_before_one_without() -> None:
    alike = [attempt(3, 4, 3, 3, 2, 1, 0, key="alike"), attempt(3, 2, 1, 0, key="alike", number=1)]
    mixed = [attempt(3, 4, 3, 2, 1, 0), attempt(3, None, number=1)]
    failed, detour = pick_attempts(groups_of([*alike, *mixed]))
    assert failed is not None
    assert detour is not None
    assert (failed.stored, detour.stored) == (mixed[1], mixed[0])


def test_what_is_not_stored_is_none() -> None:
    direct = [attempt(2, 1, 0), attempt(2, 1, 0, number=1)]
    assert pick_attempts(groups_of(direct)) == (None, None)
    assert pick_attempts([]) == (None, None)
    wandering = [attempt(2, 3, 2, 3), attempt(2, 1, 0, number=1)]
    failed, detour = pick_attempts(groups_of(wandering))
    assert failed is None
    assert detour is not None
    assert detour.stored is wandering[0]
