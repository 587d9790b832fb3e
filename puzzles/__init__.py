"""Puzzles: states, moves, rules and text, known by name in `PUZZLES`."""

from collections.abc import Callable
from typing import Any

from puzzles.base import Puzzle
from puzzles.rush_hour import RushHour, Step
from puzzles.shop import Shop
from puzzles.sudoku import Sudoku

__all__ = ["PUZZLES", "Puzzle", "RushHour", "Shop", "Step", "Sudoku"]

PUZZLES: dict[str, Callable[..., Puzzle[Any, Any]]] = {"sudoku": Sudoku, "rush-hour": RushHour, "shop": Shop}
"""Makers of the built-in puzzles by name; options go to the maker (`size=` for Sudoku, `rows=` for Rush Hour,
`size=` and `seed=` for Shop)."""
