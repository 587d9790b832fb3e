"""The folder of one run, `results/<study>/<cell>/<seed>/`: settings, records, and how a killed run goes on.

Records are appended as they arise. A run that goes on from a checkpoint first cuts off what came after that checkpoint,
so that in the end the folder holds the very records of a run that was never interrupted.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reports.records import (
    CellRecord,
    Record,
    StoredEpisode,
    TimingRecord,
    append,
    append_episodes,
    cut,
    drop_torn_line,
    encode,
    read,
    read_cell,
    read_episodes,
    write_cell,
    write_episodes,
)

IGNORED = frozenset({"commit", "device", "versions"})
"""Fields of `cell.json` that may differ when a run goes on."""


PHASES = ("sft", "rl")
"""Phases of a trained run in order; an untrained policy has a single one."""

Row = Record | StoredEpisode


class RunFolder:
    """One run's files, opened for writing."""

    def __init__(self, path: Path, *, writes: bool = True) -> None:
        """Open a folder.

        Args:
            path: the run's folder.
            writes: false in the processes of a team that follow: they keep records in memory only.
        """
        self.path = path
        self.writes = writes
        self.records: list[Record] = []
        self.listener: Callable[[list[Record]], None] = lambda records: None
        """Hears of new records once they are on disk."""

    @property
    def checkpoints(self) -> Path:
        """Folder of the checkpoints."""
        return self.path / "checkpoints"

    @property
    def done(self) -> bool:
        """Whether the run is complete."""
        return (self.path / "done.json").exists()

    def verify(self) -> None:
        """Check that a complete run still has as many whole records as it was finished with.

        Raises:
            ValueError: if some are missing, or `done.json` is damaged.
        """
        if not self.done:
            return
        way_out = "restore the file, or remove the run's folder and run it again"
        try:
            expected = json.loads((self.path / "done.json").read_bytes())["records"]
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"{self.path / 'done.json'} is damaged; {way_out}") from error
        whole = self._records.read_bytes().count(b"\n") if self._records.exists() else 0
        if whole != expected:
            raise ValueError(f"{self._records} holds {whole} records of {expected}; {way_out}")

    def open(self, cell: CellRecord) -> None:
        """Write the settings, or check that the folder's are the same; then read the records so far.

        Raises:
            ValueError: if the folder was made with other settings, naming each difference.
        """
        if self.writes:
            if not self.check(cell):
                write_cell(self.path, cell)
            for file in (self._records, self._timings):
                drop_torn_line(file)
        self.records = read(self._records) if self._records.exists() else []

    def check(self, cell: CellRecord) -> bool:
        """Return whether the folder holds a run of these settings already, begun or finished.

        Raises:
            ValueError: if it holds one with other settings, naming each difference.
        """
        if not (self.path / "cell.json").exists():
            return False
        if differences := list(differing(encode(read_cell(self.path)), encode(cell))):
            raise ValueError(
                f"{self.path} holds a run with other settings: {'; '.join(differences)}. Remove the folder, "
                "or choose another results folder"
            )
        return True

    def append(self, records: Iterable[Record]) -> None:
        """Add records to the file and to `records`."""
        new = list(records)
        if self.writes:
            append(self._records, new)
        self.records += new
        self.listener(new)

    def append_timing(self, timing: TimingRecord) -> None:
        """Add a timing to its own file."""
        if self.writes:
            append(self._timings, [timing])

    def timings(self) -> list[TimingRecord]:
        """Return the timings so far."""
        rows = read(self._timings) if self._timings.exists() else []
        return [row for row in rows if isinstance(row, TimingRecord)]

    def append_episodes(self, episodes: Iterable[StoredEpisode]) -> None:
        """Add evaluation episodes to the Parquet file."""
        if self.writes:
            append_episodes(self._episodes, episodes)

    def rewind(self, dropped: Callable[[Row], bool]) -> None:
        """Cut off the first record that `dropped` is true of and all after it, and such timings and episodes."""
        count = next((index for index, row in enumerate(self.records) if dropped(row)), len(self.records))
        self.records = self.records[:count]
        if not self.writes:
            return
        cut(self._records, count)
        timings = self.timings()
        kept = [row for row in timings if not dropped(row)]
        if len(kept) < len(timings):
            self._timings.unlink()
            append(self._timings, kept)
        if self._episodes.exists():
            stored = read_episodes(self._episodes)
            before = [row for row in stored if not dropped(row)]
            if len(before) < len(stored):
                write_episodes(self._episodes, before)

    def finish(self, facts: Mapping[str, Any]) -> None:
        """Write `done.json`, which makes the run complete."""
        if not self.writes:
            return
        draft = self.path / "done.json.part"
        draft.write_text(json.dumps({"records": len(self.records), **facts}, indent=2) + "\n", encoding="utf8")
        draft.replace(self.path / "done.json")

    @property
    def _records(self) -> Path:
        return self.path / "records.jsonl"

    @property
    def _timings(self) -> Path:
        return self.path / "timings.jsonl"

    @property
    def _episodes(self) -> Path:
        return self.path / "episodes.parquet"


def after(phase: str, update: int) -> Callable[[Row], bool]:
    """Return whether a row came after an update of a phase; a phase's rows before its first update have update 0."""

    def later(row: Row) -> bool:
        if isinstance(row, CellRecord):
            return False
        if row.phase == phase or row.phase == "evaluation":
            return row.update > update
        return row.phase in PHASES and phase in PHASES and PHASES.index(row.phase) > PHASES.index(phase)

    return later


def differing(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield `name: old value, now new value` for every setting that differs, nested ones by dotted name."""
    for name in dict.fromkeys([*old, *new]):
        if not prefix and name in IGNORED:
            continue
        was, now = old.get(name), new.get(name)
        if isinstance(was, Mapping) and isinstance(now, Mapping):
            yield from differing(was, now, f"{prefix}{name}.")
        elif was != now:
            yield f"{prefix}{name} is {was!r} there, {now!r} now"


def plain(value: Any) -> Any:
    """Return a settings object as JSON values, dataclasses as objects."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
