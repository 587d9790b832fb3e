"""Jobs through a stand-in for Ray that runs them in this process; `tox -e services` runs the same on Ray itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from studies import ray_pool
from studies.pool import Finished, Job, Progress, Report, Started
from studies.ray_pool import run_jobs_on_ray


class RayError(Exception):
    """Base of Ray's own errors."""


class Ray:
    """As much of Ray as is used: streams of events, of which `wait` names one that goes on."""

    def __init__(self) -> None:
        self.exceptions = SimpleNamespace(RayError=RayError)
        self.asked: list[dict[str, Any]] = []
        self.options: dict[str, Any] = {}
        self.cancelled: list[Any] = []
        self.most_running, self.shut_down = 0, 0
        self.refusal: Exception | None = None
        self.gone = False

    def init(self, **options: Any) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.asked.append(options)

    def shutdown(self) -> None:
        self.shut_down += 1

    def remote(self, **options: Any) -> Callable[..., Any]:
        self.options = options
        return lambda task: SimpleNamespace(remote=lambda *arguments: self.start(task, *arguments))

    def start(self, task: Any, job: Job, work: Any) -> Iterator[Any]:
        return iter(()) if job.argument == "silent" else task(job, work)

    def wait(self, streams: Sequence[Any], *, num_returns: int, fetch_local: bool) -> tuple[list[Any], list[Any]]:
        assert (num_returns, fetch_local) == (1, False)
        self.most_running = max(self.most_running, len(streams))
        if self.gone:
            raise RayError("no\n answer")
        return [streams[-1]], list(streams[:-1])

    def get(self, event: Any) -> Any:
        if isinstance(event, Finished) and event.error == "die":
            raise RayError("the node\n went away")
        return event

    def cancel(self, stream: Any, *, force: bool) -> None:
        assert force
        self.cancelled.append(stream)
        raise RuntimeError("what is cancelled may have ended meanwhile")


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Ray:
    stand_in = Ray()
    monkeypatch.setitem(sys.modules, "ray", stand_in)  # type: ignore[arg-type]
    return stand_in


def square(argument: Any, report: Report) -> str:
    """Return the square of a number; words are errors."""
    report(0.5, "half")
    if isinstance(argument, str):
        raise ValueError(argument)
    return str(argument**2)


def ends(events: Sequence[Any]) -> dict[str, Finished]:
    return {event.key: event for event in events if isinstance(event, Finished)}


def test_jobs_end_with_their_result_their_error_or_their_workers_death(ray: Ray) -> None:
    jobs = [
        Job("last", 1, needs=("a",)),
        Job("a", 3),
        Job("bad", "wrong"),
        Job("dead", "die"),
        Job("silent", "silent"),
        Job("after bad", 5, needs=("bad",)),
    ]
    events = list(run_jobs_on_ray(jobs, square, 2, threads=3, gpus=1))
    found = ends(events)
    assert sorted(event.key for event in events if isinstance(event, Finished)) == sorted(job.key for job in jobs)
    assert (found["a"].result, found["last"].result, found["bad"].error) == ("9", "1", "wrong")
    assert "not started, because bad failed" in found["after bad"].error
    assert found["dead"].error == "its worker on Ray died: the node went away"
    assert found["silent"].error == "its worker ended without a word"
    order = [(type(event), event.key) for event in events]
    assert order.index((Finished, "a")) < order.index((Started, "last"))
    assert Progress("a", 0.5, "half") in events
    assert ray.most_running == 2
    assert ray.asked[0]["num_cpus"] == 6
    assert (ray.options["num_cpus"], ray.options["num_gpus"], ray.options["max_retries"]) == (3, 1, 0)
    assert set(ray.options["runtime_env"]["env_vars"].values()) == {"3"}
    assert ray.shut_down == 1


def test_closing_stops_what_runs(ray: Ray) -> None:
    events = run_jobs_on_ray([Job("a", 3), Job("b", 4), Job("c", 5)], square, 2)
    assert [next(events), next(events)] == [Started("a"), Started("b")]
    events.close()
    assert len(ray.cancelled) == 2
    assert ray.shut_down == 1


def test_a_cluster_that_is_gone_says_what_to_do(ray: Ray) -> None:
    events = run_jobs_on_ray([Job("a", 3)], square, 1)
    assert next(events) == Started("a")
    ray.gone = True
    with pytest.raises(ValueError, match=r"the Ray cluster is gone \(no answer\); start it again"):
        next(events)
    assert ray.shut_down == 1


@pytest.mark.parametrize("error", [ConnectionError("refused"), ValueError("no such"), RuntimeError("version")])
def test_where_no_cluster_answers_the_error_says_what_to_do(ray: Ray, error: Exception) -> None:
    ray.refusal = error
    with pytest.raises(ValueError, match=rf"no Ray cluster answers at 'auto' \({error}\); start one"):
        list(run_jobs_on_ray([Job("a", 3)], square, 1, address="auto"))


def test_an_address_is_handed_on_without_processors_of_this_machine(ray: Ray) -> None:
    assert ends(list(run_jobs_on_ray([Job("a", 3)], square, 1, address="ray://head:1")))["a"].result == "9"
    assert (ray.asked[0]["address"], "num_cpus" in ray.asked[0]) == ("ray://head:1", False)
    assert ray_pool.LOCAL == "local"
