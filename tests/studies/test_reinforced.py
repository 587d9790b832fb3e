"""What training records: its curve from the start on, and all that it cost."""

from __future__ import annotations

import json
import pathlib
from dataclasses import replace

import pytest

from horizon_bench.training.configs import SftConfig
from horizon_bench.training.settings import ModelSize
from reports.collapse import curves_of
from reports.records import EvaluationRecord, UpdateRecord, read
from studies import training_settings
from studies.cell import run_job
from studies.matrix import parse_name
from studies.presets import PRESETS
from studies.runner import CellJob

PRESET = replace(
    PRESETS["smoke"],
    updates=2,
    puzzles_per_update=4,
    test_puzzles=2,
    interval_puzzles=2,
    evaluate_every=1,
    stored_puzzles=1,
)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ModelSize(16, 1), SftConfig(steps=8, boards=8, accuracy_states=20)
    monkeypatch.setattr(training_settings, "small_model", lambda cell: model)


def rows_of(results: pathlib.Path, name: str) -> list[object]:
    job = CellJob(str(results), "test", parse_name(name), 0, PRESET)
    run_job(job, lambda share, note: None)
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
