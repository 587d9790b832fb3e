"""Does a macro policy lose its edge when the environment carries out only the first action of each reply?"""

from __future__ import annotations

from typing import Any

from studies.factors import Cell
from studies.questions import Scale

SLIP = 0.01
"""Probability of a slip per thought token: with some ten tokens a thought, a tenth of the turns are void."""


def cells(scale: Scale) -> tuple[Cell, ...]:
    """Return the macro policy, evaluated as macro and stepwise, and the atomic policy beside it."""
    train = (scale.long,)
    common: dict[str, Any] = {"thought": "checked", "slip": SLIP} if scale.puzzle == "sudoku" else {}
    return (
        scale.cell("macro", train, run_as="macro-stepwise", **common),
        scale.cell("atomic", train, **common),
    )
