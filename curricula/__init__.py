"""Levels, banks of proven instances, generators into levels, schedules and filters."""

from typing import Any

from curricula.levels import LEVELS, TECHNIQUE_LEVELS, Level, find_level

__all__ = [
    "LEVELS",
    "TECHNIQUE_LEVELS",
    "Instance",
    "Level",
    "find_level",
    "import_instances",
    "load_bank",
    "split_of",
]

_BANK_NAMES = ("Instance", "import_instances", "load_bank", "split_of")


def __getattr__(name: str) -> Any:
    """Load the banks, and with them the compiled solvers, on first use only."""
    if name in _BANK_NAMES:
        from curricula import banks

        return getattr(banks, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
