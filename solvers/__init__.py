"""Exact solvers; `oracle(puzzle, start)` gives what they know about one instance."""

from collections.abc import Callable
from typing import Any

from puzzles.base import Puzzle
from solvers.base import Oracle
from solvers.breadth_first import BreadthFirstOracle
from solvers.shop import ShopOracle

__all__ = ["ORACLES", "BreadthFirstOracle", "Oracle", "oracle"]


def _sudoku(puzzle: Any, start: Any, **options: Any) -> Oracle[Any, Any]:
    from solvers.sudoku import SudokuOracle

    return SudokuOracle(puzzle, start, **options)


def _rush_hour(puzzle: Any, start: Any, **options: Any) -> Oracle[Any, Any]:
    from solvers.rush_hour_oracle import RushHourOracle

    return RushHourOracle(puzzle, start, **options)


ORACLES: dict[str, Callable[..., Oracle[Any, Any]]] = {"sudoku": _sudoku, "rush-hour": _rush_hour, "shop": ShopOracle}
"""Makers of oracles by the puzzle's name; those of Sudoku and Rush Hour load their compiled solvers on first use."""


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
    if puzzle.name in ORACLES:
        return ORACLES[puzzle.name](puzzle, start, **options)
    own = getattr(puzzle, "make_oracle", None)
    return BreadthFirstOracle(puzzle, start, **options) if own is None else own(start, **options)
