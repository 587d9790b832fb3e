"""Boards of an episode, one after each decision, as small drawings; a user's own puzzle is shown as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from horizon_bench.envs.replaying import find_puzzle
from puzzles.base import Puzzle
from puzzles.sudoku_layout import BOX_SHAPES
from reports.records import StoredEpisode

CELL = 20
"""Side of a cell in a drawing's own units."""
VEHICLES = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#0072B2", "#F0E442", "#8c6bb1", "#7f9c3b")
"""Colours of the vehicles that are not the primary one."""
PRIMARY = "#D55E00"
WALL = "x"
UNPLAYABLE = (KeyError, ValueError, TypeError, ImportError, ChildProcessError)
"""What a puzzle raises that is not known or cannot be played here."""


@dataclass(frozen=True)
class Vehicle:
    """A vehicle on a Rush Hour board, its place and extent in cells."""

    name: str
    top: int
    left: int
    height: int
    width: int
    colour: str
    primary: bool
    """Whether it is the one that has to leave."""


@dataclass(frozen=True)
class Board:
    """A board after some decisions."""

    svg: str
    """A drawing, or "" where only text can show the puzzle."""
    text: str
    """The board as text, for those who cannot see the drawing, and for puzzles without one."""


def boards_of(stored: StoredEpisode) -> list[Board]:
    """Return the board before the first decision and after each one.

    A move that the rules refuse is left out. Where a puzzle is not known here, or needs a simulator, the observations
    stand in.
    """
    episode = stored.episode
    try:
        puzzle = find_puzzle(stored.puzzle, stored.size)
        states = list(_states(puzzle, stored))
    except UNPLAYABLE:
        texts = [turn.observation for turn in episode.turns]
        return [Board("", text) for text in (*texts, texts[-1] if texts else "")]
    start = _cells(puzzle, states[0])
    boards = []
    previous = start
    for state in states:
        cells = _cells(puzzle, state)
        drawing = draw_board(stored.puzzle, stored.size, cells, start, previous)
        boards.append(Board(drawing, puzzle.render(state)))
        previous = cells
    return boards


def cells_of(stored: StoredEpisode) -> list[tuple[str, ...]]:
    """Return the board's cells before the first decision and after each one, row by row, "" for an empty one.

    Each is () where the puzzle is not known here or fills no square board.
    """
    empty: list[tuple[str, ...]] = [()] * (len(stored.episode.turns) + 1)
    try:
        puzzle = find_puzzle(stored.puzzle, stored.size)
        cells = [_cells(puzzle, state) for state in _states(puzzle, stored)]
    except UNPLAYABLE:
        return empty
    return cells if all(fills_square(stored.size, board) for board in cells) else empty


def fills_square(size: int, cells: Sequence[str]) -> bool:
    """Return whether cells can be drawn as a square board of that many rows."""
    return size >= 1 and len(cells) == size * size and all(len(cell) <= 2 for cell in cells)


def draw_board(
    puzzle: str, size: int, cells: Sequence[str], start: Sequence[str] = (), before: Sequence[str] = ()
) -> str:
    """Return a drawing of a square board, or "" if the puzzle's cells do not fill one.

    Args:
        puzzle: name of the puzzle.
        size: rows.
        cells: token of each cell, row by row.
        start: cells at the start; digits that stand there already are drawn as given.
        before: cells before the decision; what changed is highlighted.
    """
    if not fills_square(size, cells):
        return ""
    side = size * CELL
    changed = [index for index, cell in enumerate(cells) if before and cell != before[index]]
    body = _vehicles(size, cells) if puzzle == "rush-hour" else _digits(size, cells, start)
    marks = "" if puzzle == "rush-hour" else "".join(_square(size, index, "new") for index in changed)
    label = "board, row by row: " + " ".join("".join(cells[row * size : (row + 1) * size]) for row in range(size))
    return (
        f'<svg class="board" viewBox="-2 -2 {side + 4} {side + 4}" role="img" aria-label="{escape(label)}">'
        f"{marks}{_grid(puzzle, size)}{body}</svg>"
    )


