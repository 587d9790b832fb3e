"""Very small runs of a study in processes that can be killed anywhere: what the fault tests share.

Every run is a process forked from a server that has imported everything already, so that a run costs a second or two.
It is killed by signal 9 for good: from outside at any moment, or by itself at a named place.
"""

from __future__ import annotations

import json
import mmap
import multiprocessing
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

STAGES = ("elsewhere", "sft", "rollout", "update", "append", "checkpoint", "evaluation", "report")
"""What a run may be at; the last seven are those that a kill must have hit."""
CELL, MIRA_CELL = "study-sudoku-atomic-t3-outcome", "study-sudoku-atomic-t3-mira"
SIZES = ("test_puzzles=1", "interval_puzzles=1", "puzzles_per_update=2", "attempts_per_puzzle=2", "attempts=2")
PRELOADED = [
    "accelerate",
    "reports.page",
    "reports.figures",
    "scipy.stats",
    "pyarrow.parquet",
    "studies.cell",
    "studies.commands.report",
    "studies.commands.study",
    "studies.reinforced",
    "horizon_bench.mira.phases",
    "transformers",
]
PATIENCE = 1800
"""Seconds after which a run that should have ended counts as hung."""


def words_of(results: Path, cell: str = CELL, updates: int = 2, *, report: bool = False) -> list[str]:
    """Return the words of the command that makes or resumes the run."""
    sizes = [*SIZES, "evaluate_every=1", "stored_puzzles=1"]
    options = ["--preset", "smoke", "--seeds", "1", "--updates", str(updates), "--workers", "0", "--sizes", *sizes]
    return ["study", "run", cell, *options, "--results", str(results), "--report" if report else "--no-report"]


@dataclass(frozen=True)
class Fault:
    """Where a run kills itself."""

    operation: int = -1
    """Just before this operation on a file of the results, counted from 0."""
    write: int = -1
    """In the middle of this written record, counted from 0."""
    stage: str = ""
    """Within this stage ..."""
    entry: int = 0
    """... the time that it is entered, counted from 0 ..."""
    calls: int = 0
    """... once so many functions were called in it."""


class Marks:
    """What a run is at and how many operations it has done, in a file that outlives it."""

    def __init__(self, path: Path) -> None:
        """Open the marks, at `elsewhere` and 0 if they are new."""
        if not path.exists():
            path.write_bytes(bytes(16))
        self._file = path.open("r+b")
        self._map = mmap.mmap(self._file.fileno(), 16)

    @property
    def stage(self) -> str:
        """The stage a run is at, or was at when it died."""
        return STAGES[self._map[0]]

    @stage.setter
    def stage(self, name: str) -> None:
        self._map[0] = STAGES.index(name)

    def count(self, place: int) -> int:
        """Return how many operations (place 4) or records (place 8) were written."""
        return int.from_bytes(self._map[place : place + 4], "little")

    def one_more(self, place: int) -> int:
        """Count one more and return how many there were before."""
        before = self.count(place)
        self._map[place : place + 4] = (before + 1).to_bytes(4, "little")
        return before


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    status: int
    """Exit status; negative for a signal."""
    stage: str
    """What it was at."""
    seconds: float
    """How long it worked, as `worked` measures it."""
    operations: int
    """Operations on files of the results."""
    writes: int
    """Records written."""
    output: str
    """What it printed, errors included."""


class Runner:
    """Starts runs and waits for them."""

    def __init__(self, folder: Path) -> None:
        """Prepare to run; logs and marks go to `folder`."""
        self.folder = folder
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(PRELOADED)
        self._number = 0

    def run(self, words: Sequence[str], fault: Fault | None = None, *, after: float | None = None) -> Ended:
        """Run a command to its end, or kill it `after` some seconds of work.

        Args:
            words: of the command.
            fault: where it kills itself.
            after: seconds that it has worked when it is killed from outside; None lets it run.
        """
        process, marks, log = self.start(words, fault)
        began, seconds = time.perf_counter(), 0.0
        while process.is_alive() and time.perf_counter() - began < PATIENCE:
            seconds = max(seconds, worked(process.pid or 0, began))
            if after is not None and seconds >= after:
                process.kill()
            process.join(0.002 if after is not None else 0.02)
        process.join(1)
        if process.exitcode is None:
            process.kill()
            raise TimeoutError(f"{words} hangs at {marks.stage}")
        output = log.read_text(encoding="utf8", errors="replace")
        return Ended(process.exitcode, marks.stage, seconds, marks.count(4), marks.count(8), output)

    def start(self, words: Sequence[str], fault: Fault | None = None) -> tuple[BaseProcess, Marks, Path]:
        """Start a command; returns once it is about to begin."""
        self._number += 1
        marks, log = self.folder / f"marks-{self._number}", self.folder / f"log-{self._number}"
        seen = Marks(marks)
        process = self._context.Process(target=play, args=(list(words), marks, log, fault or Fault()))
        process.start()
        until = time.perf_counter() + PATIENCE
        while not log.exists() and process.is_alive() and time.perf_counter() < until:
            time.sleep(0.001)
        return process, seen, log


