"""How much of the loss at long distance is nothing but errors adding up, (1 - e)^d, and how much does recovery save?"""

from __future__ import annotations

from studies.factors import FAMILIES, Cell
from studies.questions import Scale

MISTAKES = (0.005, 0.01, 0.02, 0.05, 0.1)
"""Probability that a decision is wrong."""


def cells(scale: Scale) -> tuple[Cell, ...]:
    """Return noisy experts that no error is forgiven, and on Rush Hour ones that may undo an error."""
    families = tuple(FAMILIES) if not scale.module else (scale.family,)
    strict = tuple(_noisy(family, scale, mistake, "strict") for family in families for mistake in MISTAKES)
    recovering = tuple(_noisy("r", scale, mistake, "stay") for mistake in MISTAKES if "r" in families)
    return strict + recovering


def _noisy(family: str, scale: Scale, mistake: float, on_error: str) -> Cell:
    puzzle = FAMILIES[family].puzzle if family in FAMILIES else scale.puzzle
    return Cell(puzzle, family, learner="noisy", on_error=on_error, mistake=mistake, module=scale.module)
