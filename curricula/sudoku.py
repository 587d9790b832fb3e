"""Sudoku starts of a level."""

from __future__ import annotations

import numpy as np

from curricula.levels import Level
from curricula.sudoku_generator import generate


def make_start(level: Level, rng: np.random.Generator, restrict: tuple[str, ...] = (), max_tries: int = 400) -> str:
    """Return a start with the level's blanks and techniques and exactly one solution."""
    return generate(1, level.size, (level.low, level.high), rng=rng, attempts=max_tries)[0].givens
