"""Boards as text and as pictures: Sudoku and Rush Hour drawn, any other puzzle as its text.

Colours are Okabe and Ito's, which the colour-blind can tell apart; the last move is marked by a heavy frame.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from puzzles.base import Puzzle

if TYPE_CHECKING:
    from PIL.Image import Image

RENDER_MODES = ("ansi", "rgb_array", "human")
"""How an environment can be looked at."""

CELL = 48
"""Pixels of a cell's side."""

_MARGIN = 12
_INK, _PAPER, _SHADE, _GRID = (34, 34, 34), (255, 255, 255), (236, 236, 232), (170, 170, 170)
_OWN, _MARK, _PRIMARY, _WALL = (0, 114, 178), (230, 159, 0), (213, 94, 0), (90, 90, 90)
_VEHICLES = ((86, 180, 233), (0, 158, 115), (240, 228, 66), (204, 121, 167), (148, 182, 214), (160, 200, 160))


def show(puzzle: Puzzle[Any, Any], state: Any, last_move: Any = None) -> str:
    """Return the board as text, with the last move beneath."""
    text = puzzle.render(state)
    return text if last_move is None else f"{text}\nlast move: {puzzle.format_action(last_move)}"


def draw(puzzle: Puzzle[Any, Any], start: Any, state: Any, last_move: Any = None) -> NDArray[np.uint8]:
    """Return the board as a picture.

    Args:
        puzzle: whose board it is.
        start: the start, which tells given cells from filled ones.
        state: the board now.
        last_move: the move to mark, or None.

    Returns:
        Colours from 0 to 255, shape [height, width, 3].
    """
    painters: dict[str, Callable[..., Any]] = {"sudoku": _draw_sudoku, "rush-hour": _draw_rush_hour}
    painter: Callable[..., Any] = painters.get(puzzle.name, _draw_text)
    image = painter(puzzle, start, state, last_move)
    return np.array(image, dtype=np.uint8)


@lru_cache(maxsize=16)
def _font(size: int) -> Any:
    from PIL import ImageFont

    font: Any = ImageFont  # Pillow brings no types for its default font.
    return font.load_default(size)


def _canvas(columns: int, rows: int, right: int = 0) -> tuple[Image, Any]:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (columns * CELL + 2 * _MARGIN + right, rows * CELL + 2 * _MARGIN), _PAPER)
    return image, ImageDraw.Draw(image)


def _box(row: int, column: int, height: int = 1, width: int = 1, *, inset: int = 0) -> tuple[int, int, int, int]:
    """Return the corners of a block of cells."""
    left, top = _MARGIN + column * CELL + inset, _MARGIN + row * CELL + inset
    return left, top, left + width * CELL - 2 * inset, top + height * CELL - 2 * inset


def _label(pen: Any, corners: tuple[int, int, int, int], text: str, colour: tuple[int, int, int], size: int) -> None:
    left, top, right, bottom = corners
    pen.text(((left + right) / 2, (top + bottom) / 2), text, fill=colour, font=_font(size), anchor="mm")


def _draw_sudoku(puzzle: Any, start: Any, state: Any, last_move: Any) -> Image:
    """Draw digits: given ones black on grey, filled ones blue."""
    size, layout = puzzle.size, puzzle.layout
    image, pen = _canvas(size, size)
    for cell, digit in enumerate(state.values):
        row, column = divmod(cell, size)
        corners = _box(row, column)
        pen.rectangle(corners, fill=_SHADE if start.givens[cell] else _PAPER, outline=_GRID)
        if digit:
            _label(pen, corners, str(digit), _INK if start.givens[cell] else _OWN, 28 if digit < 10 else 22)
    for row in range(0, size + 1, layout.box_rows):
        pen.line([_box(row, 0)[:2], _box(row, size)[:2]], fill=_INK, width=3)
    for column in range(0, size + 1, layout.box_columns):
        pen.line([_box(0, column)[:2], _box(size, column)[:2]], fill=_INK, width=3)
    if last_move is not None:
        row, column = divmod(last_move.cell, size)
        pen.rectangle(_box(row, column, inset=3), outline=_MARK, width=4)
    return image


def _draw_rush_hour(puzzle: Any, start: Any, state: Any, last_move: Any) -> Image:
    """Draw vehicles as rounded blocks, the primary car red, the exit as a gap with an arrow."""
    layout, rows, columns = state.layout, puzzle.rows, puzzle.columns
    image, pen = _canvas(columns, rows, right=CELL // 2)
    for cell in range(rows * columns):
        row, column = divmod(cell, columns)
        pen.rectangle(_box(row, column), fill=_SHADE, outline=_GRID)
        if layout.walls >> cell & 1:
            pen.rectangle(_box(row, column, inset=2), fill=_WALL)
    for vehicle, position in enumerate(state.positions):
        length, line, letter = layout.lengths[vehicle], layout.lines[vehicle], layout.letters[vehicle]
        flat = layout.horizontal[vehicle]
        corners = _box(line, position, 1, length, inset=5) if flat else _box(position, line, length, 1, inset=5)
        moved = last_move is not None and last_move.vehicle == letter
        fill = _PRIMARY if vehicle == 0 else _VEHICLES[vehicle % len(_VEHICLES)]
        pen.rounded_rectangle(corners, radius=10, fill=fill, outline=_INK, width=4 if moved else 1)
        _label(pen, corners, letter, _PAPER if vehicle == 0 else _INK, 20)
        if moved:
            _arrow(pen, corners, last_move.direction)
    frame = _box(0, 0, rows, columns)
    pen.rectangle(frame, outline=_INK, width=3)
    left, top, _, bottom = _box(puzzle.exit_row, columns)
    pen.line([(left, top + 3), (left, bottom - 3)], fill=_PAPER, width=5)
    middle = (top + bottom) // 2
    pen.polygon([(left + 6, middle - 9), (left + 6, middle + 9), (left + 20, middle)], fill=_PRIMARY)
    return image


def _arrow(pen: Any, corners: tuple[int, int, int, int], direction: str) -> None:
    """Draw a small arrow head at the end to which a vehicle went."""
    left, top, right, bottom = corners
    across, down = (left + right) // 2, (top + bottom) // 2
    heads = {
        "up": [(across - 7, top + 12), (across + 7, top + 12), (across, top + 4)],
        "down": [(across - 7, bottom - 12), (across + 7, bottom - 12), (across, bottom - 4)],
        "left": [(left + 12, down - 7), (left + 12, down + 7), (left + 4, down)],
        "right": [(right - 12, down - 7), (right - 12, down + 7), (right - 4, down)],
    }
    pen.polygon(heads[direction], fill=_INK)


def _draw_text(puzzle: Puzzle[Any, Any], start: Any, state: Any, last_move: Any) -> Image:
    """Draw the text of the board and the last move; as large as the start, or larger where the text has grown."""
    from PIL import Image, ImageDraw

    lines = show(puzzle, state, last_move).split("\n")
    start_lines = puzzle.render(start).split("\n")
    marked = len(lines) if last_move is None else len(lines) - 1
    width = max(len(line) for line in (*start_lines, *lines, "last move:" + 20 * " "))
    height = max(len(start_lines), marked) + 1
    image = Image.new("RGB", (2 * _MARGIN + 11 * width, 2 * _MARGIN + 22 * height), _PAPER)
    pen = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        for place, mark in enumerate(line):
            colour = _MARK if number >= marked else _INK
            pen.text((_MARGIN + 11 * place, _MARGIN + 22 * number), mark, fill=colour, font=_font(18))
    return image
