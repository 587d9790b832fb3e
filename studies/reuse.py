"""The same cell in two studies of one results folder is run once: the second study takes it over.

Studies share cells: an anchor here is a condition there. A finished run is taken over only if nothing but the study's
name differs: settings, seed, revision of the source and versions of the libraries are all the same.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from reports.done import facts_of
from reports.records import CellRecord, encode, read, read_cell, read_episodes
from studies.folder import LEARNED, SFT_DONE, RunFolder

SOURCE = "taken_over_from"
"""Where `done.json` says which study a run was made in."""
SEALS = ("version", "records", "digest")
"""What `done.json` says of the records, which are written anew."""
RowT = TypeVar("RowT")


def take_over(folder: RunFolder, cell: CellRecord, results: Path) -> str:
    """Fill a run's folder from the same run in another study, if there is one that is finished.

    Args:
        folder: the run's folder, with `cell.json` written and no records yet.
        cell: its `cell.json`.
        results: results folder.

    Returns:
        The study that the run was made in; "" if it has to be run here.
    """
    wanted = _but_study(cell)
    for done in sorted(results.glob(f"*/{cell.cell}/{cell.seed}/done.json")):
        source = RunFolder(done.parent)
        if source.path == folder.path or not (source.path / "cell.json").exists():
            continue
        found = read_cell(source.path)
        if _but_study(found) != wanted:
            continue
        source.verify()
        _copy(source, folder, cell.study)
        facts = {name: value for name, value in facts_of(source.path).items() if name not in SEALS}
        study = str(facts.get(SOURCE, found.study))
        folder.finish({**facts, SOURCE: study})
        return study
    return ""


def _but_study(cell: CellRecord) -> dict[str, object]:
    return {name: value for name, value in encode(cell).items() if name != "study"}


def _copy(source: RunFolder, folder: RunFolder, study: str) -> None:
    """Copy everything but `cell.json` and `done.json`; rows get the study's name."""
    folder.restart()
    folder.append(_renamed(read(source.records_file), study))
    for timing in _renamed(source.timings(), study):
        folder.append_timing(timing)
    if source.episodes_file.exists():
        folder.append_episodes(_renamed(read_episodes(source.episodes_file), study))
    for name in LEARNED:
        if (source.path / name).exists():
            shutil.copytree(source.path / name, folder.path / name, dirs_exist_ok=True)
    if (source.path / SFT_DONE).exists():
        (folder.path / SFT_DONE).touch()


def _renamed(rows: list[RowT], study: str) -> list[RowT]:
    return [replace(row, study=study) for row in rows]  # type: ignore[type-var]
