"""`done.json`, which makes a run complete: how many records it ended with, and their fingerprint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from horizon_bench.files import naming, write_whole

NAME = "done.json"
VERSION = 1
"""Of the file; raised whenever one of its fields changes its name or meaning."""
WAY_OUT = "restore the file, or remove the run's folder and run it again"


def is_done(run: Path) -> bool:
    """Return whether a run's folder says that the run is complete."""
    return (run / NAME).exists()


def seal(run: Path, facts: Mapping[str, Any]) -> None:
    """Write `done.json`: the records as they are now, and some facts about the run."""
    count, digest = _fingerprint(run / "records.jsonl")
    content = {"version": VERSION, "records": count, "digest": digest, **facts}
    write_whole(run / NAME, json.dumps(content, indent=2) + "\n")


def facts_of(run: Path) -> dict[str, Any]:
    """Return what `done.json` holds.

    Raises:
        ValueError: if it is damaged, or of a newer version of this program.
    """
    path = run / NAME
    try:
        found = json.loads(path.read_bytes())
        version, _ = int(found.get("version", 1)), int(found["records"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is damaged; {WAY_OUT}") from error
    if version > VERSION:
        raise ValueError(
            f"{path} has version {version}, this program reads up to {VERSION}; "
            "update horizon-bench (pip install --upgrade horizon-bench)"
        )
    return dict(found)


def verify(run: Path) -> None:
    """Check that a complete run still has the very records that it was finished with.

    Raises:
        ValueError: if some are missing or changed, or `done.json` is damaged.
    """
    facts, path = facts_of(run), run / "records.jsonl"
    count, digest = _fingerprint(path)
    if count != facts["records"]:
        raise ValueError(f"{path} holds {count} records of {facts['records']}; {WAY_OUT}")
    if facts.get("digest", digest) != digest:
        raise ValueError(f"{path} is not what it was when the run was finished; {WAY_OUT}")


def _fingerprint(path: Path) -> tuple[int, str]:
    """Return the number of whole lines of a file, and what tells its content from any other."""
    with naming(path):
        content = path.read_bytes() if path.exists() else b""
    return content.count(b"\n"), hashlib.blake2b(content, digest_size=16).hexdigest()
