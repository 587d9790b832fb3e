"""Does a macro help in the measure in which a turn, rather than an action, is risky?"""

from __future__ import annotations

from studies.factors import Cell
from studies.questions import Scale

RULES = ("semi", "strict")
"""What follows an illegal action: it is skipped, or it ends the episode."""
SLIPS = (0.0, 0.005, 0.01, 0.02)
"""Probability that a token of the thought slips; a false thought loses the turn, and with it the episode."""
LEARNED = (0.0, 0.01, 0.02)
"""Slips at which RL follows SFT."""


def cells(scale: Scale) -> tuple[Cell, ...]:
    """Return single actions and macros at each risk under each rule; none for a puzzle without thoughts."""
    if scale.puzzle != "sudoku":
        return ()
    return tuple(
        scale.cell(
            interface,
            (scale.long,) if slip in LEARNED else (),
            "outcome" if slip in LEARNED else "sft",
            on_error=rule,
            thought="checked",
            slip=slip,
        )
        for rule in RULES
        for slip in SLIPS
        for interface in ("atomic", "macro")
    )
