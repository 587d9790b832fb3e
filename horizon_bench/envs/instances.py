"""Where an episode's start comes from, and what is known about it before the first decision.

A `Workshop` holds everything that environments of one puzzle share (rules, parser, prepared instances), so that a
thousand lanes prepare each instance once.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

import solvers
from horizon_bench.envs.parsing import ReplyParser
from horizon_bench.envs.split import SplitReader
from puzzles import PUZZLES, Puzzle
from puzzles.names import check_name
from solvers.base import Oracle

_MOST_PREPARED = 1024

PuzzleName = str | Callable[..., Puzzle[Any, Any]]
"""How an environment's argument `puzzle` names a puzzle."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """One instance, ready to play."""

    start: Any
    text: str
    """The start, as the puzzle writes it."""
    key: str
    """Content key."""
    level: str
    """Name of the level, or `-`."""
    distance: int
    """Goal distance of the start, in atomic actions."""
    oracle: Oracle[Any, Any]
    subgoals_done: tuple[bool, ...]
    """Which subgoals hold at the start."""


class Workshop:
    """Rules, reply parser and prepared instances of one puzzle."""

    def __init__(self, puzzle: Puzzle[Any, Any], plain: Puzzle[Any, Any], subgoals: str | None = None) -> None:
        """Hold the puzzle.

        Args:
            puzzle: the rules in force.
            plain: the same rules without repairs, which say when nothing new can be done.
            subgoals: kind of subgoals, None for the oracle's own choice.
        """
        self.puzzle = puzzle
        self.plain = plain
        self._oracle_options = {} if subgoals is None else {"subgoals": subgoals}
        self.parser = ReplyParser(puzzle)
        self._splitter: SplitReader | None = None
        self._texts = dict(self.parser.texts)
        self._prepared: OrderedDict[str, Prepared] = OrderedDict()

    def write(self, move: Any) -> str:
        """Return the canonical text of a move."""
        text = self._texts.get(move)
        if text is None:
            if len(self._texts) >= _MOST_PREPARED:
                self._texts.clear()
            text = self._texts[move] = self.puzzle.format_action(move)
        return text

    @property
    def splitter(self) -> SplitReader:
        """Reader of half actions, made on first use."""
        if self._splitter is None:
            self._splitter = SplitReader(self.puzzle, self.parser)
        return self._splitter

    def prepare(self, instance: Any) -> Prepared:
        """Return the instance ready to play.

        Args:
            instance: text of a start, or a record with `start`, `key` and `level`.

        Raises:
            ValueError: if the text is no start of the puzzle, is solved already or cannot be solved.
        """
        text = instance if isinstance(instance, str) else getattr(instance, "start", None)
        if not isinstance(text, str):
            raise ValueError(f"instance is {instance!r}, must be the text of a start or a bank's record")
        known = self._prepared.get(text)
        if known is not None and (
            isinstance(instance, str) or (instance.key == known.key and instance.level == known.level)
        ):
            return known
        prepared = self._prepare(text, instance)
        self._prepared[text] = prepared
        if len(self._prepared) > _MOST_PREPARED:
            self._prepared.popitem(last=False)
        return prepared

    def _prepare(self, text: str, instance: Any) -> Prepared:
        start = self.puzzle.parse(text)
        if self.puzzle.solved(start):
            raise ValueError(f"instance {text!r} is solved already; give a start that is not")
        oracle = solvers.oracle(self.puzzle, start, **self._oracle_options)
        if oracle.distance_to_go(start) is None:
            raise ValueError(f"instance {text!r} cannot be solved; give one with a solution")
        plain = isinstance(instance, str)
        return Prepared(
            start=start,
            text=self.puzzle.format(start),
            key=self.puzzle.key(start) if plain else instance.key,
            level="-" if plain else instance.level,
            distance=oracle.distance,
            oracle=oracle,
            subgoals_done=tuple(oracle.subgoals_done(start)),
        )


def workshop(puzzle: PuzzleName, size: int | None, repairable: bool, subgoals: str | None = None) -> Workshop:
    """Return the shared workshop of a puzzle, one for all who ask for the same rules: what runs behind it runs once.

    Args:
        puzzle: a name in `PUZZLES` or an import string `module:Class`.
        size: rows of the board, for puzzles that take one.
        repairable: whether own moves may be overwritten, for puzzles that offer it.
        subgoals: kind of subgoals, for puzzles whose oracle offers several.

    Raises:
        ValueError: if there is no such puzzle, or it refuses the size.
    """
    return _workshop(puzzle, size, repairable and _takes(find_maker(puzzle), "overwrite"), subgoals)


