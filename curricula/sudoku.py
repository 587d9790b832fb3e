"""Sudoku starts of a level."""

from __future__ import annotations

import numpy as np

from curricula.levels import Level
from curricula.sudoku_generator import generate


def make_start(level: Level, rng: np.random.Generator, restrict: tuple[str, ...] = (), max_tries: int = 400) -> str:
    """Return a start with the level's blanks and techniques and exactly one solution.

    Args:
        level: blanks, and the techniques of which one must be the hardest needed.
        rng: source of randomness.
        restrict: techniques that together must suffice; any by default.
        max_tries: budget of grids.

    Raises:
        ValueError: if the budget is used up; the message says what was tried.
    """
    asked = (level.low, level.high)
    technique = level.techniques or None
    made = generate(1, level.size, asked, technique=technique, restrict=restrict or None, rng=rng, attempts=max_tries)
    return made[0].givens
