"""Sudokus whose way is known: a technique set that suffices, or a hardest technique that is needed.

Two ways lead there. *Digging within* blanks a full grid while a set of techniques still solves the rest. *Topping up*
starts from a hard puzzle and gives digits back while the techniques but the wanted one still do not suffice; so a wing
or a fish is needed even with few blanks left. Where that gets stuck above the blanks asked for, some givens are
blanked and others given back, as long as it gets no worse.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from puzzles.sudoku_symmetry import board_text
from solvers.sudoku_digging import dig_batch
from solvers.sudoku_search import peer_table, unit_table
from solvers.techniques import TECHNIQUES, grade, solvable_with
from solvers.techniques.table import code_of

HARD_BLANKS: dict[int, int] = {4: 11, 6: 25, 9: 55}
"""Blanks of the puzzles that topping up starts from, by size: few puzzles have many more."""

_BASES = 100
_ROUNDS = 40
_REOPENED = 6
_SINGLES = 3

Uint8Array = NDArray[np.uint8]


@dataclass(frozen=True)
class TechniqueRequest:
    """What the way of a puzzle must be like."""

    wanted: frozenset[str]
    """The hardest technique must be one of these; empty if any will do."""
    restrict: frozenset[str] | None
    """Techniques that together must suffice; None if any may be needed."""

    @classmethod
    def of(cls, technique: str | Collection[str] | None, restrict: Collection[str] | None) -> TechniqueRequest:
        """Return the request with every name as the table writes it.

        Raises:
            ValueError: if a name is unknown, or a wanted technique is not among those allowed.
        """
        names = () if technique is None else (technique,) if isinstance(technique, str) else tuple(technique)
        wanted = frozenset(TECHNIQUES[code_of(name)].name for name in names)
        allowed = None if restrict is None else frozenset(TECHNIQUES[code_of(name)].name for name in restrict)
        if allowed is not None and not wanted <= allowed:
            raise ValueError(f"technique {', '.join(sorted(wanted - allowed))} is wanted but not allowed by restrict")
        return cls(wanted, allowed)

    @property
    def within(self) -> frozenset[str]:
        """Techniques that a puzzle may need."""
        last = max((code_of(name) for name in self.wanted), default=len(TECHNIQUES))
        names = frozenset(technique.name for technique in TECHNIQUES[: last + 1] if technique.graded)
        return names if self.restrict is None else self.restrict - {one.name for one in TECHNIQUES[last + 1 :]}

    @property
    def without(self) -> frozenset[str]:
        """The same techniques less the wanted ones: they must not suffice."""
        return self.within - self.wanted

    def met_by(self, puzzle: str) -> bool:
        """Return whether a puzzle with one solution is as requested."""
        if not self.wanted:
            return solvable_with(puzzle, self.within)
        return grade(puzzle, self.restrict).hardest in self.wanted

    def __str__(self) -> str:
        parts = []
        if self.wanted:
            parts.append(f"hardest technique {' or '.join(sorted(self.wanted))}")
        if self.restrict is not None:
            parts.append(f"solvable with {', '.join(sorted(self.restrict)) or 'no technique'} only")
        return " and ".join(parts)


def technique_puzzle(
    size: int, target: int, request: TechniqueRequest, seed: int, attempts: int
) -> tuple[str, str, str]:
    """Return a puzzle of exactly `target` blanks that meets a request, with its solution.

    Returns:
        Puzzle, solution and ""; if no attempt met the request, two empty texts and how far the attempts got.
    """
    rng = np.random.default_rng(seed)
    hard = bool(request.wanted) and max(code_of(name) for name in request.wanted) >= _SINGLES
    reached: list[int] = []
    for attempt in range(attempts):
        top_up = hard or (request.wanted and attempt % 2 == 1)
        puzzle, solution = _topped_up(size, target, request, rng) if top_up else _dug_within(size, target, request, rng)
        if puzzle.count(".") == target and request.met_by(puzzle):
            return puzzle, solution, ""
        reached.append(puzzle.count("."))
    return "", "", _account(reached, target)


def _account(reached: list[int], target: int) -> str:
    """Return in words how far the attempts got, from the blanks of each; 0 where no puzzle of the kind came up."""
    others = [blanks for blanks in reached if blanks not in (0, target)]
    parts = [f"{len(reached)} attempts"]
    if reached.count(0):
        parts.append(f"{reached.count(0)} found no such puzzle among {_BASES} hard ones")
    if reached.count(target):
        parts.append(f"{reached.count(target)} reached {target} blanks, but needed other techniques")
    if others:
        parts.append(f"the nearest had {min(others, key=lambda blanks: abs(blanks - target))} blanks")
    return ", ".join(parts)


def _drawn(size: int, target: int, rng: np.random.Generator) -> tuple[str, str]:
    """Return a random puzzle of at most `target` blanks, dug once, and its solution."""
    puzzles, solutions = np.zeros((1, size * size), np.uint8), np.zeros((1, size * size), np.uint8)
    seeds = rng.integers(0, 2**64, size=1, dtype=np.uint64)
    targets, reached = np.array([target], np.int64), np.zeros(1, np.int64)
    dig_batch(seeds, targets, unit_table(size), peer_table(size), 1, 0, puzzles, solutions, reached)
    return board_text(puzzles[0].tobytes()), board_text(solutions[0].tobytes())


def _dug_within(size: int, target: int, request: TechniqueRequest, rng: np.random.Generator) -> tuple[str, str]:
    """Blank cells in random order while the techniques that may be needed suffice, up to `target` blanks."""
    within = request.within
    puzzle, solution = _drawn(size, target, rng)
    if puzzle.count(".") == target and solvable_with(puzzle, within):
        return puzzle, solution
    puzzle = solution
    for cell in rng.permutation(size * size).tolist():
        if puzzle.count(".") == target:
            break
        trial = puzzle[:cell] + "." + puzzle[cell + 1 :]
        if solvable_with(trial, within):
            puzzle = trial
    return puzzle, solution


def _topped_up(size: int, target: int, request: TechniqueRequest, rng: np.random.Generator) -> tuple[str, str]:
    """Fill cells of a hard puzzle in random order while it cannot do without the wanted techniques.

    Returns:
        The puzzle with its solution; more than `target` blanks if the technique would be lost before, none if no hard
        puzzle came up.
    """
    without, within = request.without, request.within
    for _ in range(_BASES):
        puzzle, solution = _drawn(size, max(target, HARD_BLANKS[size]), rng)
        enough = puzzle.count(".") >= target
        if enough and not solvable_with(puzzle, without) and solvable_with(puzzle, within):
            break
    else:
        return solution, solution
    puzzle = _filled(puzzle, solution, target, without, rng)
    for _ in range(_ROUNDS):
        if puzzle.count(".") == target:
            break
        moved = _filled(_reopened(puzzle, within, rng), solution, target, without, rng)
        if moved.count(".") <= puzzle.count("."):
            puzzle = moved
    return puzzle, solution


def _filled(puzzle: str, solution: str, target: int, without: frozenset[str], rng: np.random.Generator) -> str:
    """Give digits back in random order, down to `target` blanks, while the techniques in `without` do not suffice."""
    blanks = [cell for cell, digit in enumerate(puzzle) if digit == "."]
    surplus = len(blanks) - target
    for cell in rng.permutation(blanks).tolist():
        if surplus <= 0:
            break
        trial = puzzle[:cell] + solution[cell] + puzzle[cell + 1 :]
        if not solvable_with(trial, without):
            puzzle, surplus = trial, surplus - 1
    return puzzle


def _reopened(puzzle: str, within: frozenset[str], rng: np.random.Generator) -> str:
    """Blank some random givens while the techniques that may be needed suffice."""
    givens = [cell for cell, digit in enumerate(puzzle) if digit != "."]
    for cell in rng.permutation(givens)[: rng.integers(1, _REOPENED + 1)].tolist():
        trial = puzzle[:cell] + "." + puzzle[cell + 1 :]
        if solvable_with(trial, within):
            puzzle = trial
    return puzzle
