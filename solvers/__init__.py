"""Exact solvers; `oracle(puzzle, start)` gives what they know about one instance."""

from collections.abc import Callable
from typing import Any

from puzzles.base import Puzzle
from solvers.base import Oracle
from solvers.breadth_first import BreadthFirstOracle

__all__ = ["ORACLES", "BreadthFirstOracle", "Oracle", "oracle"]


def _sudoku(puzzle: Any, start: Any, **options: Any) -> Oracle[Any, Any]:
    from solvers.sudoku import SudokuOracle

    return SudokuOracle(puzzle, start, **options)


def _rush_hour(puzzle: Any, start: Any, **options: Any) -> Oracle[Any, Any]:
    from solvers.rush_hour_oracle import RushHourOracle

    return RushHourOracle(puzzle, start, **options)


def _shop(puzzle: Any, start: Any, **options: Any) -> Oracle[Any, Any]:
    from solvers.shop import ShopOracle

    return ShopOracle(puzzle, start, **options)


ORACLES: dict[str, Callable[..., Oracle[Any, Any]]] = {"sudoku": _sudoku, "rush-hour": _rush_hour, "shop": _shop}
"""Makers of oracles by the puzzle's name; each compiles its solver on first use only."""


def oracle(puzzle: Puzzle[Any, Any], start: Any, **options: Any) -> Oracle[Any, Any]:
    """Return the oracle bound to `start`.

    A puzzle that is not listed in `ORACLES` may bring its own by a method `make_oracle(start, **options)`; without one
    it gets the generic `BreadthFirstOracle`.

    Args:
        puzzle: the rules.
        start: a state of that puzzle.
        options: keyword arguments of the oracle's maker.

    Raises:
        ValueError: if the start cannot be solved, or is too large for the oracle.
    """
    make = ORACLES.get(puzzle.name) or getattr(puzzle, "make_oracle", None)
    if make is None:
        return BreadthFirstOracle(puzzle, start, **options)
    return make(puzzle, start, **options) if puzzle.name in ORACLES else make(start, **options)