def _states(puzzle: Puzzle[Any, Any], stored: StoredEpisode) -> Iterator[Any]:
    if puzzle.most_at_once is not None:
        raise ValueError(f"{puzzle.name} needs a simulator, which no report starts")
    state = puzzle.parse(stored.episode.start)
    yield state
    for turn in stored.episode.turns:
        for text in turn.moves:
            for move in puzzle.parse_action(text) or ():
                if puzzle.refusal(state, move) is None:
                    state = puzzle.apply(state, move)
        yield state


def _cells(puzzle: Puzzle[Any, Any], state: Any) -> tuple[str, ...]:
    return tuple("" if cell in (".", "0") else cell for cell in puzzle.compact(state))


def _grid(puzzle: str, size: int) -> str:
    side = size * CELL
    thin = "".join(f"M{n * CELL} 0V{side}M0 {n * CELL}H{side}" for n in range(1, size))
    rows, columns = box_shape(puzzle, size)
    thick = "".join(f"M{n * CELL} 0V{side}" for n in range(columns, size, columns))
    thick += "".join(f"M0 {n * CELL}H{side}" for n in range(rows, size, rows))
    return f'<path class="thin" d="{thin}"/><path class="thick" d="{thick}M0 0H{side}V{side}H0Z"/>'


def box_shape(puzzle: str, size: int) -> tuple[int, int]:
    """Return rows and columns of a Sudoku's box; of the whole board where it has none."""
    return BOX_SHAPES.get(size, (size, size)) if puzzle == "sudoku" else (size, size)


def _digits(size: int, cells: Sequence[str], start: Sequence[str]) -> str:
    texts = []
    for given in (True, False):
        for row in range(size):
            line = [
                (column, cells[row * size + column])
                for column in range(size)
                if cells[row * size + column] and (bool(start) and start[row * size + column] != "") == given
            ]
            if line:
                places = " ".join(str(column * CELL + CELL // 2) for column, _ in line)
                kind = "given" if given else "filled"
                letters = "".join(letter for _, letter in line)
                texts.append(f'<text class="{kind}" x="{places}" y="{row * CELL + 14.5}">{escape(letters)}</text>')
    return "".join(texts)


def _vehicles(size: int, cells: Sequence[str]) -> str:
    drawn = [_square(size, index, "wall") for index, cell in enumerate(cells) if cell == WALL]
    for one in vehicles_of(size, cells):
        x, y, width, height = (CELL * number for number in (one.left, one.top, one.width, one.height))
        drawn.append(
            f'<rect x="{x + 2}" y="{y + 2}" width="{width - 4}" height="{height - 4}" '
            f'rx="5" fill="{one.colour}"/><text class="vehicle" x="{x + width / 2}" '
            f'y="{y + height / 2 + 4}">{escape(one.name)}</text>'
        )
        if one.primary:
            drawn.append(f'<path class="exit" d="M{size * CELL} {y}v{CELL}"/>')
    return "".join(drawn)


def vehicles_of(size: int, cells: Sequence[str]) -> list[Vehicle]:
    """Return the vehicles of a board in the order of their first cells, coloured by name."""
    names = [name for name in dict.fromkeys(cells) if name not in ("", WALL)]
    primary = "X" if "X" in names else "A"
    others = sorted(name for name in names if name != primary)
    vehicles = []
    for name in names:
        places = [divmod(index, size) for index, cell in enumerate(cells) if cell == name]
        (top, left), (bottom, right) = places[0], places[-1]
        colour = PRIMARY if name == primary else VEHICLES[others.index(name) % len(VEHICLES)]
        vehicles.append(Vehicle(name, top, left, bottom - top + 1, right - left + 1, colour, name == primary))
    return vehicles


def _square(size: int, index: int, kind: str) -> str:
    row, column = divmod(index, size)
    return f'<rect class="{kind}" x="{column * CELL}" y="{row * CELL}" width="{CELL}" height="{CELL}"/>'
