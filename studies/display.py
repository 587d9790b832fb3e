"""What a running study shows: bars with the time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, TextIO

from studies.pool import Event, Finished, Job, Progress, Started

if TYPE_CHECKING:
    from rich.progress import TaskID

PLAIN_INTERVAL = 15.0
"""Seconds between two lines about running jobs, where there is no terminal."""


class Display(Protocol):
    """Shows events as they come."""

    def show(self, event: Event) -> None:
        """Show one event."""

    def __enter__(self) -> Display:
        """Begin to show."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the terminal as it was."""


def make_display(jobs: Sequence[Job], workers: int, stream: TextIO | None = None) -> Display:
    """Return the display that fits the stream, standard output by default."""
    out = stream or sys.stdout
    return TerminalDisplay(jobs, workers, out) if out.isatty() else PlainDisplay(jobs, workers, out)


class Ledger:
    """How much of the whole is done, and how long the rest will take."""

    def __init__(self, jobs: Sequence[Job], workers: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._costs = {job.key: job.cost for job in jobs}
        self._shares = dict.fromkeys(self._costs, 0.0)
        self._workers = max(workers, 1)
        self._clock = clock
        self._began = clock()
        self.notes: dict[str, str] = {}
        self.finished = 0

    def take(self, event: Event) -> None:
        """Note what happened."""
        if isinstance(event, Started):
            self.notes[event.key] = "starting"
        elif isinstance(event, Progress):
            self._shares[event.key] = event.share
            self.notes[event.key] = event.note
        else:
            self._shares[event.key] = 1.0
            self.notes.pop(event.key, None)
            self.finished += 1

    @property
    def total(self) -> int:
        """Number of jobs."""
        return len(self._costs)

    @property
    def share(self) -> float:
        """Share of the expected work that is done."""
        whole = sum(self._costs.values())
        done = sum(self._costs[key] * share for key, share in self._shares.items())
        return done / whole if whole else 1.0

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._began

    @property
    def seconds_left(self) -> float:
        """Expected seconds until the end: from the costs at first, more and more from the speed so far."""
        share = self.share
        whole = sum(self._costs.values()) / self._workers
        measured = self.elapsed / share if share > 0 else whole
        return max(0.0, (measured * share + whole * (1 - share)) * (1 - share))


def clock_text(seconds: float) -> str:
    """Return a duration as `m:ss`, or `h:mm:ss` from an hour on."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class PlainDisplay:
    """One line for each beginning and end, and now and then one about what is running."""

    def __init__(self, jobs: Sequence[Job], workers: int, stream: TextIO) -> None:
        self._ledger = Ledger(jobs, workers)
        self._stream = stream
        self._spoke = 0.0

    def __enter__(self) -> Display:
        """Begin to show."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to put back."""

    def show(self, event: Event) -> None:
        """Show one event."""
        ledger = self._ledger
        ledger.take(event)
        if isinstance(event, Finished):
            outcome = f"failed: {event.error}" if event.error else str(event.result or "done")
            self._say(f"[{ledger.finished}/{ledger.total}] {event.key}: {outcome}")
        elif isinstance(event, Progress) and ledger.elapsed - self._spoke > PLAIN_INTERVAL:
            running = ", ".join(f"{key} {note}" for key, note in ledger.notes.items())
            self._say(f"{ledger.share:.0%}, about {clock_text(ledger.seconds_left)} left; {running}")

    def _say(self, line: str) -> None:
        self._spoke = self._ledger.elapsed
        print(line, file=self._stream, flush=True)


class TerminalDisplay:
    """One bar for the whole with the time left, one for each running job."""

    def __init__(self, jobs: Sequence[Job], workers: int, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        self._ledger = Ledger(jobs, workers)
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=16),
            TaskProgressColumn(),
            TextColumn("{task.fields[note]}"),
            console=Console(file=stream),
        )
        self._whole = self._bars.add_task("all", total=1.0, note="")
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Display:
        """Begin to show."""
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the terminal as it was."""
        self._bars.stop()

    def show(self, event: Event) -> None:
        """Show one event."""
        ledger, bars = self._ledger, self._bars
        ledger.take(event)
        if isinstance(event, Started):
            self._tasks[event.key] = bars.add_task(_short(event.key), total=1.0, note="starting")
        elif isinstance(event, Progress):
            bars.update(self._tasks[event.key], completed=event.share, note=event.note)
        else:
            from rich.markup import escape

            task = self._tasks.pop(event.key, None)
            if task is not None:
                bars.remove_task(task)
            mark = f"[red]failed[/red] {escape(event.error)}" if event.error else escape(str(event.result or "done"))
            bars.console.print(f"{_short(event.key)}: {mark}", highlight=False)
        note = f"{ledger.finished}/{ledger.total} done, {clock_text(ledger.seconds_left)} left"
        bars.update(self._whole, completed=ledger.share, note=note)


def _short(key: str) -> str:
    """Return a job's key without the word that all cells begin with: a terminal is narrow."""
    return key.removeprefix("study-")
