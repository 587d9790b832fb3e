"""What keeps training stable as the policy moves within a batch: sequence cap, geometric mask, normalised returns?"""

from __future__ import annotations

from itertools import product

from studies.factors import Cell
from studies.questions import Scale

STEPS, RATE = 4, 0.5
"""Optimiser steps a batch, and their learning rate as a multiple of the usual one."""


def cells(scale: Scale) -> tuple[Cell, ...]:
    """Return all eight recipes with several optimiser steps a batch, and the full one with a single step.

    Beside them stand both corrections and neither of them at the usual rate, where the policy moves twice as far
    within a batch.
    """
    recipes = product((True, False), repeat=3)
    return (
        scale.cell("macro", (scale.long,)),
        *(
            scale.cell(
                "macro",
                (scale.long,),
                truncation=truncation,
                geometric_mask=mask,
                normalized=normalized,
                optimiser_steps=STEPS,
                rate=RATE,
            )
            for truncation, mask, normalized in recipes
        ),
        *(
            scale.cell("macro", (scale.long,), truncation=kept, geometric_mask=kept, optimiser_steps=STEPS)
            for kept in (True, False)
        ),
    )
