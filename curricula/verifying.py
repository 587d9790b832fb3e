"""Proving every row of a bank file again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from curricula.instances import Instance, read_instances
from curricula.levels import LEVELS, TECHNIQUE_LEVELS, level_of, make_puzzle
from curricula.proofs import plan_steps, prove

_BLOCK = 64
_PROVEN = ("puzzle", "size", "split", "start", "distance", "slides", "grade", "key")
_SEED = re.compile(r"\d+/(?P<level>.+)/\d+")

Progress = Callable[[int, int], None]
_Row = tuple[Path, int, Instance]
"""File, line and instance."""


@dataclass(frozen=True)
class Problem:
    """A row whose facts do not hold."""

    file: Path
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


def verify_banks(
    files: Iterable[Path], workers: int = 1, progress: Progress | None = None
) -> tuple[int, list[Problem]]:
    """Return how many rows were proven again and every row that fails.

    Checked are form, number of rows, number of solutions, distance, slides, grade, solution or plan, key, split, level,
    that level and seed are those of the file, and over all files that no board occurs twice and no key in two splits.
    Not checked is that the seed gives the row: building the bank again does.

    Args:
        files: bank files.
        workers: processes.
        progress: called with rows done and rows in all.

    Raises:
        FileNotFoundError: if a file is missing.
        ValueError: if a file is no bank file.
    """
    rows: list[_Row] = []
    problems: list[Problem] = []
    for file in files:
        remarks, found = read_instances(file)
        rows += [(file, line, instance) for line, instance in found]
        problems += [Problem(file, line, fault) for line, each in found for fault in _foreign(each, remarks)]
    blocks = [rows[first : first + _BLOCK] for first in range(0, len(rows), _BLOCK)]
    problems += _repeats(rows)
    if workers > 1 and len(blocks) > 1:
        with ProcessPoolExecutor(workers) as pool:
            problems += _collect(pool.map(_verify_block, blocks), len(rows), progress)
    else:
        problems += _collect(map(_verify_block, blocks), len(rows), progress)
    return len(rows), sorted(problems, key=lambda problem: (problem.file, problem.line))


def row_faults(instance: Instance) -> list[str]:
    """Return what is wrong with one instance, [] if every fact holds."""
    try:
        proven = prove(instance.puzzle, instance.start, instance.level, instance.seed)
    except ValueError as problem:
        return [str(problem)]
    faults = [
        f"{name} is {getattr(instance, name)!r}, proven is {getattr(proven, name)!r}"
        for name in _PROVEN
        if getattr(instance, name) != getattr(proven, name)
    ]
    misplaced = _misplaced(proven)
    if misplaced is not None:
        faults.append(misplaced)
    seed = _SEED.fullmatch(instance.seed)
    if instance.seed != "-" and (seed is None or seed["level"] != instance.level):
        faults.append(f"seed {instance.seed!r} is not SEED/{instance.level}/INDEX")
    if instance.puzzle == "sudoku" and instance.solution != proven.solution:
        faults.append("solution is not the puzzle's")
    if instance.puzzle != "sudoku":
        puzzle = make_puzzle(instance.puzzle, instance.size)
        if plan_steps(instance.start, instance.solution, puzzle) != instance.distance:
            faults.append("the plan does not lead to the goal in as many steps as stated")
    return faults


def _misplaced(proven: Instance) -> str | None:
    """Return why an instance does not belong to its level, None if it does; `-` is right where no level holds it."""
    level = {**LEVELS, **TECHNIQUE_LEVELS}.get(proven.level)
    if level is not None:
        return level.misfit(proven.puzzle, proven.size, proven.distance, proven.grade)
    fitting = level_of(proven.puzzle, proven.size, proven.distance)
    return None if proven.level == fitting else f"level is {proven.level!r}, proven is {fitting!r}"


def _foreign(instance: Instance, remarks: Mapping[str, str]) -> list[str]:
    """Return what tells an instance from those that the first lines of its file promise."""
    faults = []
    if instance.level != remarks.get("level", instance.level):
        faults.append(f"level is {instance.level!r}, the file's is {remarks['level']!r}")
    if "seed" in remarks and not instance.seed.startswith(f"{remarks['seed']}/"):
        faults.append(f"seed is {instance.seed!r}, the file's is {remarks['seed']!r}")
    return faults


def _verify_block(rows: list[_Row]) -> list[Problem]:
    return [Problem(file, line, fault) for file, line, instance in rows for fault in row_faults(instance)]


def _collect(found: Iterable[list[Problem]], total: int, progress: Progress | None) -> list[Problem]:
    problems: list[Problem] = []
    for done, block in enumerate(found, 1):
        problems += block
        if progress is not None:
            progress(min(done * _BLOCK, total), total)
    return problems


def _repeats(rows: list[_Row]) -> list[Problem]:
    """Return the rows whose board stood before, or whose key stood in another split."""
    problems = []
    boards: dict[str, str] = {}
    splits: dict[str, tuple[str, str]] = {}
    for file, line, instance in rows:
        place = f"{file.name}:{line}"
        if instance.start in boards:
            problems.append(Problem(file, line, f"the same board as in {boards[instance.start]}"))
        boards.setdefault(instance.start, place)
        split, other = splits.setdefault(instance.key, (instance.split, place))
        if split != instance.split:
            problems.append(Problem(file, line, f"key of {other}, which is in split {split}, not {instance.split}"))
    return problems
