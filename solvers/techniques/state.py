"""Reading puzzles and candidate states for the checker."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from puzzles.sudoku import SudokuState, board_digits
from solvers.techniques.board import Board, eliminate, fill, geometry, new_board
from solvers.techniques.steps import Step

SIZES = {16: 4, 36: 6, 81: 9}
"""Board sizes that the checker knows, by number of cells."""

_ENTRY = re.compile(r"([1-9])([1-9])([1-9])")


def read_digits(puzzle: str | SudokuState) -> bytes:
    """Return one digit per cell of a puzzle, 0 where blank.

    Raises:
        ValueError: if the text is no board of 16, 36 or 81 cells with digits up to its size.
    """
    digits = puzzle.values if isinstance(puzzle, SudokuState) else board_digits(puzzle)
    size = SIZES.get(len(digits))
    if size is None:
        raise ValueError(f"the technique checker takes boards of 16, 36 or 81 cells, this one has {len(digits)}")
    if max(digits) > size:
        raise ValueError(f"digit {max(digits)} does not occur on a board of {size} rows; use 1 to {size}")
    return digits


@dataclass(frozen=True)
class CandidateState:
    """A board with the candidates that are left: all that no digit on the board rules out, less `deleted`."""

    values: bytes
    """Digit of each cell, 0 where empty."""
    givens: bytes
    """Digit of each given cell, 0 elsewhere; avoidable rectangles need to know."""
    deleted: frozenset[tuple[int, int]] = frozenset()
    """Candidates removed by other means, as (cell, digit)."""

    @classmethod
    def parse(cls, values: str, givens: str | None = None, deleted: str = "") -> CandidateState:
        """Return the state that texts describe.

        Args:
            values: the board.
            givens: the board as it was given; by default every digit of `values` was.
            deleted: candidates removed, as digit, row and column: `412 533`.

        Raises:
            ValueError: if a text is no board, the two differ in size, or an entry of `deleted` is no candidate.
        """
        digits = read_digits(values)
        given = digits if givens is None else read_digits(givens)
        size = SIZES[len(digits)]
        removed = set()
        for entry in deleted.split():
            match = _ENTRY.fullmatch(entry)
            if match is None or max(map(int, match.groups())) > size:
                raise ValueError(f"candidate {entry!r} must be digit, row and column from 1 to {size}, such as 412")
            digit, row, column = map(int, match.groups())
            removed.add(((row - 1) * size + column - 1, digit))
        return cls(digits, given, frozenset(removed))

    def __post_init__(self) -> None:
        if len(self.givens) != len(self.values):
            raise ValueError(f"givens have {len(self.givens)} cells, values {len(self.values)}; they must be one board")

    @property
    def size(self) -> int:
        """Rows of the board."""
        return SIZES[len(self.values)]

    def after(self, step: Step) -> CandidateState:
        """Return the state after a step."""
        values = bytearray(self.values)
        for cell, digit in step.placements:
            values[cell] = digit
        return CandidateState(bytes(values), self.givens, self.deleted | frozenset(step.eliminations))

    def board(self) -> Board:
        """Return the board for compiled code."""
        shape, board = geometry(self.size), new_board(self.size)
        fill(shape, board, np.array(list(self.values), np.uint8), np.array(list(self.givens), np.uint8))
        for cell, digit in self.deleted:
            if board.candidates[cell] >> (digit - 1) & 1:
                eliminate(shape, board, cell, digit - 1)
        return board

    def candidates(self) -> tuple[tuple[int, ...], ...]:
        """Return the candidates of each cell, () where it is filled."""
        masks: Iterable[int] = self.board().candidates.tolist()
        return tuple(tuple(digit + 1 for digit in range(self.size) if mask >> digit & 1) for mask in masks)


def read_state(state: str | SudokuState | CandidateState) -> CandidateState:
    """Return what `find` searches: text and puzzle states have every candidate that no digit rules out."""
    if isinstance(state, CandidateState):
        return state
    digits = read_digits(state)
    return CandidateState(digits, state.givens if isinstance(state, SudokuState) else digits)
