"""Does a larger model only push the distance out, or does it change what single actions and macros gain?"""

from __future__ import annotations

from studies.factors import Cell
from studies.questions import Scale

WIDTHS = (0.5, 1.0, 2.0)
"""Width of the model as a multiple of the usual one."""


def cells(scale: Scale) -> tuple[Cell, ...]:
    """Return single actions and macros of three model sizes."""
    return tuple(
        scale.cell(interface, (scale.long,), width=width) for width in WIDTHS for interface in ("atomic", "macro")
    )
