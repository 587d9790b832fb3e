"""Results of an older schema rewritten in that of today, with a copy of every file that is touched.

Reading does not need this: older records are read as they are. It is for other programs that read the files, and for
folders that are to be kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from horizon_bench.files import write_whole
from reports import done
from reports.migration import NewerSchemaError
from reports.records import Record, read, read_cell, replace_records, write_cell
from reports.schema import SCHEMA_VERSION

BACKUP = "_before-schema-{version}"
"""Folder of the copies, in the results folder; reports and studies pass over it."""
LINES = ("records.jsonl", "timings.jsonl")
FILES = ("cell.json", *LINES)
WAY_OUT = "left as it is; restore it, or remove the run's folder and run it again"


@dataclass(frozen=True)
class Migration:
    """What became of a results folder."""

    changed: tuple[Path, ...]
    """Files that were of an older schema, and are of today's now."""
    backup: Path
    """Where their copies are, with the same names below it."""
    problems: tuple[str, ...]
    """One line for each file that could not be read, which is left as it is."""


def run_folders(results: Path) -> list[Path]:
    """Return the folders of all runs below a results folder, backups left out."""
    found = (path.parent for path in sorted(results.rglob("cell.json")))
    return [run for run in found if not any(part.startswith("_") for part in run.relative_to(results).parts)]


def outdated(run: Path) -> Iterator[Path]:
    """Yield the files of a run that are of an older schema, as far as their lines can be read at all.

    Raises:
        NewerSchemaError: if a file is of a newer version than this program.
    """
    for name in FILES:
        path = run / name
        if not path.is_file():
            continue
        content = path.read_bytes()
        versions = {_version(line) for line in ([content] if name == "cell.json" else content.split(b"\n"))}
        if newer := max((version for version in versions if version > SCHEMA_VERSION), default=0):
            raise NewerSchemaError(
                f"{path}: schema {newer} is newer than this program, which writes {SCHEMA_VERSION}; nothing was "
                "changed; migrate with a later horizon-bench (pip install --upgrade horizon-bench)"
            )
        if any(0 < version < SCHEMA_VERSION for version in versions):
            yield path


def migrate_run(run: Path, results: Path) -> Migration:
    """Rewrite the files of one run that are of an older schema; the caller holds the run's folder.

    Raises:
        NewerSchemaError: if a file is of a newer version than this program; nothing of the run is changed then.
    """
    changed: list[Path] = []
    problems: list[str] = []
    backup = results / BACKUP.format(version=SCHEMA_VERSION)
    for path in list(outdated(run)):
        try:
            rows: list[Record] = [read_cell(run)] if path.name == "cell.json" else read(path)
            _unseal(run, backup / run.relative_to(results))
        except ValueError as error:
            problems.append(f"{str(error).partition('; ')[0]}; {WAY_OUT}")
            continue
        _keep(path, backup / path.relative_to(results))
        if path.name == "cell.json":
            write_cell(run, rows[0])  # type: ignore[arg-type]
        else:
            replace_records(path, rows)
        changed.append(path)
    try:
        _seal(run)
    except ValueError as error:
        problems.append(str(error))
    return Migration(tuple(changed), backup, tuple(problems))


def _version(line: bytes) -> int:
    """Return the version that a line says it has; 0 if it says none."""
    try:
        found = json.loads(line).get("schema")
    except (ValueError, AttributeError, RecursionError):
        return 0
    return found if type(found) is int else 0


def _keep(path: Path, copy: Path) -> None:
    """Copy a file, unless a migration that was killed had done so: what is there is the original."""
    if not copy.exists():
        copy.parent.mkdir(parents=True, exist_ok=True)
        write_whole(copy, path.read_bytes())


def _unseal(run: Path, backup: Path) -> None:
    """Take the fingerprint of the records out of `done.json` while they change."""
    facts = _facts(run)
    if "digest" in facts:
        _keep(run / done.NAME, backup / done.NAME)
        del facts["digest"]
        write_whole(run / done.NAME, json.dumps(facts, indent=2) + "\n")


def _seal(run: Path) -> None:
    """Put the fingerprint of the records into a `done.json` that has none and that counts as many of them."""
    facts = _facts(run)
    if facts and "digest" not in facts:
        done.verify(run)
        done.seal(run, {name: value for name, value in facts.items() if name not in ("version", "records")})


def _facts(run: Path) -> dict[str, Any]:
    return done.facts_of(run) if done.is_done(run) else {}
