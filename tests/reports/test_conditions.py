from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reports.conditions import Condition, _before_rl, _named, conditions_of
from reports.results import Results, Run, load_results
from reports.schema import EvaluationRecord


@pytest.fixture(scope="module")
def results(small: Path) -> Results:
    return load_results(small)


@pytest.fixture(scope="module")
def conditions(results: Results) -> tuple[Condition, ...]:
    return conditions_of(results)


def find(conditions: tuple[Condition, ...], phase: str, interface: str) -> Condition:
    return next(one for one in conditions if (one.phase, one.interface) == (phase, interface))


def test_each_phase_and_interface_is_a_condition_with_a_name_of_its_own(conditions: tuple[Condition, ...]) -> None:
    assert len(conditions) == 4
    assert len({one.label for one in conditions}) == 4
    assert [one.phase for one in conditions] == ["sft", "sft", "rl", "rl"]


def test_only_the_last_evaluation_on_test_puzzles_counts(conditions: tuple[Condition, ...]) -> None:
    after = find(conditions, "rl", "macro")
    assert {row.update for row in after.records} == {80}
    assert {row.split for row in after.records} == {"test"}
    assert after.k == 4
    assert after.levels == ("T1", "T2", "T3", "T4", "T5")


def test_a_collapsed_run_counts_as_failed(conditions: tuple[Condition, ...]) -> None:
    after = find(conditions, "rl", "atomic")
    grid = after.grid()
    assert after.collapsed == {1}
    assert grid.values[1].sum() == 0
    assert grid.values[0].sum() > 0
    assert find(conditions, "sft", "atomic").grid().values[1].sum() > 0


def test_a_grid_holds_the_mean_over_attempts(conditions: tuple[Condition, ...]) -> None:
    one = find(conditions, "sft", "macro")
    grid = one.grid()
    mine = [row.solved for row in one.records if (row.seed, row.instance_key) == (1, grid.puzzles[3])]
    assert grid.values[1, 3] == np.mean(mine)
    assert one.grid("pass").values[1, 3] == float(any(mine))


def test_scores_fall_with_distance_and_pass_is_never_below_avg(conditions: tuple[Condition, ...]) -> None:
    one = find(conditions, "rl", "macro")
    scores = [one.estimate("avg", level) for level in one.levels]
    assert scores[0].value > scores[-1].value
    for level, score in zip(one.levels, scores, strict=True):
        assert score.low <= score.value <= score.high
        assert one.estimate("pass", level).value >= score.value


def test_h50_recovers_the_truth_of_the_made_up_policy(conditions: tuple[Condition, ...]) -> None:
    fit = find(conditions, "sft", "atomic").horizon
    assert fit.low <= np.log(0.5) / np.log(0.86) <= fit.high


def test_estimates_do_not_depend_on_what_was_asked_before(results: Results) -> None:
    first = conditions_of(results)[0]
    again = conditions_of(results)[0]
    again.estimate("pass")
    assert first.estimate("avg", "T2") == again.estimate("avg", "T2")


def test_equal_sft_evaluations_of_two_cells_are_one_condition(results: Results) -> None:
    twin = [
        replace(
            run,
            cell=replace(run.cell, cell="study-twin", label="twin"),
            evaluations=tuple(replace(row, cell="study-twin") for row in run.evaluations),
        )
        for run in results.runs
    ]
    doubled = conditions_of(replace(results, runs=(*results.runs, *twin)))
    started = [one for one in doubled if one.phase == "sft"]
    assert len(started) == 2
    assert all("study-twin" in one.cells for one in started)


def test_symmetric_copies_keep_their_own_columns(results: Results) -> None:
    one = conditions_of(results)[0]
    copied = replace(one, records=(*one.records, *one.records))
    grid = copied.grid()
    assert len(grid.puzzles) == 2 * len(one.grid().puzzles)
    assert np.nanmean(grid.values) == pytest.approx(np.nanmean(one.grid().values))


def test_an_unknown_score_and_an_empty_choice_are_refused(conditions: tuple[Condition, ...]) -> None:
    with pytest.raises(ValueError, match="known: avg, pass"):
        conditions[0].grid("mean")
    with pytest.raises(ValueError, match="no evaluations"):
        conditions[0].grid("avg", lambda row: row.level == "L9")


def test_a_policy_before_rl_is_not_said_to_be_trained_on_a_level(results: Results) -> None:
    trained = {"cell": {"train": (("T1",), ("T2", "T3"))}}
    cell = replace(results.runs[0].cell, label="atomic, trained on T1, then T2+T3, slip 0.01", settings=trained)
    assert _before_rl(cell) == "atomic, slip 0.01"
    cell = replace(cell, label="macro, SFT only, slip 0.01", settings={}, train_levels=())
    assert _before_rl(cell) == "macro, slip 0.01"


def test_a_second_policy_before_rl_says_what_its_cell_is_and_how_it_runs(conditions: tuple[Condition, ...]) -> None:
    first = find(conditions, "sft", "atomic")
    cell = replace(first.cell, cell="other", interface="split", label="split, SFT only")
    named = _named([first, replace(first, cell=cell), replace(first, cell=replace(cell, cell="third"))])
    assert [one.label for one in named] == [
        "atomic · SFT only",
        "split · SFT only · run as atomic",
        "split · SFT only · run as atomic (third)",
    ]


def test_boards_with_trained_policies_come_first(results: Results) -> None:
    large = tuple(
        replace(
            run, cell=replace(run.cell, size=9, cell=f"large-{run.cell.cell}"), updates=(), evaluations=untrained(run)
        )
        for run in results.runs
    )
    found = conditions_of(replace(results, runs=(*large, *results.runs)))
    boards = list(dict.fromkeys(one.cell.size for one in found))
    assert boards == [results.runs[0].cell.size, 9]


def untrained(run: Run) -> tuple[EvaluationRecord, ...]:
    return tuple(replace(row, phase="expert") for row in run.evaluations if row.phase == "rl")
