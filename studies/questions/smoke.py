"""Does the whole path work: SFT, RL, evaluation, collapse record and report, with the untrained policies beside it?"""

from __future__ import annotations

from studies.factors import Cell
from studies.questions import Scale

UNTRAINED = (("expert", 0.0, "semi"), ("noisy", 0.02, "strict"), ("random", 0.0, "semi"))
"""Learner, probability of a mistake, rule on errors."""


def cells(scale: Scale) -> tuple[Cell, ...]:
    """Return three trained conditions on the small board and three untrained policies on the real ones."""
    trained = tuple(
        scale.cell(interface, (scale.long,), learner)
        for interface, learner in (("atomic", "outcome"), ("macro", "outcome"), ("atomic", "subgoal"))
    )
    untrained = tuple(
        Cell(puzzle, family, learner=learner, mistake=mistake, on_error=on_error)
        for puzzle, family in (("sudoku", "l"), ("rush-hour", "r"))
        for learner, mistake, on_error in UNTRAINED
    )
    return trained + untrained
