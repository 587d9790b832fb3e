"""A run of a study by two processes of torchrun leaves the records of one process: `tox -e team`."""

from __future__ import annotations

import pathlib
from dataclasses import replace

import pytest

from horizon_bench.policies.random_model import write_random_model
from reports.records import EvaluationRecord, UpdateRecord, read
from studies.cell import run_job
from studies.matrix import parse_name
from studies.presets import PRESETS, LanguageScale
from studies.runner import CellJob
from studies.team_job import TeamWork, launch_words

SCALE = LanguageScale(macro_cap=6, single_cap=6, traces=8, sft_batch=4, micro_batch=4, learning_rate=1e-3)
PRESET = replace(
    PRESETS["paper"], language=SCALE, updates=2, puzzles_per_update=3, attempts_per_puzzle=2, test_puzzles=2,
    interval_puzzles=1, evaluate_every=1, attempts=1, stored_puzzles=1,
)  # fmt: skip


def test_two_processes_leave_the_records_of_one(tmp_path: pathlib.Path) -> None:
    model = write_random_model(tmp_path / "model", layers=1)
    preset = replace(PRESET, model=str(model))
    found = []
    for work, results in ((run_job, "one"), (TeamWork(launch_words(2, "")), "two")):
        job = CellJob(str(tmp_path / results), "single", parse_name("study-sudoku-macro-t2-subgoal"), 0, preset)
        assert "after RL" in work(job, lambda share, note: None)
        assert (job.folder / "done.json").exists()
        found.append(read(job.folder / "records.jsonl"))
    one, two = found
    assert [type(row) for row in one] == [type(row) for row in two]
    for ours, theirs in zip(one, two, strict=True):
        if isinstance(ours, EvaluationRecord):
            assert ours == theirs
        elif isinstance(ours, UpdateRecord):
            assert theirs.metrics == pytest.approx(ours.metrics, rel=1e-3, abs=1e-4)


def test_what_a_run_refuses_comes_back_in_its_own_words(tmp_path: pathlib.Path) -> None:
    preset = replace(PRESET, model=str(write_random_model(tmp_path / "model", layers=1)))
    job = CellJob(str(tmp_path), "single", parse_name("study-sudoku-macro-t2-ppo"), 0, preset)
    with pytest.raises(ValueError, match="only the small model has"):
        TeamWork(launch_words(2, ""))(job, lambda share, note: None)
