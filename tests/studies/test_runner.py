from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from studies.locks import locked
from studies.matrix import SCALES, STUDIES, parse_name
from studies.pool import Report
from studies.presets import PRESETS
from studies.runner import LOG_NAME, CellJob, plan, run_study

PRESET = PRESETS["smoke"]
CELLS = STUDIES["smoke"].cells(SCALES["t"])


def fake_work(job: Any, report: Report) -> str:
    """Leave a finished folder behind; one cell fails."""
    print("chatter of a library")
    if job.supervised_only:
        job.supervised_folder.mkdir(parents=True)
        (job.supervised_folder / "done.json").write_text("{}")
        return "made"
    if job.cell.learner == "random":
        raise KeyError("broken cell")
    if job.cell.trained and not (job.supervised_folder / "done.json").exists():
        raise ValueError("no SFT to start from")
    report(0.5, "half way")
    job.folder.mkdir(parents=True, exist_ok=True)
    with (job.folder / "ran").open("a") as file:
        file.write("x")
    (job.folder / "done.json").write_text("{}")
    return "fine"


@pytest.mark.parametrize("workers", [0, 2])
def test_failures_are_listed_others_finish_and_a_second_run_takes_up_what_is_left(
    tmp_path: pathlib.Path, workers: int, capfd: pytest.CaptureFixture[str]
) -> None:
    failures = run_study("smoke", CELLS, range(2), PRESET, tmp_path, fake_work, workers)
    expected = {f"{cell.name}/{seed}" for cell in CELLS for seed in range(2) if cell.learner == "random"}
    assert {failure.key for failure in failures} == expected
    assert {failure.error for failure in failures} == {"KeyError: 'broken cell'"}
    done = sorted(path.parent.parent.name for path in tmp_path.glob("smoke/study-*/1/done.json"))
    assert done == sorted(cell.name for cell in CELLS if cell.learner != "random")
    again = run_study("smoke", CELLS, range(2), PRESET, tmp_path, fake_work, workers)
    assert {failure.key for failure in again} == expected
    assert {path.read_text() for path in tmp_path.glob("smoke/*/*/ran")} == {"x"}
    assert "KeyError" in (tmp_path / "smoke" / "study-rush-atomic-r-random" / "0" / "error.txt").read_text()
    output = capfd.readouterr().out
    assert "14 finished runs" in output
    if workers:
        assert "chatter" not in output
        assert "chatter" in (tmp_path / "smoke" / LOG_NAME).read_text()


def test_a_second_run_on_the_same_study_is_refused(tmp_path: pathlib.Path) -> None:
    with locked(tmp_path / "smoke"), pytest.raises(ValueError, match="in use by process"):
        run_study("smoke", CELLS, range(1), PRESET, tmp_path, fake_work, 0)


def test_single_cells_of_one_folder_may_run_beside_each_other(tmp_path: pathlib.Path) -> None:
    one, other = (parse_name(name) for name in ("study-rush-atomic-r-expert", "study-sudoku-atomic-l-expert"))
    with locked(tmp_path / "single" / other.name):
        assert run_study("single", [one], range(1), PRESET, tmp_path, fake_work, 0) == []


def test_sft_comes_first_once_for_each_seed_and_all_that_share_it_wait_for_it(tmp_path: pathlib.Path) -> None:
    jobs = plan("smoke", CELLS, range(2), PRESET, tmp_path)
    assert [job.key for job in jobs[:2]] == ["sft t/0", "sft t/1"]
    assert all(job.needs == (f"sft t/{job.argument.seed}",) for job in jobs[2:] if job.argument.cell.trained)
    assert all(job.needs == () for job in jobs[2:] if not job.argument.cell.trained)
    costs = [job.cost for job in jobs[2:]]
    assert costs == sorted(costs, reverse=True)


def test_an_sft_is_planned_only_for_cells_that_are_still_to_run(tmp_path: pathlib.Path) -> None:
    for cell in CELLS:
        folder = CellJob(str(tmp_path), "smoke", cell, 0, PRESET).folder
        if cell.trained:
            folder.mkdir(parents=True)
            (folder / "done.json").write_text(json.dumps({}))
    jobs = plan("smoke", CELLS, range(1), PRESET, tmp_path)
    assert not any(job.argument.supervised_only or job.argument.cell.trained for job in jobs)


def test_a_study_of_nothing_left_returns_at_once(tmp_path: pathlib.Path) -> None:
    cell = CELLS[3]
    assert run_study("smoke", [cell], range(1), PRESET, tmp_path, fake_work, 0) == []
    assert run_study("smoke", [cell], range(1), PRESET, tmp_path, fake_work, 0) == []
