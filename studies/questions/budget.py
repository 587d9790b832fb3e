"""Who wins when all have generated as many tokens, taken as long, or called the environment as often?"""

from __future__ import annotations

from studies.factors import Cell
from studies.questions import Scale

CONDITIONS = (
    ("atomic", "outcome"),
    ("macro", "outcome"),
    ("atomic", "ownsubgoal"),
    ("atomic", "grpo"),
    ("atomic", "ppo"),
    ("atomic", "vineppo"),
)
"""Interface and credit: their updates differ most in tokens, time and environment calls."""


def cells(scale: Scale) -> tuple[Cell, ...]:
    """Return every condition on the long levels."""
    return tuple(scale.cell(interface, (scale.long,), learner) for interface, learner in CONDITIONS)
