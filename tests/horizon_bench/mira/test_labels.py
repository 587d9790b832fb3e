from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curricula import load_bank
from horizon_bench.envs import Settings
from horizon_bench.episodes import Episode
from horizon_bench.mira import (
    episode_labels,
    milestone_vectors,
    partial_labels,
    progress_labels,
    subgoal_times,
)
from horizon_bench.policies import ExpertPolicy
from horizon_bench.rollout import rollout


@st.composite
def traces(draw: st.DrawFn) -> tuple[list[int], int, int]:
    length = draw(st.integers(1, 40))
    times = sorted(draw(st.lists(st.integers(1, length), max_size=8)))
    return times, length, draw(st.integers(max(1, len(times)), 12))


def test_the_published_case() -> None:
    labels = progress_labels((2, 4), 9, subgoals=3)
    assert labels[[0, 2, 4, 9]] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert progress_labels((2, 4, 7), 9).tolist() == labels.tolist()


@given(traces())
def test_labels_rise_from_nothing_to_all(trace: tuple[list[int], int, int]) -> None:
    times, length, subgoals = trace
    labels = progress_labels(times, length, subgoals)
    assert labels.shape == (length + 1,)
    assert (labels[0], labels[-1]) == (0.0, 1.0)
    assert np.all(np.diff(labels) >= 0)
    for done, time in enumerate(times[: subgoals - 1], start=1):
        assert labels[time] >= done / subgoals - 1e-12


@given(traces())
def test_partial_labels_rise_and_stop_at_what_was_reached(trace: tuple[list[int], int, int]) -> None:
    times, length, subgoals = trace
    labels = partial_labels(times, length, subgoals)
    assert np.all(np.diff(labels) >= 0)
    assert labels[-1] == pytest.approx(len(times) / subgoals)
    if times:
        assert np.all(labels[times[-1] :] == labels[-1])


@given(traces(), st.integers(2, 5))
def test_labels_do_not_depend_on_the_unit_of_time(trace: tuple[list[int], int, int], factor: int) -> None:
    times, length, subgoals = trace
    stretched = progress_labels([factor * time for time in times], factor * length, subgoals)
    assert stretched[::factor] == pytest.approx(progress_labels(times, length, subgoals))


def test_subgoals_reached_together_count_together() -> None:
    assert progress_labels((2, 2, 4), 4).tolist() == pytest.approx([0, 1 / 3, 2 / 3, 5 / 6, 1])


@pytest.mark.parametrize(
    ("times", "length", "subgoals"),
    [((3, 2), 5, None), ((0,), 5, None), ((6,), 5, None), ((), 0, None), ((1, 2), 3, 1)],
)
def test_times_that_cannot_be_are_refused(times: tuple[int, ...], length: int, subgoals: int | None) -> None:
    with pytest.raises(ValueError, match=r"times|decision"):
        progress_labels(times, length, subgoals)


def test_no_subgoal_at_all_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="at least 1 subgoal, not 0"):
        progress_labels((), 5, 0)


@pytest.fixture(scope="module")
def solved() -> Episode:
    return rollout(ExpertPolicy(), load_bank("T3")[:1], Settings())[0]


def test_a_played_episode_is_labelled_by_its_own_subgoals(solved: Episode) -> None:
    times = subgoal_times(solved)
    labels = episode_labels(solved)
    assert labels is not None
    assert labels[-1] == 1.0
    assert labels[times[0]] >= 1 / len(times)
    vectors = milestone_vectors(solved, 4)
    assert not vectors[0].any()
    assert vectors[-1].sum() == len(times)
    assert [int(np.argmax(vectors.sum(1) > count)) for count in range(len(times))] == list(times)
    assert milestone_vectors(solved, 6, done_at_start=(5,))[:, 5].all()


def test_only_successes_are_labelled_unless_asked(solved: Episode) -> None:
    failed = replace(solved, solved=False, turns=solved.turns[:-1])
    assert episode_labels(failed) is None
    labels = episode_labels(failed, failed=True, subgoals=4)
    assert labels is not None
    assert labels[-1] == len(subgoal_times(failed)) / 4
    with pytest.raises(ValueError, match="give `subgoals`"):
        episode_labels(failed, failed=True)
    with pytest.raises(ValueError, match="beyond the instance's 1"):
        milestone_vectors(solved, 1)