def worked(process: int, began: float) -> float:
    """Return the processor seconds of a process; where the system does not tell, wall-clock seconds since `began`.

    A moment in processor time falls on the same stage however busy the machine is.
    """
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0 if Path("/proc/self/stat").exists() else time.perf_counter() - began
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def play(words: list[str], marks_path: Path, log: Path, fault: Fault) -> None:
    """Run a command in this process; exits with its status."""
    import torch

    from studies import cli

    torch.set_num_threads(1)
    marks = Marks(marks_path)
    _make_small()
    _mark_stages(marks, fault)
    results = words[words.index("--results") + 1] if "--results" in words else os.sep
    _break(marks, results, fault)
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    status = cli.main(words)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _make_small() -> None:
    """Make the model and its SFT tiny."""
    from horizon_bench.training.configs import SftConfig
    from horizon_bench.training.settings import ModelSize
    from studies import training_settings

    model = ModelSize(16, 1), SftConfig(steps=8, boards=4, accuracy_states=4)
    training_settings.small_model = lambda cell: model


def _mark_stages(marks: Marks, fault: Fault) -> None:
    """Let the marks follow what the run is at; in a stage within another the inner one counts."""
    entered: Counter[str] = Counter()
    import reports.page
    from horizon_bench.mira import phases, policy_step
    from horizon_bench.training import rl
    from studies import cell, folder, supervised

    places: list[tuple[Any, str, str]] = [
        (supervised, "_train", "sft"),
        (rl.Trainer, "_play", "rollout"),
        (rl.Trainer, "_learn", "update"),
        (phases, "rollout", "rollout"),
        (phases.MiraTrainer, "_train_critics", "update"),
        (policy_step.PolicyLearner, "learn", "update"),
        (folder, "append", "append"),
        (folder, "append_episodes", "append"),
        (rl, "save_checkpoint", "checkpoint"),
        (phases, "save_state", "checkpoint"),
        (cell.CellRun, "evaluate_on", "evaluation"),
        (reports.page, "write_report", "report"),
    ]
    for holder, name, stage in places:
        setattr(holder, name, _marked(getattr(holder, name), marks, stage, fault, entered))


def _marked(
    function: Callable[..., Any], marks: Marks, stage: str, fault: Fault, entered: Counter[str]
) -> Callable[..., Any]:
    def call(*args: Any, **keywords: Any) -> Any:
        before, marks.stage = marks.stage, stage
        if stage == fault.stage and entered[stage] == fault.entry:
            sys.setprofile(_deadly(fault.calls))
        entered[stage] += 1
        try:
            return function(*args, **keywords)
        finally:
            marks.stage = before

    return call


def _deadly(calls: int) -> Callable[..., None]:
    """Return a profiler that kills this process at the call of the function after so many."""
    seen = 0

    def look(frame: Any, event: str, argument: Any) -> None:
        nonlocal seen
        seen += event == "call"
        if seen > calls:
            os.kill(os.getpid(), signal.SIGKILL)

    return look


CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "shutil.rmtree", "shutil.copyfile")


def _break(marks: Marks, results: str, fault: Fault) -> None:
    """Count what is done to files of the results, and die where the fault says."""

    def heard(event: str, arguments: tuple[Any, ...]) -> None:
        if not arguments or not str(arguments[0]).startswith(results):
            return
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if (writes or event in CHANGES) and marks.one_more(4) == fault.operation:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(heard)
    whole = os.write

    def write(handle: int, data: bytes) -> int:
        if data.startswith(b'{"kind"') and marks.one_more(8) == fault.write:
            whole(handle, data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return whole(handle, data)

    os.write = write


def left_behind(results: Path) -> dict[str, Any]:
    """Return all that a run left: every file, by name, and the content of all that does not depend on the clock."""
    import pyarrow.parquet as pq

    found: dict[str, Any] = {}
    for path in sorted(results.rglob("*")):
        name = path.relative_to(results).as_posix()
        if path.is_dir():
            found[name] = "folder"
        elif path.name == "timings.jsonl":
            rows = map(json.loads, path.read_text().splitlines())
            found[name] = [(row["phase"], row["update"]) for row in rows]
        elif path.name == "episodes.parquet":
            found[name] = pq.read_table(path).to_pylist()
        elif name.startswith("_sft") and path.name == "done.json":
            found[name] = str({key: value for key, value in json.loads(path.read_text()).items() if key != "seconds"})
        elif path.name == "cell.json":
            found[name] = {key: value for key, value in json.loads(path.read_text()).items() if key != "commit"}
        elif path.name == "lock" or path.suffix in (".html", ".svg", ".png", ".csv", ".md", ".tex"):
            found[name] = "file"
        else:
            found[name] = path.read_bytes()
    return found


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return the names of all that differs between two results."""
    return [name for name in sorted({*one, *other}) if one.get(name) != other.get(name)]
