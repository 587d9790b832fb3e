"""A results folder, read as far as it can be read: runs with their records, and notes on what was damaged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from horizon_bench.files import in_words
from reports.collapse import detect, first_collapse
from reports.done import is_done, verify
from reports.panels import counted
from reports.records import StoredEpisode, read_cell, read_episodes, scan
from reports.schema import CellRecord, CollapseRecord, EvaluationRecord, Record, TimingRecord, UpdateRecord


@dataclass(frozen=True)
class Run:
    """One run: a cell with one seed."""

    folder: Path
    cell: CellRecord
    evaluations: tuple[EvaluationRecord, ...]
    updates: tuple[UpdateRecord, ...]
    findings: tuple[CollapseRecord, ...]
    """What the collapse detector says, recorded while it ran or found now."""
    timings: tuple[TimingRecord, ...]
    done: bool
    """Whether the run was finished."""

    @property
    def collapse(self) -> CollapseRecord | None:
        """The earliest fatal finding."""
        return first_collapse(self.findings)

    def episodes(self) -> list[StoredEpisode]:
        """Return the stored evaluation episodes, [] where none were stored; read once, so leave the list as it is.

        Raises:
            ValueError: if their file is unreadable.
        """
        return self._episodes

    @cached_property
    def _episodes(self) -> list[StoredEpisode]:
        path = self.folder / "episodes.parquet"
        return read_episodes(path) if path.exists() else []


@dataclass(frozen=True)
class Results:
    """Every readable run of a results folder."""

    folder: Path
    runs: tuple[Run, ...]
    notes: tuple[str, ...]
    """One line for each thing that was missing or damaged, with file, line and way out."""


def by_cell(runs: Iterable[Run]) -> list[list[Run]]:
    """Return the runs of each study and cell together, in the order of their first ones."""
    cells: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for run in runs:
        cells[run.cell.study, run.cell.cell].append(run)
    return list(cells.values())


def load_results(folder: Path) -> Results:
    """Return the runs under `folder`: a whole results folder, one study's, one cell's or one run's.

    A damaged file is noted and the good part of it kept.

    Raises:
        ValueError: if there is no such folder, or no readable run in it.
    """
    if not folder.is_dir():
        raise ValueError(f"no results folder at {folder}; run a study first: horizon-bench study run smoke")
    runs: list[Run] = []
    notes: list[str] = []
    for path in _files(folder, "cell.json"):
        try:
            runs.append(_load_run(path.parent, notes))
        except (ValueError, OSError) as error:
            notes.append(in_words(error))
    for path in _files(folder, "records.jsonl"):
        if not (path.parent / "cell.json").exists():
            notes.append(f"{path}: left out, because cell.json beside it is missing; run this cell again")
    if not any(run.evaluations or run.updates for run in runs):
        reason = f": {notes[0]}" if notes else ""
        raise ValueError(
            f"{folder} holds no readable results{reason}; run a study into it: horizon-bench study run smoke"
        )
    return Results(folder, tuple(runs), tuple(notes))


def _files(folder: Path, name: str) -> list[Path]:
    """Return the files of that name under a folder; what stands in folders with a leading `_` belongs to no run."""
    paths = sorted(folder.rglob(name))
    return [path for path in paths if not any(part.startswith("_") for part in path.relative_to(folder).parts)]


def _load_run(folder: Path, notes: list[str]) -> Run:
    cell = read_cell(folder)
    known = len(notes)
    records = _scan(folder / "records.jsonl", notes, required=True)
    sound = len(notes) == known
    timings = _scan(folder / "timings.jsonl", notes, required=False)
    done = is_done(folder)
    if not done:
        notes.append(f"{folder}: the run is not finished; shown as far as it went, the same command resumes it")
    elif sound and (problem := _changed(folder)):
        notes.append(problem)
    own = (cell.study, cell.cell, cell.seed)
    mine = [record for record in records if (record.study, record.cell, record.seed) == own]
    if foreign := [record for record in records if (record.study, record.cell, record.seed) != own]:
        notes.append(
            f"{folder / 'records.jsonl'}: left out {counted([len(foreign)], 'record')} of other runs, the first of "
            f"{foreign[0].study}, {foreign[0].cell}, seed {foreign[0].seed}; run this cell again into an empty folder"
        )
    return Run(
        folder=folder,
        cell=cell,
        evaluations=tuple(record for record in mine if isinstance(record, EvaluationRecord)),
        updates=tuple(record for record in mine if isinstance(record, UpdateRecord)),
        findings=_findings(mine),
        timings=tuple(record for record in timings if isinstance(record, TimingRecord)),
        done=done,
    )


def _changed(folder: Path) -> str:
    """Return how the records of a finished run differ from those that it ended with, "" if they do not."""
    try:
        verify(folder)
    except (ValueError, OSError) as error:
        return in_words(error)
    return ""


def _scan(path: Path, notes: list[str], required: bool) -> Sequence[Record]:
    if not path.exists():
        if required:
            notes.append(f"{path}: missing; the run is shown without it, run the cell again to fill it")
        return ()
    try:
        records, problems = scan(path)
    except OSError as error:
        notes.append(in_words(error))
        return ()
    notes.extend(problems[:3])
    if len(problems) > 3:
        notes.append(f"{path}: {len(problems) - 3} more unreadable lines; the {len(records)} readable ones are used")
    return records


def _findings(records: Sequence[Record]) -> tuple[CollapseRecord, ...]:
    """Return the detector's findings, each with the checkpoint that the recorded one names."""
    recorded = {(row.criterion, row.level): row for row in records if isinstance(row, CollapseRecord)}
    found = {(row.criterion, row.level): row for row in detect(records)}
    merged = {
        key: replace(row, checkpoint=recorded[key].checkpoint) if key in recorded else row for key, row in found.items()
    }
    return tuple(sorted({**recorded, **merged}.values(), key=lambda row: (row.update, not row.fatal, row.onset)))
