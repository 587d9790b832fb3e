"""Does training suffer when each action takes two decisions, what and then where, and nothing else changes?"""

from __future__ import annotations

from studies.factors import Cell
from studies.questions import Scale


def cells(scale: Scale) -> tuple[Cell, ...]:
    """Return whole and split actions on short and long levels; none for a puzzle of your own.

    The split policy is evaluated with whole actions as well: after SFT, the same weights act both ways.
    """
    if scale.module:
        return ()
    return tuple(
        scale.cell(interface, train, run_as=run_as)
        for train in scale.lengths
        for interface, run_as in (("atomic", ""), ("split", "atomic"))
    )
