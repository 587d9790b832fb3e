"""Episodes as rows of a Parquet table and back, losing nothing: one schema for whoever stores episodes.

Pyarrow is imported where it is used, so that importing this stays fast.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from horizon_bench.episodes import Episode, Turn
from horizon_bench.files import naming, put_in_place

VERSION = 1
"""Version of the columns below, which stands in a file's metadata; raised whenever one changes its name or meaning."""
_MARK = b"horizon_bench.episodes"
RowT = TypeVar("RowT")


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]], schema: Any, draft: Path) -> Path:
    """Write rows as a Parquet file, whole or not at all, each page with its checksum; returns its path.

    Args:
        path: the file.
        rows: values by column.
        schema: an Arrow schema.
        draft: where the file stands until it is whole, in the same folder.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist(list(rows), schema=schema.with_metadata({_MARK: str(VERSION)}))
    path.parent.mkdir(parents=True, exist_ok=True)
    with naming(path):
        pq.write_table(table, draft, compression="zstd", write_page_checksum=True)
        put_in_place(draft, path)
    return path


def read_rows(
    path: Path, schema: Any, made: Callable[[dict[str, Any]], RowT], what: str, optional: Iterable[str] = ()
) -> list[RowT]:
    """Return what the rows of a Parquet file stand for.

    Args:
        path: the file.
        schema: the Arrow schema that it was written with, or one with more columns.
        made: what a row stands for.
        what: what is in it and what to do without it, for the error: "episodes: ...".
        optional: columns that older files lack.

    Raises:
        ValueError: naming the file and the reason, if it is unreadable, or of a newer version of this program.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    noun, _, way_out = what.partition(": ")
    try:
        found = pq.read_schema(path)
        version = int((found.metadata or {}).get(_MARK, b"1"))
        if version > VERSION:
            raise ValueError(f"it has version {version}, this program reads up to {VERSION}; update horizon-bench")
        if missing := sorted({*schema.names} - {*found.names} - {*optional}):
            raise ValueError(f"column {missing[0]!r} is missing")
        return [made(row) for row in pq.read_table(path, schema=schema, page_checksum_verification=True).to_pylist()]
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError, OverflowError, MemoryError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{path}: unreadable {noun}: {reason}; {way_out}") from error


def episode_fields() -> list[tuple[str, Any]]:
    """Return name and Arrow type of each column of an episode, in order."""
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
            ("extra_tokens", pa.int64()),
        ]
    )
    return [
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


def episode_row(episode: Episode) -> dict[str, Any]:
    """Return an episode as the values of its columns."""
    row = {item.name: getattr(episode, item.name) for item in dataclasses.fields(Episode) if item.name != "turns"}
    return row | {"turns": [_turn_row(turn) for turn in episode.turns]}


def episode_of(row: Mapping[str, Any]) -> Episode:
    """Return the episode that `episode_row` made into a row.

    Raises:
        KeyError: if a column is missing.
        TypeError: if one is of another type.
    """
    values = {item.name: row[item.name] for item in dataclasses.fields(Episode)}
    values["final_observation"] = values["final_observation"] or ""  # files from before there was such a column
    return Episode(**(values | {"turns": tuple(_turn(turn) for turn in row["turns"])}))


def _turn_row(turn: Turn) -> dict[str, Any]:
    row = {item.name: getattr(turn, item.name) for item in dataclasses.fields(Turn)}
    return row | {"state_hash": str(turn.state_hash)}


def _turn(row: Mapping[str, Any]) -> Turn:
    typed: dict[str, Any] = {
        "prompt_ids": np.array(row["prompt_ids"], dtype=np.int64),
        "reply_ids": np.array(row["reply_ids"], dtype=np.int64),
        "sampling_logprobs": np.array(row["sampling_logprobs"], dtype=np.float32),
        "moves": tuple(row["moves"]),
        "subgoals_reached": tuple(row["subgoals_reached"]),
        "state_hash": int(row["state_hash"]),
        "extra_tokens": row.get("extra_tokens") or 0,  # files written before there was such a column hold none
    }
    return Turn(**({**row} | typed))
