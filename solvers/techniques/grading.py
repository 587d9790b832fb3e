"""Grades: solve a puzzle as a person would, always by the easiest technique that applies, and say what it took."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from puzzles.sudoku import SudokuState
from puzzles.sudoku_symmetry import board_text
from solvers.sudoku import count_solutions
from solvers.techniques.basic import BASIC_CODES, ROOM, solve_many_basic
from solvers.techniques.board import BoolArray, Uint8Array, geometry, new_board
from solvers.techniques.log import COUNT, FIRST, USED, new_log
from solvers.techniques.state import SIZES, read_digits
from solvers.techniques.steps import Step, read_steps
from solvers.techniques.table import BEYOND, TECHNIQUES, codes_of, level_of

COUNT_LIMIT = 1000
"""How far the solutions of a puzzle that is refused are counted."""


@dataclass(frozen=True)
class GradeResult:
    """What it takes to solve one puzzle by technique."""

    givens: str
    """The puzzle, `.` where blank."""
    level: str
    """Easy, Medium, Hard, Unfair, Extreme, or `beyond` if the techniques did not suffice."""
    score: int | None
    """Sum of the scores of all steps; None beyond the techniques."""
    hardest: str | None
    """The technique used that comes last in the order, `beyond` if they did not suffice, None if nothing was blank."""
    techniques: dict[str, int]
    """How often each technique was used, in the order of trying (beyond: as far as they went)."""
    records: bytes = field(repr=False, default=b"")
    """The steps as the compiled search wrote them; read `path`."""

    @property
    def solved(self) -> bool:
        """Whether the techniques sufficed."""
        return self.level != BEYOND

    @cached_property
    def path(self) -> tuple[Step, ...]:
        """Every step in order (beyond: as far as they went); `str` gives it as people read it."""
        return tuple(read_steps(np.frombuffer(self.records, np.int32), SIZES[len(self.givens)]))


def grade(puzzle: str | SudokuState, restrict: Iterable[str] | None = None) -> GradeResult:
    """Return level, score, hardest technique, counts and path of a puzzle.

    At every step the first technique in the order of `TECHNIQUES` that applies is used. Digits that a state holds count
    as given.

    Args:
        puzzle: text of 16, 36 or 81 cells, or a state.
        restrict: names of the techniques that may be used; by default all that are `graded`.

    Raises:
        ValueError: if the text is no board, a name is unknown, or the puzzle has not exactly one solution.

    >>> grade("1.3434122.43.321").hardest
    'Full House'
    """
    return grade_batch([puzzle], restrict)[0]


def grade_batch(puzzles: Sequence[str | SudokuState], restrict: Iterable[str] | None = None) -> list[GradeResult]:
    """Return the grade of each puzzle, as `grade` does; a bad one raises its `ValueError` with its number."""
    results: list[GradeResult] = []
    for number, result in enumerate(grade_each(puzzles, restrict), 1):
        if isinstance(result, ValueError):
            raise result if len(puzzles) == 1 else ValueError(f"puzzle {number}: {result}")
        results.append(result)
    return results


def grade_each(
    puzzles: Sequence[str | SudokuState], restrict: Iterable[str] | None = None
) -> list[GradeResult | ValueError]:
    """Return for each puzzle its grade, or the error that `grade` would raise for it.

    Raises:
        ValueError: if a technique name is unknown.
    """
    allowed = allowed_codes(restrict)
    answers: list[GradeResult | ValueError | None] = [None] * len(puzzles)
    groups: dict[int, list[tuple[int, bytes]]] = {}
    for number, puzzle in enumerate(puzzles):
        try:
            digits = read_digits(puzzle)
        except ValueError as error:
            answers[number] = error
        else:
            groups.setdefault(SIZES[len(digits)], []).append((number, digits))
    for size, members in groups.items():
        grids = np.frombuffer(b"".join(digits for _, digits in members), np.uint8).reshape(len(members), size**2).copy()
        for (number, digits), work in zip(members, _solve(grids, size, allowed), strict=True):
            answers[number] = _judge(digits, work)
    return [answer for answer in answers if answer is not None]


def solvable_with(puzzle: str | SudokuState, restrict: Iterable[str]) -> bool:
    """Return whether the techniques named in `restrict` solve a puzzle that has exactly one solution."""
    digits = read_digits(puzzle)
    grid = np.frombuffer(digits, np.uint8).reshape(1, -1).copy()
    work = _solve(grid, SIZES[len(digits)], allowed_codes(restrict))[0]
    return work.solved and (work.proves_unique or int(count_solutions(board_text(digits), limit=2)) == 1)


def allowed_codes(restrict: Iterable[str] | None) -> BoolArray:
    """Return which techniques may be used, by code."""
    if restrict is None:
        return np.array([technique.graded for technique in TECHNIQUES])
    allowed = np.zeros(len(TECHNIQUES), dtype=np.bool_)
    allowed[list(codes_of(restrict))] = True
    return allowed


class _Work(NamedTuple):
    """How far the techniques went on one puzzle."""

    solved: bool
    codes: list[int]
    counts: list[int]
    records: bytes

    @property
    def proves_unique(self) -> bool:
        """Whether every step follows from the rules alone, so that a solved board is the only solution."""
        return self.solved and not any(TECHNIQUES[code].unique for code in self.codes)


def _solve(grids: Uint8Array, size: int, allowed: BoolArray) -> list[_Work]:
    """Return how far the allowed techniques go on each grid, shape [puzzles, cells].

    The compiled search with every technique takes seconds to load, so it is loaded once a puzzle needs it.
    """
    if not allowed[BASIC_CODES:].any():
        return _run(solve_many_basic, grids, size, allowed)
    if "solvers.techniques.advanced" in sys.modules:
        from solvers.techniques.advanced import solve_many

        return _run(solve_many, grids, size, allowed)
    works = _run(solve_many_basic, grids, size, allowed)
    stuck = [number for number, work in enumerate(works) if not work.solved]
    if stuck:
        from solvers.techniques.advanced import solve_many

        for number, work in zip(stuck, _run(solve_many, grids[stuck], size, allowed), strict=True):
            works[number] = work
    return works


def _run(kernel: Callable[..., int], grids: Uint8Array, size: int, allowed: BoolArray) -> list[_Work]:
    log = new_log(20 * ROOM if len(grids) > 8 else 2 * ROOM)
    shape, board, works = geometry(size), new_board(size), list[_Work]()
    ends, solved = np.zeros(len(grids), dtype=np.int32), np.zeros(len(grids), dtype=np.bool_)
    counts = np.zeros((len(grids), len(TECHNIQUES)), dtype=np.int32)
    while len(works) < len(grids):
        done = len(works)
        log[USED], log[COUNT] = FIRST, 0
        taken = kernel(shape, board, grids[done:], allowed, log, ends, counts[done:], solved[done:])
        begin = FIRST
        for number in range(taken):
            row = counts[done + number]
            codes = row.nonzero()[0]
            end = int(ends[number])
            records = log[begin:end].tobytes()
            works.append(_Work(bool(solved[done + number]), codes.tolist(), row[codes].tolist(), records))
            begin = end
    return works


def _judge(digits: bytes, work: _Work) -> GradeResult | ValueError:
    givens = board_text(digits)
    if not work.proves_unique:
        count = int(count_solutions(givens, limit=COUNT_LIMIT))
        if count != 1:
            amount = f"at least {count}" if count >= COUNT_LIMIT else "no" if count == 0 else str(count)
            return ValueError(f"the puzzle has {amount} solutions; a grade needs exactly one")
    techniques = {TECHNIQUES[code].name: count for code, count in zip(work.codes, work.counts, strict=True)}
    if not work.solved:
        return GradeResult(givens, BEYOND, None, BEYOND, techniques, work.records)
    score = sum(TECHNIQUES[code].score * count for code, count in zip(work.codes, work.counts, strict=True))
    hardest = TECHNIQUES[work.codes[-1]].name if work.codes else None
    return GradeResult(givens, level_of(score, work.codes), score, hardest, techniques, work.records)
