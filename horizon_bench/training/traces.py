"""Expert traces for SFT: states on expert ways, and for each state one reply in every mode. Torch-free.

All modes are written for the same states, so that every interface learns from the same boards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from horizon_bench.checks import check_least
from horizon_bench.training.halves import HALF_MODES, half_target
from puzzles.base import Puzzle
from puzzles.thoughts import missing_digits, write_thought
from solvers import oracle as make_oracle
from solvers.base import Oracle

MODE_TOKENS = {"atomic": "<atomic>", "macro": "<macro>", "fixed": "<fixed>"}
"""Mode token of each kind of target, as the environments show it."""


@dataclass(frozen=True)
class TargetSettings:
    """What the replies of the traces look like."""

    macro_length: int = 4
    """Most actions in a macro; its length is drawn evenly from 1 to what the expert has at hand."""
    fixed_length: int = 2
    """Actions in a fixed macro; fewer only where the goal comes first."""
    thoughts: bool = False
    """Replies begin with a compact thought, where the puzzle has one."""
    scans: int = 2
    """Boxes that a Sudoku thought scans."""

    def __post_init__(self) -> None:
        """Check the fields."""
        check_least(self, 1, "macro_length", "fixed_length", "scans")


@dataclass(frozen=True)
class Thinking:
    """A thought, and which of the expert's moves it leads to."""

    tokens: tuple[str, ...]
    """Tokens between `<think>` and `</think>`."""
    rank: Callable[[Any], int]
    """Order of a move: 0 for moves that the end of the thought prepares, then 1, ...; negative for none."""


def sudoku_thinking(
    puzzle: Any, state: Any, moves: Sequence[Any], settings: TargetSettings, rng: np.random.Generator
) -> Thinking:
    """Return a thought that scans boxes, the box of one expert move last.

    Args:
        puzzle: Sudoku rules.
        state: the board.
        moves: the expert's moves.
        settings: number of scans.
        rng: chooses the boxes.
    """
    boxes, box_of = puzzle.layout.boxes, puzzle.layout.box_of
    ready = sorted({box_of[move.cell] for move in moves})
    last = ready[rng.integers(len(ready))]
    others = [box for box, cells in enumerate(boxes) if box != last and missing_digits(state.values, cells)]
    rng.shuffle(others)
    scans = [*others[: settings.scans - 1], last]
    scans = [last] * (settings.scans - len(scans)) + scans
    ranks = {box: len(scans) - 1 - place for place, box in enumerate(scans)}
    return Thinking(write_thought(state.values, boxes, scans), lambda move: ranks.get(box_of[move.cell], -1))


THINKERS: dict[str, Callable[..., Thinking]] = {"sudoku": sudoku_thinking}
"""Writers of thoughts by the puzzle's name."""


class TargetWriter:
    """Writes the expert's reply to one state in each mode, ties broken at random."""

    def __init__(self, puzzle: Puzzle[Any, Any], settings: TargetSettings, rng: np.random.Generator) -> None:
        """Prepare a writer.

        Args:
            puzzle: the rules.
            settings: lengths and thoughts.
            rng: breaks every tie.

        Raises:
            ValueError: if thoughts are wanted of a puzzle that has none.
        """
        if settings.thoughts and puzzle.name not in THINKERS:
            raise ValueError(f"puzzle {puzzle.name!r} has no compact thoughts; known: {', '.join(THINKERS)}")
        self.puzzle, self.settings, self.rng = puzzle, settings, rng
        self._independent = puzzle.name == "sudoku"

    def targets(self, oracle: Oracle[Any, Any], state: Any, modes: Sequence[str]) -> list[tuple[str, ...]]:
        """Return one reply per mode as tokens, its mode token first and no end token.

        Args:
            oracle: bound to the state's instance.
            state: a state from which the goal is in reach, not solved.
            modes: names in `MODE_TOKENS` or `HALF_MODES`, repeated at will.
        """
        choices = oracle.expert_moves(state)
        return [self._target(oracle, state, choices, mode) for mode in modes]

    def _target(self, oracle: Oracle[Any, Any], state: Any, choices: Sequence[Any], mode: str) -> tuple[str, ...]:
        thought: list[str] = []
        moves = list(choices)
        self.rng.shuffle(moves)
        if mode in HALF_MODES:
            return half_target(self.puzzle, moves[0], mode)
        ranks: Callable[[Any], int] = _no_rank
        if self.settings.thoughts:
            thinking = THINKERS[self.puzzle.name](self.puzzle, state, choices, self.settings, self.rng)
            thought = ["<think>", *thinking.tokens, "</think>"]
            ranks = thinking.rank
            moves = sorted((move for move in moves if ranks(move) >= 0), key=ranks)
        if mode == "atomic":
            chosen = moves[:1]
        elif mode == "macro":
            chosen = self._macro(oracle, state, moves, ranks)
        else:
            chosen = self._fixed(oracle, state, moves)
        actions = [token for move in chosen for token in self.puzzle.compact_action(move)]
        return (MODE_TOKENS[mode], *thought, *actions)

    def _macro(self, oracle: Oracle[Any, Any], state: Any, moves: list[Any], ranks: Callable[[Any], int]) -> list[Any]:
        """Return 1 to `macro_length` moves, all lengths that the expert has at hand equally likely."""
        longest = self.settings.macro_length
        if not self._independent:
            return self._walk(oracle, state, moves[:1], int(self.rng.integers(1, longest + 1)), stops=True)
        length = int(self.rng.integers(1, min(len(moves), longest) + 1))
        picked = [moves[index] for index in self.rng.permutation(len(moves))[:length]]
        return sorted(picked, key=lambda move: (ranks(move), move))

    def _fixed(self, oracle: Oracle[Any, Any], state: Any, moves: list[Any]) -> list[Any]:
        """Return exactly `fixed_length` moves, fewer where the goal comes first."""
        length = self.settings.fixed_length
        return self._walk(oracle, state, moves[:length] if self._independent else moves[:1], length)

    def _walk(
        self, oracle: Oracle[Any, Any], state: Any, moves: list[Any], length: int, stops: bool = False
    ) -> list[Any]:
        """Return the moves continued by expert moves, each after the one before, up to `length`.

        A flexible macro stops at a move that reveals what could not be foreseen; a fixed one cannot.
        """
        blind = False
        for move in moves:
            blind = stops and self.puzzle.reveals(state, move)
            state = self.puzzle.apply(state, move)
        while len(moves) < length and not blind and (choices := oracle.expert_moves(state)):
            move = choices[self.rng.integers(len(choices))]
            moves = [*moves, move]
            blind = stops and self.puzzle.reveals(state, move)
            state = self.puzzle.apply(state, move)
        return moves


def _no_rank(move: Any) -> int:
    return 0


def expert_states(
    puzzle: Puzzle[Any, Any],
    starts: Sequence[str],
    rng: np.random.Generator,
    expert: Callable[[Oracle[Any, Any]], Oracle[Any, Any]] = lambda oracle: oracle,
) -> Iterator[tuple[Oracle[Any, Any], Any]]:
    """Yield every unsolved state of one expert walk from each start, ties broken at random.

    Args:
        puzzle: the rules.
        starts: starts as `Puzzle.format` writes them.
        rng: breaks ties.
        expert: makes the oracle whose moves are walked and which is yielded, of the plain one.
    """
    for text in starts:
        state = puzzle.parse(text)
        oracle = expert(make_oracle(puzzle, state))
        while choices := oracle.expert_moves(state):
            yield oracle, state
            state = puzzle.apply(state, choices[rng.integers(len(choices))])
