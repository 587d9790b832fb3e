from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reports.gather_critics import BINS, calibration_panels, critic_pictures, pictures_of, read_part_of
from reports.results import Results, load_results


@pytest.fixture(scope="module")
def judged(make, tmp_path_factory: pytest.TempPathFactory) -> Results:
    arm = make.arm("study-sudoku-atomic-t3-mira", "atomic, MiRA, trained on T3", estimator="mira", critics=True)
    return load_results(make.results(tmp_path_factory.mktemp("judged"), (arm,), seeds=2, puzzles=2))


def test_calibrated_critics_lie_on_the_diagonal(judged: Results) -> None:
    panels = calibration_panels(judged.runs)
    assert [panel.title.rpartition(": ")[2] for panel in panels] == ["value critic", "potential critic"]
    for panel in panels:
        diagonal, series = panel.series
        assert diagonal.curve == ((0.0, 0.0), (100.0, 1.0))
        assert len(series.points) == BINS
        for point in series.points:
            assert point.estimate.low <= point.estimate.value <= point.estimate.high
            assert point.x / 100 == pytest.approx(point.estimate.value, abs=0.04)
        assert "2 seeds" in panel.note


def test_one_solved_and_one_failed_episode_are_shown_by_rule(judged: Results) -> None:
    solved, failed = critic_pictures(judged.runs)
    assert ": solved after" in solved.title
    assert ": failed (wrong) after" in failed.title
    names = [series.label for series in solved.series]
    assert names == ["value critic: chance of success", "potential critic: progress", "progress label p*"]
    assert len(failed.series) == 2
    label = solved.series[2].points
    assert (label[0].estimate.value, label[-1].estimate.value) == (0.0, 1.0)
    rows = read_part_of(judged.runs[0])
    longest = max(len(one.episode.turns) for one in rows if one.episode.solved)
    assert len(solved.series[0].points) == longest


def test_runs_without_critics_have_no_pictures(judged: Results, small: Path) -> None:
    runs = load_results(small).runs
    assert calibration_panels(runs) == ()
    assert critic_pictures(runs) == ()
    rows = [replace(one, potentials=()) for one in read_part_of(judged.runs[0])]
    assert pictures_of(rows, "a run") == ()