@lru_cache(maxsize=64)
def _workshop(puzzle: PuzzleName, size: int | None, overwrites: bool, subgoals: str | None) -> Workshop:
    plain = make_puzzle(puzzle, size)
    if subgoals is not None and not _has_kinds_of_subgoals(plain):
        raise ValueError(f"puzzle {plain.name!r} has one kind of subgoals only; leave the argument `subgoals` out")
    if overwrites:
        return Workshop(make_puzzle(puzzle, size, overwrite=True), plain, subgoals)
    return Workshop(plain, plain, subgoals)


def find_maker(puzzle: PuzzleName) -> Callable[..., Puzzle[Any, Any]]:
    """Return the class or function that makes the puzzle.

    Args:
        puzzle: a name in `PUZZLES`, an import string `module:Class`, or the class itself (specs of environments made
            from a class do not serialise).

    Raises:
        ValueError: if the name is not registered, the import string leads nowhere, or to no puzzle.
    """
    if callable(puzzle):
        return _checked_maker(puzzle, puzzle)
    if not isinstance(puzzle, str) or ":" not in puzzle:
        return PUZZLES[check_name("puzzle", puzzle, PUZZLES)]
    module, _, name = puzzle.partition(":")
    try:
        maker: Any = import_module(module)
        for part in name.split("."):
            maker = getattr(maker, part)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"cannot import puzzle {puzzle!r} ({error}); write it as 'package.module:ClassName' of an importable module"
        ) from error
    return _checked_maker(maker, puzzle)


def _checked_maker(maker: Any, puzzle: PuzzleName) -> Callable[..., Puzzle[Any, Any]]:
    """Return the maker if it may make a puzzle."""
    if not callable(maker) or (isinstance(maker, type) and not issubclass(maker, Puzzle)):
        raise ValueError(
            f"puzzle {puzzle!r} is {maker!r}, must be a subclass of puzzles.base.Puzzle or a function that makes one"
        )
    made: Callable[..., Puzzle[Any, Any]] = maker
    return made


def make_puzzle(puzzle: PuzzleName, size: int | None, **options: Any) -> Puzzle[Any, Any]:
    """Return a puzzle at a size.

    Args:
        puzzle: as `find_maker` takes it.
        size: rows of the board; None leaves it to the puzzle.
        options: further keyword arguments of its maker.

    Raises:
        ValueError: if there is no such puzzle, it takes no size, its maker needs other arguments or makes anything
            else, or it has the name of another puzzle.
    """
    maker = find_maker(puzzle)
    given = {**_size_options(maker, puzzle, size), **options}
    try:
        inspect.signature(maker).bind(**given)
    except TypeError as error:
        raise ValueError(
            f"puzzle {puzzle!r} cannot be made with {', '.join(given) or 'no arguments'} ({error}); give its arguments "
            "defaults, or name a function that makes it"
        ) from error
    made: Any = maker(**given)
    if not isinstance(made, Puzzle):
        raise ValueError(f"puzzle {puzzle!r} makes {made!r:.80}, must make a subclass of puzzles.base.Puzzle")
    solvers.check_owner(made)
    return made


def _has_kinds_of_subgoals(puzzle: Puzzle[Any, Any]) -> bool:
    """Return whether the puzzle's oracle offers several kinds of subgoals."""
    if puzzle.name == "rush-hour":
        return True
    make = getattr(puzzle, "make_oracle", None)
    if puzzle.name in solvers.ORACLES or make is None:
        return False
    parameters = inspect.signature(make).parameters
    return "subgoals" in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())


def _takes(maker: Callable[..., Any], name: str) -> bool:
    return name in inspect.signature(maker).parameters


def _size_options(maker: Callable[..., Puzzle[Any, Any]], puzzle: PuzzleName, size: int | None) -> dict[str, int]:
    """Return the keyword arguments that set the size."""
    if size is None:
        return {}
    if _takes(maker, "size"):
        return {"size": size}
    if _takes(maker, "rows") and _takes(maker, "columns"):
        return {"rows": size, "columns": size}
    raise ValueError(f"puzzle {puzzle!r} takes no size; leave the argument `size` out")
