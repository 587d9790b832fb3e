"""What training records: its curve from the start on, and all that it cost."""

from __future__ import annotations

import json
import pathlib

import pytest

from reports.collapse import curves_of
from reports.records import EvaluationRecord, UpdateRecord, read
from studies.matrix import parse_name
from studies.runner import CellJob
from tests.studies.small_runs import SHORT, run, shrink


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch)


def rows_of(results: pathlib.Path, name: str) -> list[object]:
    job = CellJob(str(results), "test", parse_name(name), 0, SHORT)
    run(job)
    return list(read(job.folder / "records.jsonl"))


def test_the_collapse_detector_sees_the_curve_from_the_start_to_the_end(tmp_path: pathlib.Path) -> None:
    rows = rows_of(tmp_path, "study-sudoku-atomic-t2-outcome")
    curves = curves_of([row for row in rows if isinstance(row, EvaluationRecord | UpdateRecord)])
    (whole,) = (curve for curve in curves.success if curve.level == "all")
    assert whole.updates == (0, 1, 2)


@pytest.mark.parametrize(
    ("name", "width"),
    [
        ("study-sudoku-split-t2-outcome-asatomic", 16),
        ("study-sudoku-fixed3-t2-outcome-rate0p5-onlypositive", 16),
        ("study-sudoku-macro-t2-grponostd-width2", 32),
    ],
)
def test_cells_of_the_new_factors_run(tmp_path: pathlib.Path, name: str, width: int) -> None:
    rows = rows_of(tmp_path, name)
    tested = {row.interface for row in rows if isinstance(row, EvaluationRecord) and row.split == "test"}
    cell = parse_name(name)
    assert tested == {cell.interface, cell.evaluation_interface}
    (config,) = (tmp_path / "_sft").rglob("model/config.json")
    assert json.loads(config.read_text())["hidden_size"] == width


def test_continuations_count_as_cost(tmp_path: pathlib.Path) -> None:
    rows = rows_of(tmp_path, "study-sudoku-atomic-t2-vineppo")
    first = next(row for row in rows if isinstance(row, UpdateRecord) and row.phase == "rl")
    own = round(first.metrics["tokens"] * first.metrics["episodes"])
    assert first.total_tokens == own + first.metrics["value_tokens"]
    assert first.total_environment_calls > first.metrics["value_decisions"] > 0
