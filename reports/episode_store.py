"""Evaluation episodes on disk, whole: one Parquet file a run, written and read as `Episode` objects.

Pyarrow is imported where it is used, so that importing `reports` stays fast.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from horizon_bench.episode_rows import episode_fields, episode_of, episode_row, read_rows, write_rows
from horizon_bench.episodes import Episode

_SPARE = "episodes: records do not need it; move it away, and a run goes on without the episodes in it"
_NEW = ("final_observation",)
"""Columns that older files lack."""
_WHERE = ("study", "cell", "seed", "phase", "update", "puzzle", "size", "interface", "variant")


@dataclass(frozen=True)
class StoredEpisode:
    """One episode and where it comes from."""

    study: str
    cell: str
    seed: int
    phase: str
    update: int
    puzzle: str
    """Name of the puzzle, so that its boards can be drawn again."""
    size: int
    """Rows of the board."""
    interface: str
    episode: Episode
    variant: str = ""
    """As in `EvaluationRecord`."""
    advantages: tuple[float, ...] = ()
    """Advantage of each decision where one was computed, else ()."""


def write_episodes(path: Path, episodes: Iterable[StoredEpisode]) -> Path:
    """Write `episodes` to the Parquet file at `path`, whole or not at all; returns the path."""
    return write_rows(path, map(_row, episodes), _schema(), path.with_name(path.name + ".part"))


def append_episodes(path: Path, episodes: Iterable[StoredEpisode]) -> Path:
    """Add `episodes` to the Parquet file at `path`, which is rewritten whole or left as it was; returns the path."""
    return write_episodes(path, [*(read_episodes(path) if path.exists() else ()), *episodes])


def read_episodes(path: Path) -> list[StoredEpisode]:
    """Return all episodes of the Parquet file at `path`, in order.

    Raises:
        ValueError: naming the file and the reason, if it is unreadable.
        FileNotFoundError: if there is no such file.
    """
    if not path.exists():
        raise FileNotFoundError(f"no episodes at {path}")
    return read_rows(path, _schema(), _stored, _SPARE, _NEW)


def _schema() -> Any:
    import pyarrow as pa

    where = [(name, pa.int64() if name in ("seed", "update", "size") else pa.string()) for name in _WHERE]
    return pa.schema([*where, *episode_fields(), ("advantages", pa.list_(pa.float64()))])


def _row(stored: StoredEpisode) -> dict[str, Any]:
    row = {name: getattr(stored, name) for name in _WHERE} | episode_row(stored.episode)
    return row | {"advantages": list(stored.advantages)}


def _stored(row: dict[str, Any]) -> StoredEpisode:
    where = {name: row[name] for name in _WHERE}
    return StoredEpisode(**where, episode=episode_of(row), advantages=tuple(row["advantages"]))
