from __future__ import annotations

import os
import signal
import time
from typing import Any

import pytest

from studies.pool import Finished, Job, Progress, Report, Started, run_jobs


def square(argument: Any, report: Report) -> Any:
    """Do as the argument says; must be importable by a worker."""
    if argument == "fail":
        raise ValueError("this was\nbound to fail")
    if argument == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if argument == "process":
        return os.getpid()
    if argument == "threads":
        return os.environ["OMP_NUM_THREADS"]
    if argument == "hang":
        time.sleep(600)
    report(0.5, "half")
    return argument**2


def finished(jobs: list[Job], workers: int) -> dict[str, Finished]:
    return {event.key: event for event in run_jobs(jobs, square, workers) if isinstance(event, Finished)}


@pytest.mark.parametrize("workers", [0, 2])
def test_every_job_ends_exactly_once_whatever_others_do(workers: int) -> None:
    jobs = [Job("a", 3), Job("bad", "fail"), Job("b", 4), Job("after bad", 5, needs=("bad",)), Job("c", 6)]
    events = [event for event in run_jobs(jobs, square, workers) if isinstance(event, Finished)]
    assert sorted(event.key for event in events) == sorted(job.key for job in jobs)
    results = {event.key: event for event in events}
    assert [results[key].result for key in "abc"] == [9, 16, 36]
    assert results["bad"].error == "this was bound to fail"
    assert "not started, because bad failed" in results["after bad"].error


def test_a_killed_worker_costs_its_own_job_only() -> None:
    results = finished([Job("dead", "die"), Job("a", 3), Job("b", 4), Job("c", 5)], workers=2)
    assert "killed" in results["dead"].error
    assert [results[key].result for key in "abc"] == [9, 16, 25]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_job_starts_after_all_it_needs(workers: int) -> None:
    jobs = [Job("last", 1, needs=("first", "second")), Job("first", 2), Job("second", 3, needs=("first", "elsewhere"))]
    order = [event.key for event in run_jobs(jobs, square, workers) if isinstance(event, Started | Finished)]
    assert order == ["first", "first", "second", "second", "last", "last"]


def test_workers_are_reused_report_and_get_their_number_of_threads() -> None:
    events = list(run_jobs([Job("p", "process"), Job("q", "process"), Job("t", "threads"), Job("n", 3)], square, 1))
    results = {event.key: event.result for event in events if isinstance(event, Finished)}
    assert results["p"] == results["q"] != os.getpid()
    assert results["t"] == "1"
    assert Progress("n", 0.5, "half") in events


def test_closing_the_iterator_ends_the_workers() -> None:
    events = run_jobs([Job("p", "process"), Job("h", "hang")], square, 1)
    worker = next(event.result for event in events if isinstance(event, Finished))
    events.close()
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


@pytest.mark.parametrize(("keys", "workers", "message"), [("aa", 1, "same key"), ("ab", -1, "workers")])
def test_wrong_arguments_are_refused(keys: str, workers: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(run_jobs([Job(key, 1) for key in keys], square, workers))
