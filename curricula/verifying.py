"""Proving every row of a bank file again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from curricula.instances import Instance, read_instances
from curricula.levels import LEVELS, TECHNIQUE_LEVELS
from curricula.proofs import prove
from puzzles.rush_hour import RushHour

_BLOCK = 64
_PROVEN = ("puzzle", "size", "split", "start", "distance", "slides", "key")

Progress = Callable[[int, int], None]


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

    Checked are form, number of solutions, distance, slides, grade, solution or plan, key, split, the level's range, and
    over all files that no board occurs twice and no key in two splits.

    Args:
        files: bank files.
        workers: processes.
        progress: called with rows done and rows in all.

    Raises:
        FileNotFoundError: if a file is missing.
        ValueError: if a file is no bank file.
    """
    rows = [(file, line, instance) for file in files for line, instance in read_instances(file)[1]]
    blocks = [rows[first : first + _BLOCK] for first in range(0, len(rows), _BLOCK)]
    problems = _repeats(rows)
    if workers > 1 and len(blocks) > 1:
        with ProcessPoolExecutor(workers) as pool:
            problems += _collect(pool.map(_verify_block, blocks), len(rows), progress)
    else:
        problems += _collect(map(_verify_block, blocks), len(rows), progress)
    return len(rows), sorted(problems, key=lambda problem: (problem.file, problem.line))


def row_faults(instance: Instance) -> list[str]:
    """Return what is wrong with one instance, [] if every fact holds."""
    try:
        proven = prove(instance.puzzle, instance.start, instance.level, instance.seed, graded=instance.grade != "-")
    except ValueError as problem:
        return [str(problem)]
    faults = [
        f"{name} is {getattr(instance, name)!r}, proven is {getattr(proven, name)!r}"
        for name in _PROVEN
        if getattr(instance, name) != getattr(proven, name)
    ]
    if instance.grade != proven.grade:
        faults.append(f"grade is {instance.grade!r}, proven is {proven.grade!r}")
    level = {**LEVELS, **TECHNIQUE_LEVELS}.get(instance.level)
    if level is not None:
        if not level.low <= proven.distance <= level.high:
            faults.append(f"distance {proven.distance} is not in level {level.name} ({level.low} to {level.high})")
        if level.techniques and proven.grade not in level.techniques:
            faults.append(f"hardest technique {proven.grade!r} is not one of level {level.name}")
    if instance.puzzle == "sudoku" and instance.solution != proven.solution:
        faults.append("solution is not the puzzle's")
    if instance.puzzle == "rush-hour" and not _replays(instance):
        faults.append("the plan does not lead to the goal in as many steps as stated")
    return faults


def _replays(instance: Instance) -> bool:
    """Return whether the plan of a Rush Hour instance is legal, reaches the goal and is as long as stated."""
    puzzle = RushHour(instance.size, instance.size)
    state = puzzle.parse(instance.start)
    steps = 0
    for text in instance.solution.split(";"):
        for move in puzzle.parse_action(text) or ():
            if puzzle.refusal(state, move) is not None:
                return False
            state = puzzle.apply(state, move)
            steps += 1
    return puzzle.solved(state) and steps == instance.distance


def _verify_block(rows: list[tuple[Path, int, Instance]]) -> list[Problem]:
    return [Problem(file, line, fault) for file, line, instance in rows for fault in row_faults(instance)]


def _collect(found: Iterable[list[Problem]], total: int, progress: Progress | None) -> list[Problem]:
    problems: list[Problem] = []
    for done, block in enumerate(found, 1):
        problems += block
        if progress is not None:
            progress(min(done * _BLOCK, total), total)
    return problems


def _repeats(rows: list[tuple[Path, int, Instance]]) -> list[Problem]:
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
