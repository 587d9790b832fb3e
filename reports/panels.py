"""What a figure draws, as plain data: panels of series of estimates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from reports.intervals import Estimate
from reports.schema import CellRecord


@dataclass(frozen=True)
class Point:
    """One estimate at one place of the horizontal axis."""

    x: float
    estimate: Estimate
    label: str = ""
    """Name of the place (a level), or ""."""


@dataclass(frozen=True)
class Series:
    """One condition in a panel."""

    label: str
    interface: str
    """Sets the colour."""
    reward: str
    """Sets the line style."""
    phase: str
    """`sft` is drawn hollow and light, everything else filled."""
    points: tuple[Point, ...]
    mark: int = 0
    """Sets the marker: how many series of the panel with the same colour, line and filling came before."""
    curve: tuple[tuple[float, float], ...] = ()
    """A fitted curve, drawn instead of lines between the points."""
    runs: tuple[tuple[tuple[float, float], ...], ...] = ()
    """Single runs, drawn thin."""
    collapses: tuple[tuple[float, float], ...] = ()
    """Where runs collapsed, as places to mark."""


@dataclass(frozen=True)
class Panel:
    """One set of axes."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    percent: bool = True
    """Whether values are shares, drawn from 0 to 100 %."""
    note: str = ""
    """Belongs to the caption: what n is, what the interval is."""


@dataclass(frozen=True)
class Heat:
    """A coloured table."""

    title: str
    x_label: str
    y_label: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    """Shape [rows, columns]; NaN where there is nothing."""
    texts: tuple[tuple[str, ...], ...] = ()
    """What stands in each field, same shape; () writes nothing."""
    diverging: bool = False
    """Whether colours go both ways from zero, as for advantages; otherwise from 0 to 1."""
    marks: tuple[int, ...] = ()
    """Columns to mark (decisions that reached a subgoal)."""
    note: str = ""


Change = Literal["nearer", "same", "farther", "lost"]
"""What a decision did to the goal distance; `lost`: the goal was out of reach afterwards."""


@dataclass(frozen=True)
class Moment:
    """One decision of an attempt, and what came of it."""

    actions: tuple[str, ...]
    """Short texts of the moves carried out, or of the reply where none was."""
    cells: tuple[str, ...]
    """Token of each cell afterwards, row by row; () for a puzzle that fills no square board."""
    distance: int | None
    """Goal distance afterwards, in atomic actions; None if out of reach."""
    change: Change
    subgoals: int = 0
    """Subgoals completed."""
    problem: str = ""
    """What was wrong with the reply, or ""."""


@dataclass(frozen=True)
class Timeline:
    """One attempt, decision by decision, above what estimators make of each decision."""

    title: str
    outcome: str
    """How the attempt ended, below the title."""
    puzzle: str
    size: int
    """Rows of the board."""
    start: tuple[str, ...]
    """Cells before the first decision; () as in `Moment`."""
    distance: int | None
    """Goal distance at the start, in atomic actions."""
    moments: tuple[Moment, ...]
    estimators: tuple[str, ...]
    families: tuple[str, ...]
    """Of each estimator; those of one family stand together."""
    advantages: tuple[tuple[float, ...], ...]
    """Shape [estimators, decisions]."""
    note: str = ""


def marked(series: list[Series]) -> tuple[Series, ...]:
    """Return the series with markers that tell apart those of one colour, line style and phase."""
    counts: dict[tuple[str, str, bool], int] = {}
    result = []
    for one in series:
        look = (one.interface, one.reward, one.phase == "sft")
        counts[look] = counts.get(look, -1) + 1
        result.append(replace(one, mark=counts[look]))
    return tuple(result)


_OWN = frozenset({"interface", "run_as", "train", "learner", "estimator", "name", "label", "seed"})
"""Settings of a cell that have a column of their own, or say nothing about what it does."""


def other_settings(cell: CellRecord) -> tuple[tuple[str, str], ...]:
    """Return the cell's settings apart from interface, credit and training levels, to compare cells by.

    Where the settings hold the cell's own under `cell`, only those count: the others follow from them.
    """
    own = cell.settings.get("cell", cell.settings)
    return tuple(sorted((key, str(value)) for key, value in own.items() if key not in _OWN))


def on_error(cell: CellRecord) -> str:
    """Return what follows an error in the cell, "" where its settings do not say."""
    return dict(other_settings(cell)).get("on_error", "")


def board_name(cell: CellRecord) -> str:
    """Return a cell's puzzle and its size as a reader calls them."""
    return board_words(cell.puzzle, cell.size)


def study_board(cell: CellRecord) -> str:
    """Return a cell's study and board as a reader calls them."""
    return f"{cell.study}: {board_name(cell)}"


def puzzle_words(puzzle: str) -> str:
    """Return a puzzle as a reader calls it; one of somebody's own by its name without the module.

    >>> puzzle_words("rush-hour"), puzzle_words("my_worlds.garden:Garden")
    ('Rush Hour', 'Garden')
    """
    return {"sudoku": "Sudoku", "rush-hour": "Rush Hour", "shop": "Shop"}.get(puzzle, puzzle.rpartition(":")[2])


def board_words(puzzle: str, size: int) -> str:
    """Return a puzzle and its size as a reader calls them."""
    name = puzzle_words(puzzle)
    if puzzle == "shop":
        return f"{name} of {size} products"
    return f"{name} {size}\N{MULTIPLICATION SIGN}{size}" if size else name


def schedule(cell: CellRecord) -> tuple[tuple[str, ...], ...]:
    """Return the levels trained on, phase after phase; one phase of all where the settings do not say."""
    own = cell.settings.get("cell")
    phases = own.get("train") if isinstance(own, Mapping) else None
    if not phases:
        return (cell.train_levels,) if cell.train_levels else ()
    return tuple(tuple(map(str, phase)) for phase in phases)


def trained_on(cell: CellRecord) -> str:
    """Return the levels trained on as text."""
    phases = ", then ".join(", ".join(phase) for phase in schedule(cell))
    return f"trained on {phases}" if phases else "not trained"


def sizes(estimates: list[Estimate], attempts: Iterable[int]) -> str:
    """Return the part of a caption that says how much stands behind each point."""
    if not estimates:
        return ""
    return f"{sample_size({one.puzzles for one in estimates}, {one.seeds for one in estimates}, attempts)} a point"


def sample_size(puzzles: Iterable[int], seeds: Iterable[int], attempts: Iterable[int]) -> str:
    """Return how many puzzles, seeds and attempts stand behind numbers, from the least to the greatest of each."""
    parts = (counted(puzzles, "puzzle"), counted(seeds, "seed"), counted(attempts, "attempt"))
    return "n = " + " \N{MULTIPLICATION SIGN} ".join(parts)


def counted(numbers: Iterable[int], word: str) -> str:
    """Return a count, or the least and the greatest of several, with its word in the right number."""
    ordered = sorted(set(numbers))
    least, greatest = ordered[0], ordered[-1]
    text = str(least) if least == greatest else f"{least}\N{EN DASH}{greatest}"
    return f"{text} {word}" + ("" if ordered == [1] else "s")


def nearest_first(distances: Mapping[str, float]) -> list[str]:
    """Return the names of levels by their mean goal distance; equal ones by name."""
    return sorted(distances, key=lambda level: (distances[level], level))
