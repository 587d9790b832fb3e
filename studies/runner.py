"""Runs a study: which jobs there are, in which order, in which folder, and what became of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reports import done
from reports.panels import counted
from studies.display import clock_text, make_display
from studies.factors import Cell
from studies.folder import ERROR_NAME
from studies.locks import locked
from studies.matrix import SINGLE
from studies.pool import Finished, Job, Work, run_jobs
from studies.presets import Preset

LOG_NAME = "workers.log"
"""What worker processes print: warnings of the libraries, progress of the trainers."""
SUPERVISED = "_sft"
"""Folder of the checkpoints after SFT, in the results folder."""


@dataclass(frozen=True)
class CellJob:
    """What a worker needs to know to run one cell with one seed."""

    results: str
    """Results folder."""
    study: str
    cell: Cell
    seed: int
    preset: Preset
    supervised_only: bool = False
    """Only make the checkpoint after SFT."""
    track: str = ""
    """Service that shows the run while it goes, see `studies.tracking`."""

    @property
    def folder(self) -> Path:
        """The run's folder."""
        return Path(self.results) / self.study / self.cell.name / str(self.seed)

    @property
    def supervised_folder(self) -> Path:
        """Folder of the checkpoint after SFT, shared by the cells of a seed in all studies."""
        return Path(self.results) / SUPERVISED / self.preset.supervised_name(self.cell) / str(self.seed)


@dataclass(frozen=True)
class Failure:
    """A job that did not succeed."""

    key: str
    error: str


def is_done(job: CellJob) -> bool:
    """Return whether a run says that it is complete, whatever its settings."""
    return done.is_done(job.folder)


def plan(
    study: str,
    cells: Sequence[Cell],
    seeds: Sequence[int],
    preset: Preset,
    results: Path,
    finished: Callable[[CellJob], bool] = is_done,
    track: str = "",
) -> list[Job]:
    """Return the jobs of a study: shared SFT first, then the costly cells, then the cheap ones.

    Finished cells are left out, and so is an SFT that none of the others needs.
    """
    jobs: dict[str, Job] = {}
    for seed in seeds:
        for cell in cells:
            job = CellJob(str(results), study, cell, seed, preset, track=track)
            if finished(job):
                continue
            needs: tuple[str, ...] = ()
            if cell.needs_sft:
                shared = CellJob(str(results), study, cell, seed, preset, supervised_only=True)
                needs = (f"sft {preset.supervised_name(cell)}/{seed}",)
                if not (shared.supervised_folder / "done.json").exists():
                    jobs.setdefault(needs[0], Job(needs[0], shared, cost=preset.sft_seconds(cell)))
            key = f"{cell.name}/{seed}"
            jobs[key] = Job(key, job, needs, cost=preset.seconds(cell))
    return sorted(jobs.values(), key=lambda job: (not job.argument.supervised_only, -job.cost))


def run_study(
    study: str,
    cells: Sequence[Cell],
    seeds: Sequence[int],
    preset: Preset,
    results: Path,
    work: Work,
    workers: int,
    finished: Callable[[CellJob], bool] = is_done,
    ray: str = "",
    track: str = "",
    gpus: int = 0,
) -> list[Failure]:
    """Run what is left of a study and return the failures.

    Args:
        study: name of the study, the first folder below `results`.
        cells: its cells.
        seeds: seeds of each cell.
        preset: sizes.
        results: results folder.
        work: does one `CellJob`.
        workers: number of processes; 0 works in this one.
        finished: says whether a run is complete; may refuse a folder by `ValueError` before anything starts.
        ray: address of a Ray cluster in place of this machine, see `studies.ray_pool`; "" for none.
        track: service that shows the runs while they go, see `studies.tracking`; "" for none.
        gpus: GPUs that each job asks Ray for.

    Raises:
        ValueError: if another run holds the same folder, or `finished` refuses one.
    """
    scope = results / study / cells[0].name if study == SINGLE else results / study
    with locked(scope):
        jobs = plan(study, cells, seeds, preset, results, finished, track)
        skipped = len(cells) * len(seeds) - sum(not job.argument.supervised_only for job in jobs)
        if skipped:
            kept = "it is" if skipped == 1 else "they are"
            print(f"{counted([skipped], 'finished run')} in {results / study}: kept as {kept}", flush=True)
        if jobs:
            expected = clock_text(sum(job.cost for job in jobs) / max(workers, 1))
            busy = f"{counted([len(jobs)], 'job')}, {counted([workers], 'worker')}"
            print(f"{busy}, about {expected}; Ctrl-C stops, the same command resumes")
        return _work_off(jobs, work, workers, scope / LOG_NAME, ray, gpus)


def _work_off(jobs: Sequence[Job], work: Work, workers: int, log: Path, ray: str, gpus: int) -> list[Failure]:
    failures = []
    if ray:
        from studies.ray_pool import run_jobs_on_ray

        events = run_jobs_on_ray(jobs, work, workers, ray, gpus=gpus)
    else:
        events = run_jobs(jobs, work, workers, log=log)
    try:
        with make_display(jobs, workers) as display:
            for event in events:
                display.show(event)
                if isinstance(event, Finished) and event.error:
                    failures.append(Failure(event.key, event.error))
                    _keep_details(jobs, event)
    finally:
        events.close()
    return failures


def _keep_details(jobs: Sequence[Job], event: Finished) -> None:
    if not event.details:
        return
    argument: CellJob = next(job.argument for job in jobs if job.key == event.key)
    folder = argument.supervised_folder if argument.supervised_only else argument.folder
    with contextlib.suppress(OSError):  # what stopped the job may stop this too; its reason is listed anyway
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ERROR_NAME).write_text(event.details, encoding="utf8")
