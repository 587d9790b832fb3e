"""A user's estimator takes part in a study, and nothing of the suite is edited for it."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from horizon_bench.credit import ESTIMATORS, NEEDS_VALUES
from reports.conditions import conditions_of
from reports.records import EvaluationRecord, UpdateRecord, read, read_cell
from reports.results import load_results
from studies.cli import main
from studies.matrix import SCALES, STUDIES, parse_name
from studies.own_estimator import beside, learner_word, needs_critic, resolve
from studies.presets import PRESETS
from tests.studies.small_runs import SHORT, shrink

MODULE = """
import numpy as np
import horizon_bench.credit

def first_decision(batch):
    '''All credit of a solved episode to its first decision.'''
    advantages = np.zeros(batch.turns)
    starts = batch.offsets[:-1][batch.lengths > 0]
    advantages[starts] = 1.0
    return advantages

def rloo(batch):
    return np.zeros(batch.turns)

def with_critic(batch):
    return -batch.values

horizon_bench.credit.register_estimator("my-critic", with_critic, needs="critic")
"""


@pytest.fixture
def package(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pathlib.Path]:
    """A folder with a module of estimators, the working folder of the test."""
    (tmp_path / "my_estimators.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    yield tmp_path
    sys.path[:] = before
    sys.modules.pop("my_estimators", None)
    ESTIMATORS.pop("my-critic", None)
    NEEDS_VALUES.pop("my-critic", None)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make model, SFT and preset tiny."""
    shrink(monkeypatch)
    monkeypatch.setitem(PRESETS, "cpu", replace(SHORT, name="cpu"))


@pytest.mark.parametrize(("name", "word"), [("first_decision", "firstdecision"), ("my-critic", "mycritic")])
def test_a_study_runs_with_an_estimator_from_another_package(
    package: pathlib.Path, quick: None, name: str, word: str
) -> None:
    spec = f"my_estimators:{name}"
    call = ["study", "run", "study-sudoku-atomic-t2-outcome", "--estimator", spec, "--workers", "0", "--no-report"]
    assert main(call) == 0
    folders = sorted((package / "results" / "single").glob("study-*"))
    assert [folder.name for folder in folders] == [
        f"study-sudoku-atomic-t2-{learner}" for learner in sorted(["outcome", word])
    ]
    own = next(folder / "0" for folder in folders if folder.name.endswith(word))
    cell = read_cell(own)
    assert cell.estimator == spec
    assert cell.settings["training"]["update"]["estimator"] == (spec if name == "first_decision" else name)  # type: ignore[index]
    rows = read(own / "records.jsonl")
    assert [row.update for row in rows if isinstance(row, UpdateRecord) and row.phase == "rl"] == [1, 2]
    assert {row.phase for row in rows if isinstance(row, EvaluationRecord)} == {"sft", "rl"}
    labels = {one.label for one in conditions_of(load_results(package / "results"))}
    assert any(word in label for label in labels)


def test_your_estimator_stands_beside_every_cell_of_plain_outcomes(package: pathlib.Path) -> None:
    cells = STUDIES["horizon"].cells(SCALES["t"])
    more = beside(cells, "my_estimators:first_decision")
    own = [cell for cell in more if cell.estimator]
    assert [cell for cell in more if not cell.estimator] == list(cells)
    assert [cell.name for cell in own] == [
        cell.name.replace("outcome", "firstdecision") for cell in cells if cell.learner == "outcome"
    ]
    assert all(cell.trained for cell in own)


def test_a_name_of_the_suite_is_never_taken_for_yours(package: pathlib.Path) -> None:
    assert learner_word("my_estimators:rloo") == "ownrloo"
    assert resolve("my_estimators:rloo") == "my_estimators:rloo"
    assert resolve("rloo") == "rloo"


def test_a_registered_name_brings_its_needs(package: pathlib.Path) -> None:
    cell = beside([parse_name("study-sudoku-atomic-t3-outcome")], "my_estimators:my-critic")[1]
    assert needs_critic(cell)
    assert PRESETS["cpu"].supervised_name(cell) == "t-critic"
    assert not needs_critic(parse_name("study-sudoku-atomic-t3-vineppo"))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("my_estimators:first_decison", "did you mean 'first_decision'"),
        ("nowhere_at_all:thing", "cannot import module 'nowhere_at_all'"),
        (":thing", "MODULE:NAME"),
    ],
)
def test_an_estimator_that_is_not_there_is_refused(package: pathlib.Path, spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        resolve(spec)


def test_cells_without_plain_outcomes_have_no_place_for_yours(package: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="has no place"):
        beside(STUDIES["execution"].cells(SCALES["t"]), "my_estimators:first_decision")
