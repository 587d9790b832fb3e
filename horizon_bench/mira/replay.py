"""The replay buffer: the last updates' episodes on disk, each with where it comes from.

One Parquet file an update, written aside, synced and renamed: a killed run leaves whole files only. A run that goes on
from update u drops what was written later, so that it sees the very episodes that an unbroken run sees.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from horizon_bench.credit.batch import FloatArray, IntArray
from horizon_bench.episode_rows import episode_fields, episode_of, episode_row, read_rows, write_rows
from horizon_bench.episodes import Episode

_NAME = re.compile(r"update-(\d{6,})\.parquet")
_PROVENANCE = {
    "update": "int64", "phase": "int64", "seed": "int64", "interface": "string", "temperature": "double",
    "technique": "string", "source": "string",
}  # fmt: skip
"""Columns that say where an episode comes from, and Arrow's names for their types."""
_LISTS = ("values", "potentials")


@dataclass(frozen=True)
class Replayed:
    """One episode of the buffer and its provenance."""

    episode: Episode
    update: int
    """Updates that the policy which played it had had."""
    phase: int
    """Phase, from 0, whose frozen reference was that policy's."""
    seed: int
    """Of the run."""
    interface: str
    """Interface it was played through."""
    temperature: float
    """Of the sampling."""
    technique: str
    """Hardest technique that the instance needs, or `-`."""
    source: str
    """`failure` where the instance was drawn near a failure, else `pool`."""
    values: tuple[float, ...] = ()
    """Value critic's estimate of each state that a decision saw, from before it learned from the episode."""
    potentials: tuple[float, ...] = ()
    """The same of the potential critic."""


class ReplayBuffer:
    """The last updates' episodes, in memory and, with a folder, on disk."""

    def __init__(self, folder: Path | None, capacity: int) -> None:
        """Open an empty buffer; `rewind` reads what a folder holds.

        Args:
            folder: of the Parquet files; None keeps the buffer in memory only.
            capacity: updates whose episodes are kept.
        """
        self.folder, self.capacity = folder, capacity
        self._parts: dict[int, tuple[Replayed, ...]] = {}

    def __len__(self) -> int:
        """Return the number of episodes at hand."""
        return sum(map(len, self._parts.values()))

    def episodes(self, *, before: int | None = None) -> list[Replayed]:
        """Return the episodes of the last `capacity` updates, oldest first; of those `before` an update on request."""
        numbers = sorted(number for number in self._parts if before is None or number < before)
        return [one for number in numbers[-self.capacity or len(numbers) :] for one in self._parts[number]]

    def part(self, update: int) -> tuple[Replayed, ...]:
        """Return the episodes of one update, () where there are none."""
        return self._parts.get(update, ())

    def add(self, update: int, episodes: Sequence[Replayed]) -> None:
        """Add the episodes of an update; they are on disk, whole, when this returns."""
        if self.folder is not None:
            write_part(self.folder / f"update-{update:06d}.parquet", episodes)
        self._parts[update] = tuple(episodes)
        kept = max(1, self.capacity) + 1
        for number in sorted(self._parts)[:-kept]:
            del self._parts[number]

    def rewind(self, update: int) -> None:
        """Go back to how the buffer was after `update` updates: drop later files, read the others.

        Raises:
            ValueError: if a file that is needed is missing or damaged, naming it.
        """
        self._parts.clear()
        if self.folder is None or not self.folder.is_dir():
            found: dict[int, Path] = {}
        else:
            for draft in self.folder.glob("*.part"):
                draft.unlink()
            found = {int(match[1]): path for path in self.folder.iterdir() if (match := _NAME.fullmatch(path.name))}
        for number, path in found.items():
            if number >= update:
                path.unlink()
        for number in range(max(0, update - max(1, self.capacity)), update):
            if number not in found:
                raise ValueError(
                    f"the replay buffer in {self.folder} lacks update {number}, which a run that goes on from update "
                    f"{update} needs; restore update-{number:06d}.parquet, or remove the run's folder and run it again"
                )
            self._parts[number] = tuple(read_part(found[number]))

    def prune(self, update: int) -> None:
        """Remove the files that a run which goes on from `update` does not need."""
        if self.folder is None or not self.folder.is_dir():
            return
        for path in self.folder.iterdir():
            match = _NAME.fullmatch(path.name)
            if match and int(match[1]) < update - max(1, self.capacity):
                path.unlink()


def write_part(path: Path, episodes: Sequence[Replayed]) -> Path:
    """Write episodes to the Parquet file at `path`, whole or not at all; returns the path."""
    return write_rows(path, map(_row, episodes), _schema(), path.with_name(f"{path.name}.{os.getpid()}.part"))


def read_part(path: Path) -> list[Replayed]:
    """Return the episodes of one Parquet file of a buffer.

    Raises:
        ValueError: naming the file and the reason, if it is unreadable.
    """
    return read_rows(path, _schema(), _replayed, "replay episodes: remove the run's folder and run it again")


def read_buffer(folder: Path) -> list[Replayed]:
    """Return every episode in the folder of a buffer, oldest update first; drafts of a killed run are passed over.

    Raises:
        ValueError: if a file is unreadable.
    """
    paths = sorted(path for path in folder.glob("update-*.parquet") if _NAME.fullmatch(path.name))
    return [one for path in paths for one in read_part(path)]


def plausible(likelihoods: FloatArray, low: float, high: float) -> IntArray:
    """Return the indices of the replies with a likelihood in (low, high]: neither implausible nor mastered already.

    Args:
        likelihoods: mean probability of a reply's tokens, exp of the mean log-probability: 1 / perplexity.
        low: replies at or under it are left out.
        high: replies above it are left out.
    """
    return np.flatnonzero((likelihoods > low) & (likelihoods <= high))


def _schema() -> Any:
    import pyarrow as pa

    provenance = ((name, pa.type_for_alias(kind)) for name, kind in _PROVENANCE.items())
    return pa.schema([*provenance, *((name, pa.list_(pa.float64())) for name in _LISTS), *episode_fields()])


def _row(one: Replayed) -> dict[str, Any]:
    row = {name: getattr(one, name) for name in _PROVENANCE} | {name: list(getattr(one, name)) for name in _LISTS}
    return row | episode_row(one.episode)


def _replayed(row: dict[str, Any]) -> Replayed:
    values: dict[str, Any] = {name: tuple(row[name]) for name in _LISTS}
    return Replayed(episode_of(row), **(values | {name: row[name] for name in _PROVENANCE}))
