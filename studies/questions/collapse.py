"""Does training single actions on long ways collapse, where macros, subgoal credit and short ways hold?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studies.factors import FAMILIES, TECHNIQUE_FAMILY, Cell
from studies.questions import Scale

STRESSES: Mapping[str, Mapping[str, Any]] = {
    "mismatch": {"thought": "checked", "slip": 0.02, "slip_known": False},
    "no mask": {"optimiser_steps": 4, "geometric_mask": False, "truncation": False},
    "dead ends": {"on_error": "dead", "normalized": False, "rate": 2.0},
}
"""Three things that strain training: a trainer that does not know how its sampler errs; several optimiser steps on a
batch without importance correction; episodes that go on after a fatal error, with raw returns and a high rate."""
CONDITIONS = (("atomic", "outcome"), ("macro", "outcome"), ("atomic", "ownsubgoal"))
"""Interface and credit on long ways; the first of them is trained on short ways, too."""


def cells(scale: Scale) -> tuple[Cell, ...]:
    """Return every condition under each stress; where a puzzle has no thoughts, under the other two."""
    known = scale.puzzle == "sudoku"
    return tuple(
        scale.cell(interface, (levels,), learner, **stress)
        for stress in STRESSES.values()
        if known or "thought" not in stress
        for interface, learner, levels in (
            *((interface, learner, longest(scale)) for interface, learner in CONDITIONS),
            (*CONDITIONS[0], scale.short),
        )
    )


def longest(scale: Scale) -> tuple[str, ...]:
    """Return the training levels of the long ways: those of the scale and the next one, which SFT has not seen."""
    if scale.module or scale.family == TECHNIQUE_FAMILY:
        return scale.long
    levels = FAMILIES[scale.family].levels
    following = levels[levels.index(scale.long[-1]) + 1 :][:1]
    return (*scale.long, *following)
