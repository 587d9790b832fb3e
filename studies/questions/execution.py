"""How much of the loss at long distance is nothing but errors adding up, (1 - e)^d, and how much does recovery save?"""

from __future__ import annotations

from studies.factors import FAMILIES, Cell
from studies.questions import Scale

MISTAKES = (0.005, 0.01, 0.02, 0.05, 0.1)
"""Probability that a decision is wrong."""


def cells(scale: Scale) -> tuple[Cell, ...]:
    """Return noisy experts: on Sudoku with and without forgiveness, on Rush Hour, where every error can be undone."""
    arms: tuple[tuple[str, str], ...] = (("t", "strict"), ("l", "strict"), ("l", "stay"), ("r", "stay"))
    if scale.module:
        arms = ((scale.family, "strict"), (scale.family, "stay"))
    return tuple(_noisy(family, scale, mistake, on_error) for family, on_error in arms for mistake in MISTAKES)


def _noisy(family: str, scale: Scale, mistake: float, on_error: str) -> Cell:
    puzzle = FAMILIES[family].puzzle if family in FAMILIES else scale.puzzle
    return Cell(puzzle, family, learner="noisy", on_error=on_error, mistake=mistake, module=scale.module)
