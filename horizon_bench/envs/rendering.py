"""Boards as text and pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from puzzles.base import Puzzle

RENDER_MODES = ("ansi", "rgb_array", "human")
"""How an environment can be looked at."""


def show(puzzle: Puzzle[Any, Any], state: Any, last_move: Any = None) -> str:
    """Return the board as text, with the last move beneath."""
    text = puzzle.render(state)
    return text if last_move is None else f"{text}\nlast move: {puzzle.format_action(last_move)}"


def draw(puzzle: Puzzle[Any, Any], start: Any, state: Any, last_move: Any = None) -> NDArray[np.uint8]:
    """Return the board as a picture, shape [height, width, 3]."""
    from PIL import Image, ImageDraw

    text = show(puzzle, state, last_move)
    lines = text.split("\n")
    image = Image.new("RGB", (20 + 8 * max(map(len, lines)), 20 + 16 * len(lines)), "white")
    ImageDraw.Draw(image).multiline_text((10, 10), text, fill="black")
    return np.asarray(image, dtype=np.uint8).copy()
