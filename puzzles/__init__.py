"""Puzzles: states, moves, rules and text, known by name in `PUZZLES`."""

from collections.abc import Callable
from typing import Any

from puzzles.base import Puzzle
from puzzles.rush_hour import RushHour, Step
from puzzles.shop import Shop

__all__ = ["PUZZLES", "Puzzle", "RushHour", "Shop", "Step"]


def _sudoku(*arguments: Any, **options: Any) -> Puzzle[Any, Any]:
    from puzzles.sudoku import Sudoku

    return Sudoku(*arguments, **options)


PUZZLES: dict[str, Callable[..., Puzzle[Any, Any]]] = {"sudoku": _sudoku, "rush-hour": RushHour, "shop": Shop}
"""Makers of the built-in puzzles by name; options go to the maker (`size=` for Sudoku, `rows=` for Rush Hour,
`size=` and `seed=` for Shop)."""
