from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from horizon_bench.credit import ESTIMATORS, CreditBatch, credit_table
from reports.figures import FIGURES, draw, svg_bytes
from reports.gather_credit import credit_pictures, credit_timeline, missing_pictures, short_action
from reports.results import load_results
from reports.trajectories import groups_of


@pytest.fixture
def group(make):
    """Return four attempts at one puzzle of which some failed."""
    stored = make.stored_episodes(make.arms[2], 0, 80, np.random.default_rng(3))
    return next(one for one in groups_of(stored) if len({other.episode.solved for other in one}) > 1)


def test_every_estimator_is_drawn_as_it_computes(group) -> None:
    turns = sum(len(one.episode.turns) for one in group)
    values = np.linspace(0.0, 1.0, turns)
    batch = CreditBatch.from_episodes([one.episode for one in group], values, np.zeros(len(group)))
    table = credit_table(batch)
    for index in range(len(group)):
        picture = credit_timeline(group, index, values=values, final_values=np.zeros(len(group)))
        assert {ESTIMATORS[name] for name in picture.estimators} == set(ESTIMATORS.values())
        for name, row in zip(picture.estimators, picture.advantages, strict=True):
            assert row == pytest.approx(batch.split(table[name])[index], abs=1e-8)


def test_boards_and_distances_follow_the_moves(group) -> None:
    picture = credit_timeline(group, 0)
    turns = group[0].episode.turns
    assert "".join(cell or "." for cell in picture.start) == group[0].episode.start
    assert [moment.distance for moment in picture.moments] == [turn.distance_after for turn in turns]
    filled = [sum(bool(cell) for cell in moment.cells) for moment in picture.moments]
    assert filled[0] == 16 - group[0].episode.distance + len(turns[0].moves)
    assert [moment.subgoals for moment in picture.moments] == [len(turn.subgoals_reached) for turn in turns]


def test_what_cannot_be_drawn_is_named(group, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(batch: CreditBatch) -> list[float]:
        raise ValueError("no")

    monkeypatch.setitem(ESTIMATORS, "failing", failing)
    monkeypatch.setitem(ESTIMATORS, "short", lambda batch: [0.0])
    monkeypatch.setitem(ESTIMATORS, "listing", lambda batch: [1] * batch.turns)
    picture = credit_timeline(group, 0)
    assert "Left out: ppo, vineppo, which need values" in picture.note
    assert "failed on this group: failing, short." in picture.note
    assert picture.estimators[-1] == "listing"
    assert f"n = {len(group)} attempts" in picture.note


def test_a_study_says_which_attempts_it_lacks(small: Path) -> None:
    runs = load_results(small).runs
    pictures = credit_pictures(runs)
    assert len(pictures) == 1
    assert "not solved" in pictures[0].outcome
    (sentence,) = missing_pictures(runs)
    assert sentence.startswith("horizon: Sudoku 4\N{MULTIPLICATION SIGN}4: no attempt that made a detour")


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("value(5, r1c2)", "r1c2 = 5"),
        ("move(B, up, 1)", "B up"),
        ("move(B, up, 3)", "B up 3"),
        ("press(r1c1)", "press r1c1"),
        ("a very long reply", "a very long\N{HORIZONTAL ELLIPSIS}"),
        ("", ""),
    ],
)
def test_actions_are_shortened_and_stay_readable(text: str, short: str) -> None:
    assert short_action(text) == short


def test_a_puzzle_without_a_board_has_a_timeline_too(group) -> None:
    picture = credit_timeline([replace(one, puzzle="mine:Own") for one in group], 0)
    assert picture.start == ()
    first, second = (svg_bytes(draw(FIGURES["credit"], picture), "credit") for _ in range(2))
    assert first == second
    assert picture.moments[0].actions[0].encode() in first
