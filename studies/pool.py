"""Jobs through worker processes: a failing or dying job harms no other, and no worker outlives its parent.

The pool knows nothing of cells. A job is a picklable argument of one function; what a job needs to have been done
before is named by key. `concurrent.futures` is not enough here: one killed worker breaks its whole pool, and a running
job cannot report how far it is.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from horizon_bench import portable
from horizon_bench.files import in_words

Report = Callable[[float, str], None]
"""Called by a job with the share of it that is done, 0 to 1, and a few words."""
Work = Callable[[Any, Report], Any]

THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True)
class Job:
    """One call of the work function."""

    key: str
    """Unique name."""
    argument: Any
    """What the work function gets; picklable."""
    needs: tuple[str, ...] = ()
    """Keys of jobs that must have succeeded before; keys of no job in the run count as done."""
    cost: float = 1.0
    """Expected seconds, for the order and the time left."""


@dataclass(frozen=True)
class Started:
    """A worker has taken a job."""

    key: str


@dataclass(frozen=True)
class Progress:
    """A job says how far it is."""

    key: str
    share: float
    note: str


@dataclass(frozen=True)
class Finished:
    """A job has ended, well or not."""

    key: str
    result: Any = None
    error: str = ""
    """One line; "" if the job succeeded."""
    details: str = ""
    """The traceback, where there is one."""


Event = Started | Progress | Finished


def run_jobs(
    jobs: Sequence[Job], work: Work, workers: int, threads: int = 1, log: Path | None = None
) -> Generator[Event, None, None]:
    """Run all jobs, yielding what happens as it happens.

    Args:
        jobs: in the order in which they are to be started, as far as `needs` allows.
        work: the function, importable by name in another process unless `workers` is 0.
        workers: number of processes; 0 runs all jobs in this one.
        threads: threads that a worker's numerical libraries may use.
        log: file that takes what workers print; by default they print to this process's output.

    Yields:
        `Started`, `Progress` and, exactly once per job, `Finished`. Closing the iterator stops the workers.
    """
    if len({job.key for job in jobs}) != len(jobs):
        raise ValueError("two jobs have the same key")
    if workers < 0 or threads < 1:
        raise ValueError(f"workers must be at least 0 and threads at least 1, not {workers} and {threads}")
    queue = Queue(jobs)
    yield from _run_here(queue, work) if workers == 0 else _run_in_workers(queue, workers, _Hiring(work, threads, log))


class Queue:
    """Which jobs wait, and which of them may start."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.waiting = list(jobs)
        self._open = {job.key for job in jobs}
        self._failed: set[str] = set()

    def take(self) -> Job | None:
        """Return the first job whose needs are met, or None."""
        for job in self.waiting:
            if not self._open & set(job.needs):
                self.waiting.remove(job)
                return job
        return None

    def close(self, event: Finished) -> Iterator[Finished]:
        """Note the end of a job; yields the end of those that can now never start."""
        self._open.discard(event.key)
        if event.error:
            self._failed.add(event.key)
            for job in [job for job in self.waiting if event.key in job.needs]:
                self.waiting.remove(job)
                lost = Finished(job.key, error=f"not started, because {event.key} failed")
                yield lost
                yield from self.close(lost)


def _run_here(queue: Queue, work: Work) -> Iterator[Event]:
    while (job := queue.take()) is not None:
        yield Started(job.key)
        event = attempt(job, work, lambda share, note: None)
        yield event
        yield from queue.close(event)


def attempt(job: Job, work: Work, report: Report) -> Finished:
    """Do a job; what goes wrong in it becomes part of its end."""
    try:
        return Finished(job.key, result=work(job.argument, report))
    except Exception as error:
        kind = "" if isinstance(error, ValueError | OSError) else f"{type(error).__name__}: "
        return Finished(job.key, error=kind + in_words(error), details=traceback.format_exc())


@dataclass(frozen=True)
class _Hiring:
    """What every worker of a run has in common."""

    work: Work
    threads: int
    log: Path | None


def _run_in_workers(queue: Queue, workers: int, hiring: _Hiring) -> Iterator[Event]:
    pool: list[_Worker] = []
    try:
        while True:
            while sum(worker.job is not None for worker in pool) < workers and (job := queue.take()) is not None:
                _idle(pool, hiring).start(job)
                yield Started(job.key)
            busy = [worker for worker in pool if worker.job is not None]
            if not busy:
                return
            for worker in _ready(busy):
                event = worker.receive()
                yield event
                if isinstance(event, Finished):
                    if not worker.alive:
                        pool.remove(worker)
                    yield from queue.close(event)
    finally:
        for worker in pool:
            worker.stop()


def _idle(pool: list[_Worker], hiring: _Hiring) -> _Worker:
    for worker in pool:
        if worker.job is None:
            return worker
    pool.append(_Worker(hiring))
    return pool[-1]


def _ready(busy: list[_Worker]) -> list[_Worker]:
    ready = set(map(id, wait([worker.connection for worker in busy])))
    return [worker for worker in busy if id(worker.connection) in ready]


class _Worker:
    """A process that does one job after another."""

    def __init__(self, hiring: _Hiring) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.job: Job | None = None
        self.alive = True
        self._process: BaseProcess = context.Process(target=_serve, args=(theirs, hiring), daemon=True)
        with _environment(dict.fromkeys(THREAD_VARIABLES, str(hiring.threads))):
            self._process.start()
        theirs.close()

    def start(self, job: Job) -> None:
        """Hand a job over; a worker that died meanwhile shows in `receive`."""
        self.job = job
        with contextlib.suppress(ConnectionError):
            self.connection.send(job)

    def receive(self) -> Progress | Finished:
        """Return what the worker says next about its job, or that it died."""
        assert self.job is not None
        try:
            event: Progress | Finished = self.connection.recv()
        except (EOFError, OSError):  # also killed in the middle of a message
            self.alive = False
            self._process.join()
            event = Finished(self.job.key, error=_death(self._process.exitcode))
        if isinstance(event, Finished):
            self.job = None
        return event

    def stop(self) -> None:
        """End the process: at once if it is busy, else by hanging up."""
        self.connection.close()
        if self.job is not None:
            self._process.terminate()
        self._process.join(5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _death(code: int | None) -> str:
    if code == portable.KILLED:
        return "its worker process was killed (signal 9); the machine may have run out of memory"
    return f"its worker process died (exit status {code})"


def _serve(connection: Connection, hiring: _Hiring) -> None:
    # Ctrl-C reaches the whole process group; only the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    if hiring.log is not None:
        _print_to(hiring.log)
    threading.Thread(target=_follow_parent, daemon=True).start()
    while True:
        try:
            job: Job = connection.recv()
        except EOFError:
            return
        report = functools.partial(_send_progress, connection, job.key)
        connection.send(attempt(job, hiring.work, report))


def _send_progress(connection: Connection, key: str, share: float, note: str) -> None:
    connection.send(Progress(key, share, note))


def _leave(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


def _print_to(log: Path) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.dup2(handle, stream.fileno())
    os.close(handle)


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextlib.contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
