"""`horizon-bench generate sudoku`, `rush-hour` and `shop`: new instances, made to order and proven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from curricula.levels import SHOP_SIZE, Level, find_level

if TYPE_CHECKING:
    from curricula.instances import Instance


@dataclass(frozen=True)
class GenerateSudoku:
    """Make new Sudoku puzzles with exactly the blanks asked for and exactly one solution."""

    level: str | None = None
    """Level such as L3, T2, M4 or L3-pair; or say --blanks."""
    count: int = 1
    """Number of puzzles."""
    seed: int = 0
    """The same seed gives the same puzzles; others have nothing in common."""
    blanks: tuple[int, ...] = ()
    """Number of blanks, or lowest and highest."""
    size: int = 9
    """Rows of the board where --blanks is given: 4, 6 or 9."""
    restrict: tuple[str, ...] = ()
    """Techniques that together must suffice, by name, e.g. "Naked Single"."""
    hardest: tuple[str, ...] = ()
    """Techniques of which one must be the hardest needed, by name."""
    max_tries: int | None = None
    """Grids tried for one puzzle before giving up with an error."""

    def run(self) -> int:
        """Print `givens level distance grade solution key seed` a line."""
        level = _asked("sudoku", self.level, self.blanks, "blanks", self.size)
        if self.hardest:
            level = replace(level, techniques=self.hardest)
        header = ("givens", "level", "distance", "grade", "solution", "key", "seed")
        return _print(level, self.count, self.seed, self.max_tries, header, self.restrict)


@dataclass(frozen=True)
class GenerateRushHour:
    """Make new Rush Hour boards whose goal distance, in steps, lies in a range."""

    level: str | None = None
    """Level such as R2; or say --steps."""
    count: int = 1
    """Number of boards."""
    seed: int = 0
    """The same seed gives the same boards; others have nothing in common."""
    steps: tuple[int, ...] = ()
    """Goal distance in steps, or lowest and highest."""
    max_tries: int | None = None
    """Random boards tried for one board before giving up with an error."""

    def run(self) -> int:
        """Print `board level distance slides path key seed` a line."""
        level = _asked("rush-hour", self.level, self.steps, "steps", 6)
        header = ("board", "level", "distance", "slides", "path", "key", "seed")
        return _print(level, self.count, self.seed, self.max_tries, header)


@dataclass(frozen=True)
class GenerateShop:
    """Make new shopping lists whose goal distance, in actions, lies in a range."""

    level: str | None = None
    """Level such as S2; or say --actions."""
    count: int = 1
    """Number of lists."""
    seed: int = 0
    """The same seed gives the same lists; others have nothing in common."""
    actions: tuple[int, ...] = ()
    """Goal distance in actions, or lowest and highest."""
    max_tries: int | None = None
    """Random lists tried for one list before giving up with an error."""

    def run(self) -> int:
        """Print `list level distance plan key seed` a line."""
        level = _asked("shop", self.level, self.actions, "actions", SHOP_SIZE)
        header = ("list", "level", "distance", "plan", "key", "seed")
        return _print(level, self.count, self.seed, self.max_tries, header)


_FIELDS = {"givens": "start", "board": "start", "list": "start", "path": "solution", "plan": "solution"}
"""Columns called otherwise than the field of `Instance` they show."""


def _asked(puzzle: str, name: str | None, span: Sequence[int], unit: str, size: int) -> Level:
    """Return the level asked for by name or by range."""
    if (name is None) == (not span):
        raise ValueError(f"say either --level or --{unit}")
    if name is not None:
        level = find_level(name)
        if level.puzzle != puzzle:
            raise ValueError(f"level {name} is one of {level.puzzle}, not of {puzzle}")
        return level
    if len(span) > 2:
        raise ValueError(f"--{unit} takes one number or two, got {len(span)}")
    return Level(f"{unit} {span[0]}-{span[-1]}", puzzle, size, span[0], span[-1])


def _print(
    level: Level, count: int, seed: int, max_tries: int | None, header: Sequence[str], restrict: tuple[str, ...] = ()
) -> int:
    from curricula.making import make_instance

    if count < 0:
        raise ValueError(f"count is {count}, must be 0 or more")
    print("\t".join(header))
    for index in range(count):
        print("\t".join(_columns(make_instance(level, seed, index, max_tries, restrict), header)), flush=True)
    return 0


def _columns(instance: Instance, header: Sequence[str]) -> list[str]:
    return [str(getattr(instance, _FIELDS.get(name, name))) for name in header]
