"""A user's own lists of puzzles: every row re-proved, every refused row listed with its line and the reason.

Understood: one board a line; tables (CSV or tab-separated) whose header names a board column; Rush Hour database lines
`slides board states`. What a row claims about its board (solution, distance, states) must agree with what is proven.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from curricula.instances import Instance
from curricula.levels import Level, find_level, make_puzzle
from curricula.proofs import PROVERS, plan_steps, prove
from puzzles.names import check_name
from puzzles.sudoku_layout import BOX_SHAPES
from solvers import rush_hour

BOARD_COLUMNS = (
    "list",
    "start",
    "givens",
    "board",
    "puzzle",
    "quiz",
    "quizzes",
    "question",
    "grid",
    "sudoku",
    "problem",
)
"""Column names that hold the board, the first present one counts."""

CLAIM_COLUMNS = {
    "solution": ("solution", "answer", "path", "plan", "solutions"),
    "distance": ("distance", "steps", "optimal_steps", "blanks"),
    "slides": ("slides", "optimal_slides", "moves"),
    "states": ("states", "reachable_states", "cluster"),
}
"""Column names of what a row may claim."""


@dataclass(frozen=True)
class Rejected:
    """One refused row."""

    line: int
    """Line of the file, from 1."""
    text: str
    """The row as it stands there."""
    reason: str


@dataclass(frozen=True)
class _Row:
    line: int
    text: str
    board: str
    claims: Mapping[str, str]


def import_instances(
    path: str | Path, puzzle: str, level: str | None = None
) -> tuple[tuple[Instance, ...], tuple[Rejected, ...]]:
    """Return the proven instances of a file and its refused rows; blank lines and `#` lines are no rows.

    Args:
        path: the file.
        puzzle: `sudoku`, `rush-hour` or `shop`.
        level: name to enter; by default each instance's own by its distance.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is no text, the puzzle or level unknown, or the level one of another puzzle.
    """
    check_name("puzzle", puzzle, PROVERS)
    asked = None if level is None else find_level(level)
    if asked is not None and asked.puzzle != puzzle:
        raise ValueError(f"level {level} is one of {asked.puzzle}, not of {puzzle}")
    accepted: list[Instance] = []
    rejected: list[Rejected] = []
    lines_of: dict[str, int] = {}
    for row in _rows(_text(path)):
        try:
            instance = _prove_row(row, puzzle, asked)
            if instance.start in lines_of:
                raise ValueError(f"the same board as in line {lines_of[instance.start]}")
        except (ValueError, rush_hour.SearchBudgetError) as problem:
            rejected.append(Rejected(row.line, row.text, str(problem)))
        else:
            lines_of[instance.start] = row.line
            accepted.append(instance)
    return tuple(accepted), tuple(rejected)


def guess_puzzle(path: str | Path) -> str:
    """Return which puzzle a file holds: `shop` where price limits are named, `rush-hour` for letters, else `sudoku`.

    Most rows decide. The letters of a 16x16 Sudoku are told apart by its length.
    """
    rows = list(_rows(_text(path)))
    if 2 * sum("<=" in row.board for row in rows) > len(rows):
        return "shop"
    largest = max(BOX_SHAPES) ** 2
    lettered = sum(len(row.board) != largest and any("A" <= mark <= "Z" for mark in row.board) for row in rows)
    return "rush-hour" if 2 * lettered > len(rows) else "sudoku"


def _text(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as problem:
        raise ValueError(f"{path} is no UTF-8 text: {problem.reason} at byte {problem.start}") from None


def _rows(text: str) -> Iterator[_Row]:
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip() and line[0] != "#"]
    if not lines:
        return
    separator = next((mark for mark in "\t,;" if mark in lines[0][1]), None)
    names = [name.lower() for name in _cells(lines[0][1], separator)]
    board_name = next((name for name in BOARD_COLUMNS if name in names), None)
    if board_name is None:
        yield from (_plain_row(number, line.strip()) for number, line in lines)
        return
    for number, line in lines[1:]:
        row = dict(zip(names, _cells(line, separator), strict=False))
        yield _Row(number, line.strip(), row.get(board_name, ""), dict(_claims(row)))


def _cells(line: str, separator: str | None) -> list[str]:
    """Return the stripped cells of a table's line; `separator` None: the line is one cell."""
    if separator is None:
        return [line.strip()]
    try:
        cells = next(csv.reader([line], delimiter=separator))
    except csv.Error:
        cells = line.split(separator)
    return [cell.strip() for cell in cells]


def _claims(row: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for claim, known in CLAIM_COLUMNS.items():
        for name in known:
            if row.get(name, "-") not in ("", "-"):
                yield claim, row[name]
                break


def _plain_row(number: int, line: str) -> _Row:
    """Return the row of a bare board, or of a database line `slides board states`."""
    match line.split():
        case [slides, board, states] if slides.lstrip("-").isdigit() and states.isdigit():
            return _Row(number, line, board, {"slides": slides, "states": states})
    return _Row(number, line, line, {})


def _prove_row(row: _Row, puzzle: str, level: Level | None) -> Instance:
    """Return the proven instance; a claim that does not hold raises `ValueError`."""
    instance = prove(puzzle, row.board, None if level is None else level.name)
    claims = dict(row.claims)
    if "solution" in claims:
        _check_solution(instance, claims["solution"])
    if puzzle != "rush-hour":
        claims.pop("slides", None)
    for name in ("distance", "slides"):
        if name in claims and not _agrees(claims[name], getattr(instance, name)):
            raise ValueError(f"{name} stated is {claims[name]}, proven is {getattr(instance, name)}")
    if puzzle == "rush-hour" and "states" in claims:
        states = len(rush_hour.distance_map(row.board))
        if not _agrees(claims["states"], states):
            raise ValueError(f"{claims['states']} reachable states stated, there are {states}")
    misfit = None if level is None else level.misfit(puzzle, instance.size, instance.distance, instance.grade)
    if misfit is not None:
        raise ValueError(misfit)
    return instance


def _check_solution(instance: Instance, stated: str) -> None:
    """Raise `ValueError` where a stated solution is false: another grid, another number than one, a failing plan.

    Plans in a notation of others are no claim that can be checked.
    """
    if instance.puzzle == "sudoku":
        if "".join(stated.split()) not in ("1", instance.solution):
            raise ValueError("the solution stated is not the puzzle's")
        return
    puzzle = make_puzzle(instance.puzzle, instance.size)
    if stated.startswith(("move(", "search(")) and plan_steps(instance.start, stated, puzzle) is None:
        raise ValueError("the plan stated does not lead to the goal")


def _agrees(stated: str, proven: int) -> bool:
    """Return whether a stated number is the proven one, be it written `16` or `16.0`."""
    try:
        return float(stated) == proven
    except ValueError:
        return False
