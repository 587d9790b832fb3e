"""Lights Out as a puzzle of your own: rules, text, subgoals, tokens and arrays in one class."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from puzzles.base import Puzzle

_PRESS = re.compile(r"press\(\s*r(\d)c(\d)\s*\)|r(\d)c(\d)", re.IGNORECASE)

State = tuple[bool, ...]
"""Whether each lamp is lit, row by row."""


class LightsOut(Puzzle[State, int]):
    """Press lamps until all are dark; a press switches the lamp and its neighbours above, below, left and right.

    Only a lit lamp can be pressed.
    """

    name = "lights-out"

    def __init__(self, size: int = 3) -> None:
        """Fix the board's size, 2 to 4 rows."""
        if size not in (2, 3, 4):
            raise ValueError(f"size is {size}, must be 2, 3 or 4")
        self.size = size

    # Rules: the whole duty of a puzzle, with the text of states and actions.

    def parse(self, text: str) -> State:
        """Return the lamps of a text such as `101 010 101`; spaces count for nothing."""
        marks = "".join(text.split())
        if len(marks) != self.size**2 or set(marks) - {"0", "1"}:
            raise ValueError(f"{text[:60]!r} is no board of {self.size**2} lamps written as 0 and 1")
        return tuple(mark == "1" for mark in marks)

    def format(self, state: State) -> str:
        """Return the lamps as one word of 0 and 1."""
        return "".join("1" if lit else "0" for lit in state)

    def moves(self, state: State) -> tuple[int, ...]:
        """Return the lit lamps, by number."""
        return tuple(lamp for lamp, lit in enumerate(state) if lit)

    def apply(self, state: State, move: int) -> State:
        """Return the lamps after a press."""
        if not 0 <= move < len(state) or not state[move]:
            raise ValueError(f"lamp {move} is not lit")
        row, column = divmod(move, self.size)
        near = {(row, column), (row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)}
        return tuple(lit != (divmod(lamp, self.size) in near) for lamp, lit in enumerate(state))

    def solved(self, state: State) -> bool:
        """Return whether all lamps are dark."""
        return not any(state)

    def parse_action(self, text: str) -> tuple[int, ...] | None:
        """Return the lamp that `press(r1c2)`, or in tokens `r1c2`, presses."""
        match = _PRESS.fullmatch(text.strip())
        if match is None:
            return None
        row, column = (int(number) - 1 for number in match.groups() if number is not None)
        return (row * self.size + column,) if 0 <= row < self.size and 0 <= column < self.size else None

    def format_action(self, move: int) -> str:
        """Return `press(r1c2)`."""
        return f"press({self.compact_action(move)[0]})"

    # Starts, for environments and tests that are given none.

    def examples(self) -> tuple[str, ...]:
        """Return a few boards."""
        return {2: ("1000", "1111"), 3: ("010111010", "101010101", "110100000"), 4: ("0100111001000000",)}[self.size]

    # What is optional: words, subgoals, arrays and tokens.

    def rules(self) -> str:
        """Return the rules as the prompt states them."""
        return f"Lights Out, {self.size} rows. {' '.join((self.__doc__ or '').split())}\nOne action: press(r1c2)."

    def render(self, state: State) -> str:
        """Return one line for each row."""
        rows = (state[first : first + self.size] for first in range(0, len(state), self.size))
        return "\n".join(" ".join("#" if lit else "." for lit in row) for row in rows)

    def subgoals(self, start: State) -> tuple[str, ...]:
        """Return one subgoal for each row."""
        return tuple(f"row {row + 1} dark" for row in range(self.size))

    def subgoals_done(self, start: State, state: State) -> tuple[bool, ...]:
        """Return which rows are dark."""
        return tuple(not any(state[first : first + self.size]) for first in range(0, len(state), self.size))

    def all_moves(self) -> tuple[int, ...]:
        """Return every lamp."""
        return tuple(range(self.size**2))

    def encode(self, state: State) -> NDArray[np.int8]:
        """Return the lamps as zeros and ones, shape [size, size]."""
        return np.array(state, dtype=np.int8).reshape(self.size, self.size)

    def array_high(self) -> int:
        """Return 1."""
        return 1

    def compact(self, state: State) -> tuple[str, ...]:
        """Return one token for each lamp."""
        return tuple(self.format(state))

    def compact_action(self, move: int) -> tuple[str, ...]:
        """Return the lamp's place as one token."""
        row, column = divmod(move, self.size)
        return (f"r{row + 1}c{column + 1}",)

    def vocabulary(self) -> tuple[str, ...]:
        """Return the tokens of lamps and places."""
        return ("0", "1", *(self.compact_action(move)[0] for move in self.all_moves()))
