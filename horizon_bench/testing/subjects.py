"""What is put to the test: a puzzle, a few of its starts, and a way to make its environments."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import gymnasium

import solvers
from horizon_bench.envs.instances import make_puzzle
from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.envs.registration import FAMILIES
from puzzles.base import LISTED_MOVES, Puzzle

_MOST_STARTS = 5
_MOST_STATES = 100


@dataclass(frozen=True)
class Subject:
    """A puzzle under test."""

    puzzle: Puzzle[Any, Any]
    """The rules."""
    starts: tuple[str, ...]
    """Texts of starts, at least one."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """Arguments of `PuzzleEnv` that make its environments."""

    def make(self, **arguments: Any) -> PuzzleEnv:
        """Return an environment of the puzzle; it starts from the first start unless told otherwise."""
        return PuzzleEnv(**{"instance": self.starts[0], **self.arguments, **arguments})

    def oracle(self, text: str) -> Any:
        """Return the oracle of a start."""
        if text not in self._oracles:
            self._oracles[text] = solvers.oracle(self.puzzle, self.puzzle.parse(text))
        return self._oracles[text]

    @cached_property
    def _oracles(self) -> dict[str, Any]:
        return {}

    @cached_property
    def vocabulary_elsewhere(self) -> tuple[str, ...] | None:
        """The puzzle's tokens in another process, which hashes texts otherwise; None where it cannot be asked there."""
        return _elsewhere(self.puzzle) if self.puzzle.vocabulary() else None

    @cached_property
    def known_moves(self) -> tuple[Any, ...]:
        """Every move the puzzle lists, or those that are legal in the states around the starts."""
        listed = self.puzzle.all_moves()
        if listed:
            return tuple(listed)
        if LISTED_MOVES in self.puzzle.lacks:
            return tuple(
                dict.fromkeys(move for text in self.starts for move in self.puzzle.moves(self.puzzle.parse(text)))
            )
        found: dict[Any, None] = {}
        for text in self.starts:
            seen = [self.puzzle.parse(text)]
            known = set(seen)
            for state in seen:
                moves = self.puzzle.moves(state)
                found.update(dict.fromkeys(moves))
                for move in moves if len(seen) < _MOST_STATES else ():
                    try:
                        after = self.puzzle.apply(state, move)
                    except ValueError:  # The law of legal moves says so.
                        continue
                    if after not in known:
                        known.add(after)
                        seen.append(after)
        return tuple(found)


def find_subject(
    puzzle: str | type[Puzzle[Any, Any]] | Puzzle[Any, Any], starts: Sequence[str] = (), **arguments: Any
) -> Subject:
    """Return what `check_puzzle` puts to the test.

    Args:
        puzzle: a class, an instance, a name in `PUZZLES`, an import string or a registered environment id.
        starts: texts of starts; by default the puzzle's `examples()`, or the first of its bank.
        arguments: further arguments of the environment, such as `level` or `size`.

    Raises:
        ValueError: if there is no such puzzle, or it offers no start.
    """
    if isinstance(puzzle, Puzzle):
        return _with_starts(puzzle, starts, {"puzzle": _Constant(puzzle), **arguments})
    if isinstance(puzzle, str) and puzzle not in FAMILIES.values() and "/" in puzzle:
        made: Any = gymnasium.make(puzzle, **arguments).unwrapped
        kept = {key: value for key, value in made.spec.kwargs.items() if key in ("puzzle", "size", "subgoals")}
        return _from_env(made, starts, kept)
    if starts:
        first = PuzzleEnv(puzzle=puzzle, instance=starts[0], **arguments)
        return Subject(first.puzzle, tuple(starts), {"puzzle": puzzle, **arguments})
    if isinstance(puzzle, str) and puzzle in FAMILIES.values():
        return _from_env(PuzzleEnv(puzzle=puzzle, **arguments), starts, {"puzzle": puzzle})
    return _with_starts(make_puzzle(puzzle, arguments.get("size")), starts, {"puzzle": puzzle, **arguments})


_ASKED = """
import json, pickle, sys
sys.path[:], puzzle = json.loads(sys.argv[1]), sys.stdin.buffer.read()
print(json.dumps(list(pickle.loads(puzzle).vocabulary())))
"""


def _elsewhere(puzzle: Puzzle[Any, Any]) -> tuple[str, ...] | None:
    """Return the vocabulary of a puzzle in a new process; None for a puzzle that cannot be sent there."""
    try:
        answer = subprocess.run(
            [sys.executable, "-c", _ASKED, json.dumps(sys.path)],
            input=pickle.dumps(puzzle),
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": "random"},
        )
        return tuple(json.loads(answer.stdout.splitlines()[-1]))  # Its module may print something before.
    except (OSError, subprocess.CalledProcessError, pickle.PicklingError, AttributeError, TypeError, ValueError):
        return None


class _Constant:
    """Makes always the same puzzle; equal for the same one."""

    def __init__(self, puzzle: Puzzle[Any, Any]) -> None:
        self._puzzle = puzzle

    def __call__(self) -> Puzzle[Any, Any]:
        """Return the puzzle."""
        return self._puzzle


def _with_starts(puzzle: Puzzle[Any, Any], starts: Sequence[str], arguments: dict[str, Any]) -> Subject:
    texts = tuple(starts) or tuple(puzzle.examples())
    if not texts:
        raise ValueError(f"puzzle {puzzle.name!r} offers no examples(); give starts=[TEXT, ...]")
    return Subject(puzzle, texts, arguments)


def _from_env(env: PuzzleEnv, starts: Sequence[str], arguments: dict[str, Any]) -> Subject:
    texts = tuple(starts) or tuple(
        each if isinstance(each, str) else each.start for each in islice(env.instances, _MOST_STARTS)
    )
    return Subject(env.puzzle, texts, arguments)
