from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reports.records import UpdateRecord
from studies.cell import run_job
from studies.factors import parse_name
from studies.presets import find_preset
from studies.runner import CellJob
from studies.tracking import FOLDER, TRACKERS, Tracking, start_tracking

SMALL = replace(
    find_preset("smoke"), updates=2, evaluate_every=1, test_puzzles=2, interval_puzzles=2, puzzles_per_update=4
)
CELL = parse_name("study-sudoku-atomic-t3-outcome")
WITH_TENSORBOARD = importlib.util.find_spec("tensorboard") is not None


class Kept:
    """A tracker that keeps what it is sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[int, dict[str, float]]] = []
        self.finished = False

    def log(self, values: dict[str, float], step: int) -> None:
        self.sent.append((step, values))

    def finish(self) -> None:
        self.finished = True


def test_a_tracker_sees_each_update_and_evaluation_and_the_records_do_not_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Kept()
    monkeypatch.setattr("studies.cell.start_tracking", lambda name, job: Tracking(kept) if name else None)
    jobs = [CellJob(str(tmp_path / (track or "none")), "one", CELL, 0, SMALL, track=track) for track in ("", "kept")]
    for job in jobs:
        run_job(job, lambda share, note: None)
    assert kept.finished
    trained = [(step, values) for step, values in kept.sent if "train/success" in values]
    assert [step for step, _ in trained] == [1, 2]
    solved = [
        (step, values["success/test/atomic/T3"]) for step, values in kept.sent if "success/test/atomic/T3" in values
    ]
    assert [step for step, _ in solved] == [0, 2]
    assert all(0 <= share <= 1 for _, share in solved)
    records = [job.folder / "records.jsonl" for job in jobs]
    assert records[0].read_bytes() == records[1].read_bytes()


def test_tracking_is_off_unless_named() -> None:
    assert start_tracking("", CellJob("results", "one", CELL, 0, SMALL)) is None


def test_an_unknown_service_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="did you mean 'tensorboard'"):
        start_tracking("tensorbord", CellJob(str(tmp_path), "one", CELL, 0, SMALL))


@pytest.mark.parametrize("name", TRACKERS)
def test_a_missing_package_is_named_with_the_command_that_installs_it(name: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(name) is not None:
        pytest.skip(f"{name} is installed")
    with pytest.raises(ImportError, match=f"pip install {name}"):
        start_tracking(name, CellJob(str(tmp_path), "one", CELL, 0, SMALL))


@pytest.mark.parametrize("name", TRACKERS)
def test_a_service_takes_records_of_updates_and_evaluations(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    tracking = start_tracking(name, CellJob(str(tmp_path), "one", CELL, 0, SMALL))
    assert tracking is not None
    tracking.log([UpdateRecord("one", CELL.name, 0, "rl", 1, "T3", {"success": 0.5}, 1, 1, 1)])
    tracking.close()


@pytest.mark.skipif(not WITH_TENSORBOARD, reason="needs the package tensorboard")
def test_tensorboard_reads_back_what_was_sent(tmp_path: Path) -> None:
    accumulator: Any = importlib.import_module("tensorboard.backend.event_processing.event_accumulator")
    job = CellJob(str(tmp_path), "one", CELL, 0, SMALL, track="tensorboard")
    run_job(job, lambda share, note: None)
    events = accumulator.EventAccumulator(str(job.folder / FOLDER))
    events.Reload()
    assert [event.step for event in events.Scalars("train/success")] == [1, 2]
