"""Records on disk: append-only JSON lines, one `cell.json` a run, evaluation episodes as Parquet.

Every name that a runner or a reader of results needs stands here. A line is written by one system call and synced,
so that a killed run leaves at most its last line torn; nothing is ever silently skipped when reading.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from horizon_bench import portable
from horizon_bench.files import naming, write_whole
from reports.episode_store import StoredEpisode, append_episodes, read_episodes, write_episodes
from reports.migration import NewerSchemaError
from reports.schema import (
    KINDS,
    SCHEMA_VERSION,
    CellRecord,
    CollapseRecord,
    EvaluationRecord,
    Record,
    TimingRecord,
    UpdateRecord,
    decode,
    encode,
)

__all__ = [
    "KINDS",
    "SCHEMA_VERSION",
    "CellRecord",
    "CollapseRecord",
    "EvaluationRecord",
    "NewerSchemaError",
    "Record",
    "StoredEpisode",
    "TimingRecord",
    "UpdateRecord",
    "append",
    "append_episodes",
    "cut",
    "decode",
    "drop_torn_line",
    "encode",
    "read",
    "read_cell",
    "read_episodes",
    "replace_records",
    "scan",
    "write_cell",
    "write_episodes",
]


def append(path: Path, records: Iterable[Record]) -> int:
    """Append `records` to the file at `path`, one line each; returns how many, once they are safely on disk.

    Raises:
        ValueError: if the file ends in a torn line, which a further line would make unreadable.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | portable.BINARY, 0o644)
    try:
        with naming(path):
            size = os.fstat(handle).st_size
            if size and portable.read_at(handle, 1, size - 1) != b"\n":
                raise ValueError(f"{path} ends in a torn line; call records.drop_torn_line on it before appending")
            return _write_lines(handle, size, map(_line, records))
    finally:
        os.close(handle)


def _write_lines(handle: int, size: int, lines: Iterable[bytes]) -> int:
    """Append lines to a file of a size; what a full disk took only a part of is cut off again."""
    count = 0
    for line in lines:
        try:
            rest = line
            while rest:  # a full disk takes a part, and says why not more the next time
                rest = rest[os.write(handle, rest) :]
        except OSError:
            os.ftruncate(handle, size)
            raise
        size += len(line)
        count += 1
    os.fsync(handle)
    return count


def read(path: Path, *, torn_line: bool = False) -> list[Record]:
    """Return all records of the file at `path`, in order.

    Args:
        path: a `records.jsonl` or `timings.jsonl`.
        torn_line: leave out a last line without its line end, which a killed run may leave behind.

    Raises:
        ValueError: naming file, line and reason, if a line is no record.
        FileNotFoundError: if there is no such file.
    """
    lines = path.read_bytes().split(b"\n")
    last = lines.pop()
    if last and not torn_line:
        raise ValueError(
            f"{path}:{len(lines) + 1}: the last line is torn (the run was killed while writing it); "
            "resume the run, or cut the line off with records.drop_torn_line"
        )
    return [_parse(path, number, line) for number, line in enumerate(lines, start=1)]


def scan(path: Path) -> tuple[list[Record], list[str]]:
    """Return every readable record of the file at `path` and, for every other line, what is wrong with it.

    For looking at results that were damaged; `read` is for everything that must not miss one.
    """
    lines = path.read_bytes().split(b"\n")
    last = lines.pop()
    records: list[Record] = []
    problems = []
    for number, line in enumerate(lines, start=1):
        try:
            records.append(_parse(path, number, line))
        except ValueError as error:
            problems.append(str(error))
    if last:
        problems.append(f"{path}:{len(lines) + 1}: the last line is torn; resume the run to complete it")
    return records, problems


def drop_torn_line(path: Path) -> bool:
    """Cut off a last line without its line end; returns whether there was one."""
    if not path.exists():
        return False
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole == len(content):
        return False
    _truncate(path, whole)
    return True


def cut(path: Path, count: int) -> None:
    """Keep the first `count` records of the file at `path`, as a run does that resumes from an older checkpoint.

    Raises:
        ValueError: if the file holds fewer.
    """
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    if len(lines) < count:
        raise ValueError(f"{path} holds {len(lines)} records where the checkpoint had seen {count}; start the run anew")
    if len(lines) > count:
        _truncate(path, sum(len(line) + 1 for line in lines[:count]))


def replace_records(path: Path, records: Iterable[Record]) -> None:
    """Write `records` in place of the file at `path`, whole or not at all."""
    write_whole(path, b"".join(map(_line, records)))


def write_cell(folder: Path, cell: CellRecord) -> Path:
    """Write `cell.json` into a run's folder, whole or not at all; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    return write_whole(folder / "cell.json", json.dumps(encode(cell), indent=2, allow_nan=False) + "\n")


def read_cell(folder: Path) -> CellRecord:
    """Return the `cell.json` of a run's folder.

    Raises:
        ValueError: naming the file and the reason, if it is unreadable.
        FileNotFoundError: if there is none.
    """
    path = folder / "cell.json"
    record = _parse(path, 1, path.read_bytes())
    if not isinstance(record, CellRecord):
        raise ValueError(f"{path}: holds a record of kind {record.kind!r}, not the settings of a cell")
    return record


def _line(record: Record) -> bytes:
    return json.dumps(encode(record), separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _parse(path: Path, number: int, line: bytes) -> Record:
    try:
        return decode(json.loads(line))
    except NewerSchemaError as error:
        raise NewerSchemaError(f"{path}:{number}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{path}:{number}: not a record: {error}; restore the file, or remove the run's folder and run it again"
        ) from error


def _truncate(path: Path, size: int) -> None:
    with naming(path), path.open("r+b") as file:
        file.truncate(size)
        file.flush()
        os.fsync(file.fileno())
