"""A run killed by signal 9 goes on and ends as if nothing had happened; `tox -e faults` kills fifty more."""

from __future__ import annotations

import multiprocessing
import pathlib
from typing import Any

import pytest

from tests.studies.broken_runs import CELL, Fault, Runner, differences, left_behind, words_of

pytestmark = pytest.mark.skipif(
    "forkserver" not in multiprocessing.get_all_start_methods(), reason="the system forks no processes"
)
PLACES = {
    "sft": Fault(stage="sft", calls=3000),
    "rollout": Fault(stage="rollout", entry=1, calls=2000),
    "update": Fault(stage="update", entry=1, calls=900),
    "append": Fault(write=45),
    "checkpoint": Fault(stage="checkpoint", entry=1, calls=400),
    "evaluation": Fault(stage="evaluation", entry=4, calls=2500),
}
"""Where runs are killed: in each stage, the last record in the middle of its line."""


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def whole(runner: Runner) -> dict[str, Any]:
    """Return what a run leaves that nobody disturbs."""
    ended = runner.run(words_of(runner.folder / "whole"))
    assert ended.status == 0, ended.output
    return left_behind(runner.folder / "whole")


@pytest.mark.parametrize("stage", PLACES)
def test_a_run_killed_in_any_stage_leaves_what_an_unbroken_one_leaves(
    runner: Runner, whole: dict[str, Any], tmp_path: pathlib.Path, stage: str
) -> None:
    words = words_of(tmp_path / "results")
    killed = runner.run(words, PLACES[stage])
    assert (killed.status, killed.stage) == (-9, stage)
    assert not list((tmp_path / "results" / "single" / CELL).rglob("done.json"))
    resumed = runner.run(words)
    assert resumed.status == 0, resumed.output
    assert differences(left_behind(tmp_path / "results"), whole) == []
