"""Ray with two local workers; needs the extra `ray` (`tox -e services`), but for the message where it is missing."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from studies.pool import Finished, Job, Progress, Started
from studies.ray_pool import run_jobs_on_ray
from tests.studies.test_pool import square

INSTALLED = importlib.util.find_spec("ray") is not None
needs_ray = pytest.mark.skipif(not INSTALLED, reason="needs the extra ray")


@pytest.mark.skipif(INSTALLED, reason="ray is installed")
def test_without_ray_the_error_names_the_command_that_installs_it() -> None:
    with pytest.raises(ImportError, match=r"pip install \"horizon-bench\[ray\]\""):
        list(run_jobs_on_ray([Job("a", 3)], square, 2))


@pytest.mark.parametrize(("workers", "threads"), [(0, 1), (2, 0)])
def test_no_workers_are_refused(workers: int, threads: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        list(run_jobs_on_ray([Job("a", 3)], square, workers, threads=threads))


@needs_ray
def test_jobs_on_ray_end_as_in_the_pool() -> None:
    jobs = [
        Job("last", 1, needs=("a", "t")),
        Job("a", 3),
        Job("bad", "fail"),
        Job("dead", "die"),
        Job("after bad", 5, needs=("bad",)),
        Job("t", "threads"),
    ]
    events = list(run_jobs_on_ray(jobs, square, 2))
    ends = [event for event in events if isinstance(event, Finished)]
    assert sorted(event.key for event in ends) == sorted(job.key for job in jobs)
    results = {event.key: event for event in ends}
    assert (results["a"].result, results["last"].result, results["t"].result) == (9, 1, "1")
    assert results["bad"].error == "this was bound to fail"
    assert "not started, because bad failed" in results["after bad"].error
    assert "died" in results["dead"].error
    order = [(type(event), event.key) for event in events]
    assert order.index((Finished, "a")) < order.index((Started, "last"))
    assert Progress("a", 0.5, "half") in events


@needs_ray
def test_a_study_on_ray_leaves_the_records_of_the_pool(tmp_path: Path) -> None:
    from dataclasses import replace

    from studies.cell import run_job
    from studies.matrix import parse_name
    from studies.presets import find_preset
    from studies.runner import run_study

    preset = replace(find_preset("smoke"), updates=2, evaluate_every=1, test_puzzles=2, interval_puzzles=2)
    preset = replace(preset, puzzles_per_update=4, untrained_puzzles=2)
    cells = [parse_name("study-sudoku-atomic-t3-outcome"), parse_name("study-sudoku-macro-t-expert")]
    for folder, address in (("pool", ""), ("ray", "local")):
        assert not run_study("two", cells, [0], preset, tmp_path / folder, run_job, 2, ray=address)
    for cell in cells:
        written = [tmp_path / folder / "two" / cell.name / "0" / "records.jsonl" for folder in ("pool", "ray")]
        assert written[0].read_bytes() == written[1].read_bytes()


@needs_ray
def test_where_no_cluster_answers_the_error_says_what_to_do() -> None:
    with pytest.raises(ValueError, match="ray start --head"):
        list(run_jobs_on_ray([Job("a", 3)], square, 1, address="auto"))
