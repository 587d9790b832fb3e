"""Rush Hour: slide vehicles along their lines until the primary car stands at the exit.

Choices where boards in circulation differ: empty cells are `.`, `o` or `0`, walls `x`, vehicles upper-case letters; the
primary car is `X` where that letter occurs, else `A`. Refused: any other lower-case letter, a primary car of length 3,
vehicles of length 4 and more. Letters of the input are kept; `key` renames.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from puzzles.base import Puzzle
from puzzles.rush_hour_layout import Layout, RushHourState, Vehicle
from puzzles.rush_hour_text import WALL, build_state, canonical_names, read_board, write_board

__all__ = ["DIRECTIONS", "Layout", "RushHour", "RushHourState", "Step", "Vehicle"]

DIRECTIONS = ("up", "down", "left", "right")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SMALLEST, LARGEST = 3, 8


class Step(NamedTuple):
    """One vehicle, one cell."""

    vehicle: str
    """Letter of the vehicle."""
    direction: str
    """`up`, `down`, `left` or `right`."""


_NUMBERS = {".": 0, WALL: 1} | {letter: number for number, letter in enumerate(LETTERS, start=3)}
_STEPS = {(letter, way): Step(letter, way) for letter in LETTERS for way in DIRECTIONS}
_CALL = re.compile(r"\s*move\(\s*([A-Z])\s*,\s*(up|down|left|right)\s*(?:,\s*([1-9])\s*)?\)\s*")
_WORDS = re.compile(r"\s*([A-Z])\s+(up|down|left|right)(?:\s+([1-9]))?\s*")


class RushHour(Puzzle[RushHourState, Step]):
    """Rush Hour: get the primary car to the right end of its row, the exit.

    Every vehicle covers two or three cells and moves only along its own line, through empty cells; walls never move.
    """

    name: ClassVar[str] = "rush-hour"
    action_pattern: ClassVar[re.Pattern[str]] = re.compile(
        r"[A-Za-z_]+\([^()\n]*\)|\b[A-Z][ \t]+(?:up|down|left|right)\b(?:[ \t]+[1-9]\b)?"
    )

    def __init__(self, rows: int = 6, columns: int = 6, exit_row: int | None = None) -> None:
        """Fix the board's shape.

        Args:
            rows: 3 to 8.
            columns: 3 to 8.
            exit_row: row of the primary car, from 0; the middle one (the upper of two) by default.

        Raises:
            ValueError: if a number is out of range.
        """
        for number, what in ((rows, "rows"), (columns, "columns")):
            if not SMALLEST <= number <= LARGEST:
                raise ValueError(f"{what} is {number}, must be {SMALLEST} to {LARGEST}")
        self.rows, self.columns = rows, columns
        self.exit_row = (rows - 1) // 2 if exit_row is None else exit_row
        if not 0 <= self.exit_row < rows:
            raise ValueError(f"exit_row is {exit_row}, must be 0 to {rows - 1}")

    def __repr__(self) -> str:
        return f"RushHour(rows={self.rows}, columns={self.columns}, exit_row={self.exit_row})"

    # ---------------------------------------------------------------- rules

    def parse(self, text: str) -> RushHourState:
        """Return the state a letter map (rows * columns characters) or a JSON list of vehicles describes."""
        return read_board(text, self.rows, self.columns, self.exit_row)

    def from_vehicles(self, vehicles: Sequence[Vehicle], walls: Sequence[tuple[int, int]] = ()) -> RushHourState:
        """Return the state with these vehicles and walls (row, column); overlaps and overhangs raise `ValueError`."""
        return build_state(vehicles, walls, self.rows, self.columns, self.exit_row)

    def format(self, state: RushHourState) -> str:
        """Return the letter map as one word, rows one after another."""
        return write_board(state)

    def moves(self, state: RushHourState) -> tuple[Step, ...]:
        """Return every legal step: the primary car's first, then by letter; up or left before down or right."""
        layout, positions, occupied = state
        found = []
        for vehicle, at in enumerate(positions):
            lesser, greater = ("left", "right") if layout.horizontal[vehicle] else ("up", "down")
            free = occupied & ~layout.mask(vehicle, at)
            if at > 0 and not free & layout.mask(vehicle, at - 1):
                found.append(_STEPS[layout.letters[vehicle], lesser])
            if at + 1 < layout.room(vehicle) and not free & layout.mask(vehicle, at + 1):
                found.append(_STEPS[layout.letters[vehicle], greater])
        return tuple(found)

    def apply(self, state: RushHourState, move: Step) -> RushHourState:
        """Return the state after one step; an illegal one raises `ValueError` with the reason."""
        layout, positions, occupied = state
        target = self._target(state, move)
        if isinstance(target, str):
            raise ValueError(f"{self.format_action(move)}: {target}")
        vehicle, position = target
        moved = (occupied & ~layout.mask(vehicle, positions[vehicle])) | layout.mask(vehicle, position)
        return RushHourState(layout, (*positions[:vehicle], position, *positions[vehicle + 1 :]), moved)

    def solved(self, state: RushHourState) -> bool:
        """Return whether the primary car covers the last cells of its row."""
        return state.positions[0] == state.layout.columns - state.layout.lengths[0]

    def refusal(self, state: RushHourState, move: Step) -> str | None:
        """Return what is in the way of `move`, or None if it is legal."""
        target = self._target(state, move)
        return target if isinstance(target, str) else None

    def key(self, state: RushHourState) -> str:
        """Return the letter map under the canonical names: equal for two boards that differ by letters only."""
        return canonical_names(state)

    def _target(self, state: RushHourState, move: Step) -> tuple[int, int] | str:
        """Return the moved vehicle and its new position, or why the move is refused."""
        layout, positions, occupied = state
        letter, direction = move
        vehicle = layout.vehicle(letter)
        if vehicle is None:
            return f"there is no vehicle {letter}"
        if direction not in DIRECTIONS:
            return f"{direction!r} is no direction"
        if layout.horizontal[vehicle] != (direction in ("left", "right")):
            lies = "horizontally" if layout.horizontal[vehicle] else "vertically"
            return f"vehicle {letter} lies {lies} and cannot move {direction}"
        position = positions[vehicle] + (1 if direction in ("right", "down") else -1)
        if not 0 <= position < layout.room(vehicle):
            return "the edge of the board is in the way"
        entered = layout.mask(vehicle, position) & ~layout.mask(vehicle, positions[vehicle])
        if entered & layout.walls:
            return "a wall is in the way"
        if entered & occupied:
            return f"vehicle {write_board(state)[entered.bit_length() - 1]} is in the way"
        return vehicle, position

    # ---------------------------------------------------------------- text

    def parse_action(self, text: str) -> tuple[Step, ...] | None:
        """Return the steps of `move(B, up, 3)`, `move(B, up)`, `B up 3` or `B up`; None for anything else."""
        match = _CALL.fullmatch(text) or _WORDS.fullmatch(text)
        if match is None:
            return None
        letter, direction, count = match.groups()
        return (_STEPS[letter, direction],) * int(count or 1)

    def format_action(self, move: Step) -> str:
        """Return `move(B, up, 1)`."""
        return f"move({move[0]}, {move[1]}, 1)"

    def rules(self) -> str:
        """Return rules, goal and action grammar as the prompt states them."""
        return (
            f"Rush Hour on a board of {self.rows} rows and {self.columns} columns. Letters are vehicles of two or "
            "three cells, '.' is empty, 'x' is a wall that never moves. A vehicle moves only along its own line "
            "(horizontal: left, right; vertical: up, down) and only through empty cells. Goal: the primary car "
            f"A (or X) reaches the right end of row {self.exit_row + 1}.\n"
            "Action: move(VEHICLE, DIRECTION, CELLS), for example move(B, up, 1)."
        )

    def render(self, state: RushHourState) -> str:
        """Return the board as one line per row; an arrow marks the exit."""
        text, width = write_board(state), self.columns
        lines = [" ".join(text[row * width : (row + 1) * width]) for row in range(self.rows)]
        lines[self.exit_row] += " >"
        return "\n".join(lines)

    # ---------------------------------------------------------------- arrays

    def all_moves(self) -> tuple[Step, ...]:
        """Return the steps of all 26 letters in all four directions."""
        return tuple(_STEPS.values())

    def encode(self, state: RushHourState) -> NDArray[np.int8]:
        """Return one number per cell, shape [rows, columns]: 0 empty, 1 wall, 2 primary car, 3.. others by letter."""
        numbers = {**_NUMBERS, state.layout.letters[0]: 2}
        cells = [numbers[mark] for mark in write_board(state)]
        return np.array(cells, dtype=np.int8).reshape(self.rows, self.columns)

    def array_high(self) -> int:
        """Return the number of the vehicle called Z."""
        return 2 + len(LETTERS)

    # ---------------------------------------------------------------- tokens

    def compact(self, state: RushHourState) -> tuple[str, ...]:
        """Return one token per cell: `.`, `x` or the vehicle's letter."""
        return tuple(write_board(state))

    def compact_action(self, move: Step) -> tuple[str, ...]:
        """Return two tokens: vehicle and direction."""
        return tuple(move)

    def vocabulary(self) -> tuple[str, ...]:
        """Return cell marks, letters, directions and step counts."""
        return (".", "x", *LETTERS, *DIRECTIONS, *(str(count) for count in range(1, LARGEST)))
