"""Very small runs of single cells in this process: what tests of training share."""

from __future__ import annotations

import pathlib
from dataclasses import replace

import pytest

from horizon_bench.training.configs import SftConfig
from horizon_bench.training.settings import ModelSize
from studies import training_settings
from studies.cell import run_job
from studies.matrix import parse_name
from studies.presets import PRESETS
from studies.runner import CellJob

SMALL = replace(
    PRESETS["smoke"],
    updates=6,
    puzzles_per_update=4,
    test_puzzles=2,
    interval_puzzles=1,
    evaluate_every=2,
    untrained_puzzles=3,
    stored_puzzles=1,
)
SHORT = replace(SMALL, updates=2, interval_puzzles=2, evaluate_every=1)


class Killed(BaseException):
    """Stands for a kill: nothing in the product catches it."""


def shrink(monkeypatch: pytest.MonkeyPatch, **changes: object) -> None:
    """Make the model tiny and its SFT short."""
    quick = ModelSize(16, 1), replace(SftConfig(steps=8, boards=8, accuracy_states=20), **changes)  # type: ignore[arg-type]
    monkeypatch.setattr(training_settings, "small_model", lambda cell: quick)


def job(results: pathlib.Path, name: str, seed: int = 0, **changes: object) -> CellJob:
    """Return the run of a cell under `SMALL`, some sizes changed."""
    return CellJob(str(results), "test", parse_name(name), seed, replace(SMALL, **changes))  # type: ignore[arg-type]


def run(one: CellJob) -> str:
    """Do a job that reports to nobody."""
    return run_job(one, lambda share, note: None)
