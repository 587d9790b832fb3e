"""Where the tokens of a puzzle lie: rows, columns and boxes shared by board positions and by the names of cells.

A small model learns to point at a cell only if a cell's name and its place on the board share vectors (measured: with
separate row and column tokens training stalls). Torch-free.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from puzzles.base import Puzzle

_CELL = re.compile(r"r(\d+)c(\d+)")
_BOX = re.compile(r"b(\d+)")


@dataclass(frozen=True)
class Geometry:
    """Features of board positions and of tokens; each feature is one learned vector that all its holders share."""

    features: tuple[str, ...]
    """Names such as `row 1`, `column 2`, `box 1`."""
    positions: tuple[tuple[int, ...], ...]
    """Indices into `features` for every token of the compact board, in order; () where nothing is known."""
    tokens: dict[str, tuple[int, ...]]
    """Indices into `features` for every token that names a place."""


def geometry(puzzle: Puzzle[Any, Any], board_tokens: int) -> Geometry:
    """Return the geometry of a puzzle's compact form.

    A puzzle may state its features itself (`Puzzle.compact_features`). Else the grid is read off it: cells named `r1c1`
    in its vocabulary, one for each board token, or attributes `rows` and `columns` whose product is the number of board
    tokens. A puzzle with neither gets no features, and the model learns each position on its own.

    Args:
        puzzle: the rules.
        board_tokens: number of tokens of its compact board.
    """
    positions, named = puzzle.compact_features()
    if positions:
        return _stated(positions, named)
    grid = _grid(puzzle, board_tokens)
    if grid is None:
        return Geometry((), ((),) * board_tokens, {})
    rows, columns = grid
    boxes = tuple(getattr(getattr(puzzle, "layout", None), "box_of", ()))
    features = [f"row {row + 1}" for row in range(rows)] + [f"column {column + 1}" for column in range(columns)]
    first_box = len(features)
    features += [f"box {box + 1}" for box in range(max(boxes) + 1 if boxes else 0)]
    cells = tuple(
        (cell // columns, rows + cell % columns, *((first_box + boxes[cell],) if boxes else ()))
        for cell in range(board_tokens)
    )
    tokens: dict[str, tuple[int, ...]] = {}
    for token in puzzle.vocabulary():
        if match := _CELL.fullmatch(token):
            tokens[token] = cells[(int(match[1]) - 1) * columns + int(match[2]) - 1]
        elif boxes and (match := _BOX.fullmatch(token)):
            tokens[token] = (first_box + int(match[1]) - 1,)
    return Geometry(tuple(features), cells, tokens)


def _stated(positions: Sequence[Sequence[str]], named: Mapping[str, Sequence[str]]) -> Geometry:
    """Return the geometry of features that a puzzle states by name."""
    names = dict.fromkeys(name for group in (*positions, *named.values()) for name in group)
    numbers = {name: number for number, name in enumerate(names)}
    tokens = {token: tuple(numbers[name] for name in group) for token, group in named.items()}
    return Geometry(tuple(names), tuple(tuple(numbers[name] for name in group) for group in positions), tokens)


def _grid(puzzle: Puzzle[Any, Any], board_tokens: int) -> tuple[int, int] | None:
    """Return rows and columns of the board, or None where board tokens are not the cells of a grid."""
    cells = [match for token in puzzle.vocabulary() if (match := _CELL.fullmatch(token))]
    named = (max((int(cell[1]) for cell in cells), default=0), max((int(cell[2]) for cell in cells), default=0))
    for rows, columns in (named, (getattr(puzzle, "rows", 0), getattr(puzzle, "columns", 0))):
        if isinstance(rows, int) and isinstance(columns, int) and rows * columns == board_tokens > 0:
            return rows, columns
    return None
