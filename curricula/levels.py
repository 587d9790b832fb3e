"""Levels: named ranges of goal distance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from puzzles import PUZZLES, Puzzle
from puzzles.names import check_name


@dataclass(frozen=True)
class Level:
    """A named range of goal distance of one puzzle at one size."""

    name: str
    puzzle: str
    """Name in `PUZZLES`."""
    size: int
    """Rows of the (square) board; products of a shop."""
    low: int
    """Smallest goal distance, in atomic actions."""
    high: int
    """Largest goal distance, in atomic actions."""
    techniques: tuple[str, ...] = ()
    """Sudoku: the hardest technique needed is one of these; () if any will do."""

    def misfit(self, puzzle: str, size: int, distance: int, grade: str) -> str | None:
        """Return why an instance with these facts is not one of the level, None if it is."""
        if (puzzle, size) != (self.puzzle, self.size):
            return f"level {self.name} holds {self.puzzle} of size {self.size}, this is {puzzle} of size {size}"
        if not self.low <= distance <= self.high:
            return f"distance {distance} is not in level {self.name} ({self.low} to {self.high})"
        if self.techniques and grade not in self.techniques:
            return f"hardest technique {grade!r} is not one of level {self.name}"
        return None

    def make_puzzle(self, **options: Any) -> Puzzle[Any, Any]:
        """Return the level's puzzle; `options` go to its maker."""
        return make_puzzle(self.puzzle, self.size, **options)


SHOP_SIZE = 3000
"""Products of the shop that the levels are about."""

_RANGES = {
    ("sudoku", 9, "L"): ((11, 15), (16, 20), (21, 25), (26, 30), (31, 35), (36, 40), (41, 45)),
    ("sudoku", 4, "T"): ((4, 5), (6, 7), (8, 9), (10, 10), (11, 12)),
    ("sudoku", 6, "M"): ((5, 9), (10, 14), (15, 19), (20, 23), (24, 26)),
    ("rush-hour", 6, "R"): ((4, 9), (10, 12), (13, 15), (16, 18), (19, 21), (22, 30), (31, 40)),
    ("shop", SHOP_SIZE, "S"): ((3, 4), (5, 6), (7, 9), (10, 13), (14, 18), (19, 24)),
}

LEVELS: dict[str, Level] = {
    f"{prefix}{number}": Level(f"{prefix}{number}", puzzle, size, low, high)
    for (puzzle, size, prefix), ranges in _RANGES.items()
    for number, (low, high) in enumerate(ranges, start=1)
}
"""Every level by name: Sudoku `L1`-`L7` (9x9), `T1`-`T5` (4x4), `M1`-`M5` (6x6); Rush Hour `R1`-`R7` (6x6);
Shop `S1`-`S6`."""

TECHNIQUE_CLASSES = {
    "single": ("Full House", "Naked Single", "Hidden Single"),
    "pair": (
        "Locked Pair",
        "Locked Candidates Type 1 (Pointing)",
        "Locked Candidates Type 2 (Claiming)",
        "Naked Pair",
        "Hidden Pair",
    ),
    "fish": ("X-Wing", "Finned X-Wing", "Sashimi X-Wing", "Swordfish", "Jellyfish", "W-Wing", "XY-Wing", "XYZ-Wing"),
}
"""Classes of the technique-by-distance bank: the hardest technique needed is of the class."""

TECHNIQUE_LEVELS: dict[str, Level] = {
    f"{level.name}-{name}": replace(level, name=f"{level.name}-{name}", techniques=techniques)
    for level in (LEVELS["L2"], LEVELS["L3"], LEVELS["L4"], LEVELS["L5"])
    for name, techniques in TECHNIQUE_CLASSES.items()
}
"""Levels of the technique-by-distance bank: `L2-single` .. `L5-fish`."""

# No puzzle of 16 or 17 blanks turned up that needs a pair and nothing harder (400 attempts each).
TECHNIQUE_LEVELS["L2-pair"] = replace(TECHNIQUE_LEVELS["L2-pair"], low=18)


def find_level(name: str) -> Level:
    """Return the level called `name`, one of `LEVELS` or `TECHNIQUE_LEVELS`.

    Raises:
        ValueError: naming the nearest ones, if there is none.
    """
    known = {**LEVELS, **TECHNIQUE_LEVELS}
    return known[check_name("level", name, known)]


def make_puzzle(name: str, size: int, **options: Any) -> Puzzle[Any, Any]:
    """Return the puzzle called `name` with boards of `size` rows; an unknown name raises `ValueError`."""
    check_name("puzzle", name, PUZZLES)
    if name == "rush-hour":
        return PUZZLES[name](rows=size, columns=size, **options)
    return PUZZLES[name](size=size, **options)


def level_of(puzzle: str, size: int, distance: int) -> str:
    """Return the name of the level that holds a distance, or `-` where none does."""
    for level in LEVELS.values():
        if (level.puzzle, level.size) == (puzzle, size) and level.low <= distance <= level.high:
            return level.name
    return "-"
