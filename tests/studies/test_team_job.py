"""What a launcher of teams is given and what becomes of its answer; `tests/on_demand/team_check.py` trains with one."""

from __future__ import annotations

import pathlib
import sys

import pytest

from studies.matrix import parse_name
from studies.presets import PRESETS
from studies.runner import CellJob
from studies.team_job import TeamWork, launch_words

ANSWER = """
import json, pathlib, pickle, sys
module, folder = sys.argv[-2:]
assert sys.argv[-3:-1] == ["-m", "studies.team_job"], sys.argv
job = pickle.loads((pathlib.Path(folder) / "job.pickle").read_bytes())
said = {"result": "done " + job.cell.name, "refused": "not with this" if job.seed == 1 else ""}
if job.seed == 2:
    sys.exit(7)
(pathlib.Path(folder) / "answer.json").write_text(json.dumps(said))
"""
"""A launcher that answers by the seed: done, refused, or dead."""


def job(results: pathlib.Path, seed: int) -> CellJob:
    cell = parse_name("study-sudoku-macro-t2-subgoal")
    return CellJob(str(results), "single", cell, seed, PRESETS["smoke"])


@pytest.fixture
def work(tmp_path: pathlib.Path) -> TeamWork:
    launcher = tmp_path / "launcher.py"
    launcher.write_text(ANSWER, encoding="utf8")
    return TeamWork((sys.executable, str(launcher)))


def test_the_answer_of_the_team_is_what_the_job_became(work: TeamWork, tmp_path: pathlib.Path) -> None:
    notes: list[tuple[float, str]] = []
    found = work(job(tmp_path, 0), lambda share, note: notes.append((share, note)))
    assert found == f"done {job(tmp_path, 0).cell.name}"
    assert notes == [(0.0, "team")]


def test_a_refusal_comes_back_in_its_own_words(work: TeamWork, tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match=r"^not with this$"):
        work(job(tmp_path, 1), lambda share, note: None)


def test_a_team_that_died_is_told_with_its_status_and_command(work: TeamWork, tmp_path: pathlib.Path) -> None:
    with pytest.raises(RuntimeError, match=r"^the team died \(exit status 7\): .*launcher\.py -m studies\.team_job$"):
        work(job(tmp_path, 2), lambda share, note: None)


def test_a_team_has_two_processes_or_a_launcher_of_its_own() -> None:
    assert launch_words(3, "")[-2:] == ("--nproc-per-node", "3")
    assert launch_words(0, "srun 'my launcher'") == ("srun", "my launcher")
    for processes, launcher, words in ((2, "srun", "not both"), (1, "", "must be at least 2")):
        with pytest.raises(ValueError, match=words):
            launch_words(processes, launcher)
