"""Which interface bears an environment in which actions fail, and what does recovery from errors save?"""

from __future__ import annotations

from studies.factors import Cell
from studies.questions import Scale

FAILURES = (0.0, 0.05, 0.1, 0.2)
"""Probability that an action has no effect."""
MISTAKE = 0.05
"""Probability that a decision of the noisy expert is wrong; on Rush Hour every error can be undone."""


def cells(scale: Scale) -> tuple[Cell, ...]:
    """Return single actions and macros trained at each failure rate, and a noisy expert that can recover."""
    trained = [
        scale.cell(interface, (scale.long,), failure=failure)
        for failure in FAILURES
        for interface in ("atomic", "macro")
    ]
    recovering = [
        Cell("rush-hour", "r", learner="noisy", on_error="stay", mistake=MISTAKE, failure=failure)
        for failure in FAILURES
    ]
    return (*trained, *recovering)
