"""How many actions should a reply hold: exactly k, at most k, or as many as the policy likes?"""

from __future__ import annotations

from studies.factors import Cell
from studies.questions import Scale

INTERFACES = (
    "atomic",
    "macro-capped-2",
    "macro-capped-3",
    "macro",
    "macro-fixed-2",
    "macro-fixed-3",
    "macro-fixed-4",
)


def cells(scale: Scale) -> tuple[Cell, ...]:
    """Return every macro size, trained on the long levels; each fixed size learns its own replies in SFT."""
    return tuple(scale.cell(interface, (scale.long,)) for interface in INTERFACES)
