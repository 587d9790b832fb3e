"""Exact solvers; `oracle(puzzle, start)` gives what they know about one instance."""

from collections.abc import Callable
from typing import Any

from puzzles import PUZZLES
from puzzles.base import Puzzle
from solvers.base import Oracle
from solvers.breadth_first import BreadthFirstOracle
from solvers.shop import ShopOracle

__all__ = ["ORACLES", "BreadthFirstOracle", "Oracle", "check_owner", "oracle"]


def _sudoku(puzzle: Any, start: Any, **options: Any) -> Oracle[Any, Any]:
    from solvers.sudoku import SudokuOracle

    return SudokuOracle(puzzle, start, **options)


def _rush_hour(puzzle: Any, start: Any, **options: Any) -> Oracle[Any, Any]:
    from solvers.rush_hour_oracle import RushHourOracle

    return RushHourOracle(puzzle, start, **options)


ORACLES: dict[str, Callable[..., Oracle[Any, Any]]] = {"sudoku": _sudoku, "rush-hour": _rush_hour, "shop": ShopOracle}
"""Makers of oracles by the puzzle's name; those of Sudoku and Rush Hour load their compiled solvers on first use."""


def check_owner(puzzle: Puzzle[Any, Any]) -> None:
    """Check that a puzzle does not bear the name of another, whose solver it would get.

    Raises:
        ValueError: if it does.
    """
    owner = PUZZLES.get(puzzle.name)
    if isinstance(owner, type) and not isinstance(puzzle, owner):
        raise ValueError(
            f"puzzle {type(puzzle).__qualname__} has the name {puzzle.name!r}, which belongs to "
            f"{owner.__module__}.{owner.__qualname__}; give it another name"
        )


def oracle(puzzle: Puzzle[Any, Any], start: Any, **options: Any) -> Oracle[Any, Any]:
    """Return the oracle bound to `start`.

    A puzzle that is not listed in `ORACLES` may bring its own by a method `make_oracle(start, **options)`; without one
    it gets the generic `BreadthFirstOracle`.

    Args:
        puzzle: the rules.
        start: a state of that puzzle.
        options: keyword arguments of the oracle's maker.

    Raises:
        ValueError: if the start cannot be solved or is too large for the oracle, or the puzzle bears another's name.
    """
    check_owner(puzzle)
    if puzzle.name in ORACLES:
        return ORACLES[puzzle.name](puzzle, start, **options)
    own = getattr(puzzle, "make_oracle", None)
    return BreadthFirstOracle(puzzle, start, **options) if own is None else own(start, **options)
