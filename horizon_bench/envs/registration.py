"""Registers the environment ids: one for each puzzle, and a ready one for each level that has a bank and interface."""

from __future__ import annotations

from typing import Any

import gymnasium

from curricula.instances import DATA
from curricula.levels import LEVELS
from horizon_bench.envs.instances import find_maker
from horizon_bench.envs.interfaces import INTERFACES
from horizon_bench.envs.puzzle_env import ARGUMENTS, SETTINGS
from horizon_bench.envs.settings import Settings
from puzzles.names import check_name

NAMESPACE = "horizon_bench"

ENTRY_POINT = "horizon_bench.envs.puzzle_env:PuzzleEnv"
VECTOR_ENTRY_POINT = "horizon_bench.envs.vector:make_vector"

FAMILIES: dict[str, str] = {"Sudoku": "sudoku", "RushHour": "rush-hour", "Shop": "shop"}
"""Puzzle of each id's first part."""

WORLDS: dict[str, str] = {"TextWorld": "horizon_bench.outside.textworld:TextWorld"}
"""Import strings of the worlds from other packages that need nothing but what ships, by each id's first part."""

PLAYED: dict[str, str] = {
    "ScienceWorld": "horizon_bench.outside.scienceworld:ScienceWorld",
    "ALFWorld": "horizon_bench.outside.alfworld:ALFWorld",
}
"""The same for worlds that only their own packages can play."""


def register_all() -> None:
    """Register every id; a second call changes nothing."""
    for family, puzzle in FAMILIES.items():
        _register(f"{NAMESPACE}/{family}-v0", puzzle=puzzle)
    for name, puzzle in {**WORLDS, **PLAYED}.items():
        _register(f"{NAMESPACE}/{name}-v0", puzzle=puzzle)
    _register(f"{NAMESPACE}/Puzzle-v0")
    for level in LEVELS.values():
        if not (DATA / f"{level.name}.tsv").exists():
            continue
        for interface in INTERFACES:
            _register(ready_id(level.name, interface), puzzle=level.puzzle, level=level.name, interface=interface)


def ready_id(level: str, interface: str) -> str:
    """Return the id of a level under an interface.

    >>> ready_id("L3", "macro")
    'horizon_bench/Sudoku-L3-macro-v0'
    """
    family = {puzzle: name for name, puzzle in FAMILIES.items()}[LEVELS[level].puzzle]
    return f"{NAMESPACE}/{family}-{level}-{interface}-v0"


def register_puzzle(env_id: str, puzzle: str | type, **defaults: Any) -> None:
    """Register a puzzle of your own under an id of its own.

    Args:
        env_id: the new id, such as `my_package/LightsOut-v0`.
        puzzle: import string of the class, such as `my_package.lights_out:LightsOut`.
        defaults: default arguments of the environment.

    Raises:
        ValueError: if the puzzle cannot be imported, or an argument or its value is unknown.
    """
    for name in defaults:
        check_name("argument", name, ARGUMENTS)
    Settings(**{name: value for name, value in defaults.items() if name in SETTINGS})
    if isinstance(puzzle, type):
        puzzle = f"{puzzle.__module__}:{puzzle.__qualname__}"
    find_maker(puzzle)
    _register(env_id, puzzle=puzzle, **defaults)


def _register(env_id: str, **arguments: Any) -> None:
    known = gymnasium.registry.get(env_id)
    if known is not None and known.kwargs == arguments:
        return
    gymnasium.register(
        env_id,
        ENTRY_POINT,
        vector_entry_point=VECTOR_ENTRY_POINT,
        # The environment itself says what is out of order, and tests hold every id against the checker; as wrappers
        # both would cost time in each step.
        order_enforce=False,
        disable_env_checker=True,
        kwargs=arguments,
    )
