"""Banks of tasks as files of plain data: compressed JSON, and the order in which a bank lists its tasks."""

from __future__ import annotations

import gzip
import json
import zlib
from hashlib import blake2b
from pathlib import Path
from typing import Any

from horizon_bench.files import write_whole


def write_data(path: Path, data: dict[str, Any]) -> None:
    """Write a file, whole or not at all; the same data give the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, gzip.compress(json.dumps(data).encode(), mtime=0))


def read_data(path: Path) -> dict[str, Any]:
    """Return what a file holds.

    Raises:
        ValueError: if it cannot be read or is damaged.
    """
    try:
        data = json.loads(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(str(error)) from error
    if not isinstance(data, dict):
        raise ValueError("it holds no object")
    return data


def digest(text: str) -> str:
    """Return 16 characters that name a text, the same in every process; texts sorted by them stand in no order."""
    return blake2b(text.encode(), digest_size=8).hexdigest()
