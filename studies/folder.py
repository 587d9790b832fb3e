"""The folder of one run, `results/<study>/<cell>/<seed>/`: settings, records, and how a killed run goes on.

Records are appended as they arise. A run that goes on from a checkpoint first cuts off what came after that checkpoint,
so that in the end the folder holds the very records of a run that was never interrupted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from horizon_bench.files import drop_folder, sweep
from reports import done
from reports.records import (
    CellRecord,
    EvaluationRecord,
    NewerSchemaError,
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
    replace_records,
    write_cell,
    write_episodes,
)

IGNORED = frozenset({"commit", "device", "label", "versions"})
"""Fields of `cell.json` that may differ when a run goes on."""

PHASES = ("sft", "rl")
"""Phases of a trained run in order; an untrained policy has a single one."""

ERROR_NAME = "error.txt"
"""What went wrong when a run, or an SFT, failed last."""
SFT_DONE = "sft.done"
"""Stands in a run's folder once the policy after SFT is evaluated."""
LEARNED = ("checkpoints", "replay")
"""Folders of what RL has learned, in a run's own."""

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
    def records_file(self) -> Path:
        """File of the records."""
        return self.path / "records.jsonl"

    @property
    def timings_file(self) -> Path:
        """File of the timings."""
        return self.path / "timings.jsonl"

    @property
    def episodes_file(self) -> Path:
        """File of the evaluation episodes."""
        return self.path / "episodes.parquet"

    @property
    def done(self) -> bool:
        """Whether the run is complete."""
        return done.is_done(self.path)

    def verify(self) -> None:
        """Check that a complete run still has the very records that it was finished with.

        Raises:
            ValueError: if some are missing or changed, or `done.json` is damaged.
        """
        if self.done:
            done.verify(self.path)

    def open(self, cell: CellRecord) -> None:
        """Write the settings, or check that the folder's are the same; then read the records so far.

        All that the run will add to is read now, so that damage shows at once and not after hours.

        Raises:
            ValueError: if the folder was made with other settings, naming each difference, or a file is damaged.
        """
        if self.writes:
            if not self.check(cell):
                write_cell(self.path, cell)
            for file in (self.records_file, self.timings_file):
                drop_torn_line(file)
            sweep(self.path)
        self.records = read(self.records_file) if self.records_file.exists() else []
        self.timings()
        if self.episodes_file.exists():
            read_episodes(self.episodes_file)

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
            append(self.records_file, new)
        self.records += new
        self.listener(new)

    def append_timing(self, timing: TimingRecord) -> None:
        """Add a timing to its own file."""
        if self.writes:
            append(self.timings_file, [timing])

    def timings(self) -> list[TimingRecord]:
        """Return the timings so far."""
        try:
            rows = read(self.timings_file) if self.timings_file.exists() else []
        except NewerSchemaError:
            raise
        except ValueError as error:
            reason = str(error).partition(";")[0]
            way_out = f"move {self.timings_file.name} away: no score needs it, and the run goes on"
            raise ValueError(f"{reason}; {way_out}") from error
        return [row for row in rows if isinstance(row, TimingRecord)]

    def append_episodes(self, episodes: Iterable[StoredEpisode]) -> None:
        """Add evaluation episodes to the Parquet file."""
        if self.writes:
            append_episodes(self.episodes_file, episodes)

    def rewind(self, dropped: Callable[[Row], bool]) -> None:
        """Cut off the first record that `dropped` is true of and all after it, and such timings and episodes."""
        count = next((index for index, row in enumerate(self.records) if dropped(row)), len(self.records))
        self.records = self.records[:count]
        if not self.writes:
            return
        cut(self.records_file, count)
        timings = self.timings()
        kept = [row for row in timings if not dropped(row)]
        if len(kept) < len(timings):
            replace_records(self.timings_file, kept)
        if self.episodes_file.exists():
            stored = read_episodes(self.episodes_file)
            before = [row for row in stored if not dropped(row)]
            if len(before) < len(stored):
                write_episodes(self.episodes_file, before)

    def restart(self, phase: str = "") -> None:
        """Begin a phase anew, by default the first: drop its rows and all later ones, and all that RL has learned."""
        self.rewind(after(phase, -1) if phase else lambda row: True)
        if self.writes:
            for name in LEARNED:
                drop_folder(self.path / name)

    def lacking(self, what: str) -> ValueError:
        """Return the error of records that lack what the run had come to."""
        return ValueError(
            f"{self.records_file} lacks {what}; restore the file, or remove the run's folder and run it again"
        )

    def finish(self, facts: Mapping[str, Any]) -> None:
        """Write `done.json`, which makes the run complete."""
        if self.writes:
            done.seal(self.path, facts)
            (self.path / ERROR_NAME).unlink(missing_ok=True)


def after(phase: str, update: int) -> Callable[[Row], bool]:
    """Return whether a row came after an update of a phase; a phase's rows before its first update have update 0."""

    def later(row: Row) -> bool:
        if isinstance(row, CellRecord):
            return False
        if isinstance(row, TimingRecord) and row.phase == "evaluation":
            # What RL is evaluated for has had an update; an evaluation before any belongs to the phase before.
            return row.update > (max(update, 0) if phase == "rl" else update)
        if row.phase == phase:
            return row.update > update
        return row.phase in PHASES and phase in PHASES and PHASES.index(row.phase) > PHASES.index(phase)

    return later


def of_last_test(row: Row) -> bool:
    """Return whether a row belongs to the evaluation on test puzzles after RL, with which a run ends."""
    if isinstance(row, TimingRecord):
        return (row.phase, row.split) == ("evaluation", "test") and row.update > 0
    if isinstance(row, EvaluationRecord):
        return (row.phase, row.split) == ("rl", "test")
    return isinstance(row, StoredEpisode) and row.phase == "rl"


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
