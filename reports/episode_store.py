"""Evaluation episodes on disk, whole: one Parquet file a run, written and read as `Episode` objects.

Pyarrow is imported where it is used, so that importing `reports` stays fast.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from horizon_bench.episodes import Episode, Turn

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
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".part")
    table = pa.Table.from_pylist([_row(stored) for stored in episodes], schema=_schema())
    pq.write_table(table, draft, compression="zstd")
    draft.replace(path)
    return path


def append_episodes(path: Path, episodes: Iterable[StoredEpisode]) -> Path:
    """Add `episodes` to the Parquet file at `path`, which is rewritten whole or left as it was; returns the path."""
    return write_episodes(path, [*(read_episodes(path) if path.exists() else ()), *episodes])


def read_episodes(path: Path) -> list[StoredEpisode]:
    """Return all episodes of the Parquet file at `path`, in order.

    Raises:
        ValueError: naming the file and the reason, if it is unreadable.
        FileNotFoundError: if there is no such file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.exists():
        raise FileNotFoundError(f"no episodes at {path}")
    try:
        rows = pq.read_table(path, schema=_schema()).to_pylist()
        return [_stored(row) for row in rows]
    except (pa.ArrowException, OSError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path}: unreadable episodes: {error}; records do not need it, a run into an empty folder makes it anew"
        ) from error


def _schema() -> Any:
    import pyarrow as pa

    turn = pa.struct(
        [
            ("observation", pa.string()),
            ("reply", pa.string()),
            ("prompt_ids", pa.list_(pa.int64())),
            ("reply_ids", pa.list_(pa.int64())),
            ("sampling_logprobs", pa.list_(pa.float32())),
            ("entropy", pa.float64()),
            ("capped", pa.bool_()),
            ("format_ok", pa.bool_()),
            ("legal", pa.bool_()),
            ("actions_written", pa.int64()),
            ("moves", pa.list_(pa.string())),
            ("illegal_actions", pa.int64()),
            ("reward", pa.float64()),
            ("step_reward", pa.float64()),
            ("subgoals_reached", pa.list_(pa.int64())),
            ("own_subgoal", pa.int64()),
            ("state_hash", pa.string()),
            ("distance_before", pa.int64()),
            ("distance_after", pa.int64()),
        ]
    )
    where = [(name, pa.int64() if name in ("seed", "update", "size") else pa.string()) for name in _WHERE]
    episode = [
        ("instance_key", pa.string()),
        ("start", pa.string()),
        ("level", pa.string()),
        ("distance", pa.int64()),
        ("group", pa.int64()),
        ("attempt", pa.int64()),
        ("solved", pa.bool_()),
        ("terminated", pa.bool_()),
        ("truncated", pa.bool_()),
        ("end_reason", pa.string()),
        ("final_observation", pa.string()),
        ("turns", pa.list_(turn)),
    ]
    return pa.schema([*where, *episode, ("advantages", pa.list_(pa.float64()))])


def _row(stored: StoredEpisode) -> dict[str, Any]:
    episode = stored.episode
    row = {name: getattr(stored, name) for name in _WHERE}
    row |= {item.name: getattr(episode, item.name) for item in dataclasses.fields(Episode) if item.name != "turns"}
    return row | {"turns": [_turn_row(turn) for turn in episode.turns], "advantages": list(stored.advantages)}


def _turn_row(turn: Turn) -> dict[str, Any]:
    row = {item.name: getattr(turn, item.name) for item in dataclasses.fields(Turn)}
    return row | {"state_hash": str(turn.state_hash)}


def _stored(row: dict[str, Any]) -> StoredEpisode:
    where = {name: row.pop(name) for name in _WHERE}
    advantages = tuple(row.pop("advantages"))
    turns = tuple(_turn(turn) for turn in row.pop("turns"))
    return StoredEpisode(**where, episode=Episode(**row, turns=turns), advantages=advantages)


def _turn(row: dict[str, Any]) -> Turn:
    typed: dict[str, Any] = {
        "prompt_ids": np.array(row["prompt_ids"], dtype=np.int64),
        "reply_ids": np.array(row["reply_ids"], dtype=np.int64),
        "sampling_logprobs": np.array(row["sampling_logprobs"], dtype=np.float32),
        "moves": tuple(row["moves"]),
        "subgoals_reached": tuple(row["subgoals_reached"]),
        "state_hash": int(row["state_hash"]),
    }
    return Turn(**(row | typed))
