"""Live curves of a training in TensorBoard, trackio or Weights & Biases, beside the records; off by default.

Records stay the one source of every figure: a tracker only shows the same numbers while they arise. What is sent are
the metrics of each update and the success of each evaluation by level; nothing of prompts, replies or keys. The
connection to each service is accelerate's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from puzzles.names import check_name
from reports.records import EvaluationRecord, Record, UpdateRecord

if TYPE_CHECKING:
    from studies.runner import CellJob

TRACKERS = ("tensorboard", "trackio", "wandb")
"""Services by name."""
PROJECT = "horizon-bench"
FOLDER = "tensorboard"
"""Folder of TensorBoard's files, within a run's own."""


class Tracking:
    """Sends the records of one run to a service."""

    def __init__(self, tracker: Any) -> None:
        """Take accelerate's tracker, already started."""
        self._tracker = tracker

    def log(self, records: Iterable[Record]) -> None:
        """Send the numbers of new records, each with the update that it belongs to."""
        solved: dict[int, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
        for record in records:
            if isinstance(record, UpdateRecord) and record.phase == "rl":
                self._send({f"train/{name}": value for name, value in record.metrics.items()}, record.update)
            elif isinstance(record, EvaluationRecord):
                solved[record.update][f"{record.split}/{record.interface}/{record.level}"].append(record.solved)
        for update, levels in solved.items():
            self._send({f"success/{name}": sum(seen) / len(seen) for name, seen in levels.items()}, update)

    def close(self) -> None:
        """End the run at the service."""
        self._tracker.finish()

    def _send(self, values: dict[str, float], update: int) -> None:
        if values:
            self._tracker.log(values, step=update)


def start_tracking(name: str, job: CellJob) -> Tracking | None:
    """Return what sends a run's numbers to a service; None for the name "".

    Raises:
        ValueError: for a service that is not known.
        ImportError: if its package is missing, naming the command that installs it.
    """
    if not name:
        return None
    check_name("tracker", name, TRACKERS)
    from accelerate import PartialState, tracking

    PartialState()  # the trackers write to accelerate's log, which asks it which process this is
    run = f"{job.study}/{job.cell.name}/{job.seed}"
    group = {"name": run, "group": f"{job.study}/{job.cell.name}"}
    made: dict[str, Any] = {
        "tensorboard": lambda: tracking.TensorBoardTracker(".", job.folder / FOLDER),
        "trackio": lambda: tracking.TrackioTracker(PROJECT, **group),
        "wandb": lambda: tracking.WandBTracker(PROJECT, **group, dir=str(Path(job.results))),
    }
    tracker = made[name]()
    try:
        tracker.start()
    except ImportError as error:
        raise ImportError(f"tracking with {name} needs its package: pip install {name}") from error
    return Tracking(tracker)
