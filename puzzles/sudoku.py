"""Sudoku: states, fills, rules and text. Solutions, distances and techniques live in `solvers`.

Boards are 4x4 (boxes of 2x2), 6x6 (boxes of 2 rows x 3 columns), 9x9 and 16x16. A start may contradict itself: such a
puzzle is a fact about its text and simply has no solution.
"""

from __future__ import annotations

import re
from operator import itemgetter
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from puzzles.base import Puzzle
from puzzles.sudoku_layout import BOX_SHAPES, SYMBOLS, SudokuLayout, sudoku_layout
from puzzles.sudoku_symmetry import board_text, canonical_text
from puzzles.thoughts import check_thought

DECORATION = " \t\r\n|-+"
"""Characters between cells that `parse` skips."""

_DIGIT_OF = {symbol: digit for digit, symbol in enumerate(SYMBOLS)} | {".": 0}
_NO_CELL = 255
_DIGITS = bytes(_DIGIT_OF.get(chr(code), _NO_CELL) for code in range(256))
_DECORATION = DECORATION.encode()
_VALUE = re.compile(r"value\(\s*(\d{1,2})\s*,\s*r(\d{1,2})c(\d{1,2})\s*\)")
_ERASE = re.compile(r"erase\(\s*r(\d{1,2})c(\d{1,2})\s*\)")
_COMPACT = re.compile(r"r(\d{1,2})c(\d{1,2})(?:\s*=\s*|\s+)(\d{1,2}|\.)")


class Fill(NamedTuple):
    """Write `digit` into `cell` (row by row from 0); digit 0 erases the cell."""

    cell: int
    digit: int


class SudokuState(NamedTuple):
    """A board: what was given and what stands there now, one byte per cell, 0 where blank."""

    givens: bytes
    values: bytes

    @property
    def blanks(self) -> int:
        """Number of blank cells."""
        return self.values.count(0)


def board_digits(text: str) -> bytes:
    """Return one digit per cell of a board text of any size, 0 where blank; skips spaces, newlines, `|`, `-` and `+`.

    Raises:
        ValueError: at the first character that is no digit, blank or decoration, or if it is no text.
    """
    if not isinstance(text, str):
        raise ValueError(f"a Sudoku board must be text, not {type(text).__name__}")
    digits = text.encode("ascii", "replace").translate(_DIGITS, _DECORATION)
    if _NO_CELL in digits:
        known = {*DECORATION, *_DIGIT_OF}
        position, character = next(pair for pair in enumerate(text, 1) if pair[1] not in known)
        raise ValueError(
            f"character {character!r} at position {position} is no digit and no blank; write blanks as `.` or `0`"
        )
    return digits


def sudoku_size(text: str) -> int:
    """Return the board size that a text of 16, 36, 81 or 256 cells describes.

    Raises:
        ValueError: if the text has any other number of cells or a character that is no cell.
    """
    cells = len(board_digits(text))
    for size in BOX_SHAPES:
        if size * size == cells:
            return size
    known = ", ".join(str(size * size) for size in BOX_SHAPES)
    raise ValueError(f"a Sudoku board has {known} cells, this text has {cells}")


class Sudoku(Puzzle[SudokuState, Fill]):
    """Fill every blank so that each row, column and box holds each digit once.

    Args:
        size: rows of the board: 4, 6, 9 or 16.
        overwrite: whether a player may overwrite or erase digits of their own; givens never change.

    Raises:
        ValueError: if the size is not known.
    """

    name: ClassVar[str] = "sudoku"
    action_pattern: ClassVar[re.Pattern[str]] = re.compile(
        r"[A-Za-z_]+\([^()\n]*\)|\br\d{1,2}c\d{1,2}(?:\s*=\s*|\s+)(?:\d{1,2}\b|\.)"
    )

    def __init__(self, size: int = 9, overwrite: bool = False) -> None:
        self.layout: SudokuLayout = sudoku_layout(size)
        self.size = size
        self.overwrite = overwrite
        self._cell_of = {name: cell for cell, name in enumerate(self.layout.cell_names)}
        self._single = tuple(bytes([digit]) for digit in range(size + 1))
        self._tokens = (".", *(str(digit) for digit in range(1, size + 1)))
        self._fills = tuple(tuple(Fill(cell, digit) for digit in range(size + 1)) for cell in range(self.layout.cells))
        self._band, self._marks, self._line = self._band_picture()
        self._peer_values = tuple(itemgetter(*peers) for peers in self.layout.peers)

    def __repr__(self) -> str:
        return f"Sudoku(size={self.size}, overwrite={self.overwrite})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sudoku) and (self.size, self.overwrite) == (other.size, other.overwrite)

    def __hash__(self) -> int:
        return hash((self.name, self.size, self.overwrite))

    # ---------------------------------------------------------------- rules

    def parse(self, text: str) -> SudokuState:
        """Return the start state of a board text: one digit, `.` or `0` per cell, row by row.

        Raises:
            ValueError: if a character is no cell, a digit exceeds the size, or the number of cells is wrong.
        """
        digits = board_digits(text)
        if len(digits) != self.layout.cells:
            raise ValueError(
                f"a {self.size}x{self.size} Sudoku has {self.layout.cells} cells, this text has {len(digits)}"
            )
        if max(digits) > self.size:
            cell = next(cell for cell, digit in enumerate(digits) if digit > self.size)
            raise ValueError(
                f"digit {SYMBOLS[digits[cell]]} at {self.layout.cell_names[cell]} exceeds the largest, "
                f"{SYMBOLS[self.size]}, of a {self.size}x{self.size} Sudoku"
            )
        return SudokuState(digits, digits)

    def format(self, state: SudokuState) -> str:
        """Return the board as one line, `.` where blank."""
        return board_text(state.values)

    def moves(self, state: SudokuState) -> tuple[Fill, ...]:
        """Return every legal fill by cell and digit; with `overwrite` an erasure stands before its cell's fills."""
        layout, values = self.layout, state.values
        rows, columns, boxes = ([1] * self.size for _ in range(3))
        for row, column, box, held in zip(layout.row_of, layout.column_of, layout.box_of, values, strict=True):
            bit = 1 << held
            rows[row] |= bit
            columns[column] |= bit
            boxes[box] |= bit
        moves: list[Fill] = []
        for cell, held in enumerate(values):
            fills = self._fills[cell]
            if held:
                if not self.overwrite or state.givens[cell]:
                    continue
                moves.append(fills[0])
            taken = rows[layout.row_of[cell]] | columns[layout.column_of[cell]] | boxes[layout.box_of[cell]]
            moves += [fill for fill in fills if not taken >> fill[1] & 1]
        return tuple(moves)

    def refusal(self, state: SudokuState, move: Fill) -> str | None:
        """Return the rule that `move` breaks, or None; looks only at the board, never at a solution."""
        cell, digit = move
        if not (0 <= cell < self.layout.cells and 0 <= digit <= self.size):
            return f"no such cell or digit on a {self.size}x{self.size} board"
        name, held = self.layout.cell_names[cell], state.values[cell]
        if state.givens[cell]:
            return f"{name} is given"
        if digit == 0:
            return None if held and self.overwrite else f"{name} cannot be erased"
        if held and (held == digit or not self.overwrite):
            return f"{name} is already filled with {held}"
        if digit in self._peer_values[cell](state.values):
            return self._conflict(state, move)
        return None

    def apply(self, state: SudokuState, move: Fill) -> SudokuState:
        """Return the board after a legal fill or erasure.

        Raises:
            ValueError: if the rules refuse the move.
        """
        reason = self.refusal(state, move)
        if reason is not None:
            raise ValueError(f"{self.format_action(move)} is illegal: {reason}")
        values, cell = state.values, move.cell
        return SudokuState(state.givens, values[:cell] + self._single[move.digit] + values[cell + 1 :])

    def solved(self, state: SudokuState) -> bool:
        """Return whether every cell is filled and no unit holds a digit twice."""
        values = state.values
        if 0 in values:
            return False
        return all(len({values[cell] for cell in unit}) == self.size for unit in self.layout.units)

    def key(self, state: SudokuState) -> str:
        """Return the canonical text of the start: equal exactly for starts that a Sudoku symmetry maps onto each other.

        The symmetries rename digits and permute bands, stacks, rows in a band and columns in a stack, and transpose
        where boxes are square. On 16x16 boards, whose group is out of reach, only the digits are renamed.
        """
        return canonical_text(state.givens, self.size)

    # ---------------------------------------------------------------- text

    def parse_action(self, text: str) -> tuple[Fill, ...] | None:
        """Return the fill that `value(5, r1c1)`, `r1c1 5` or `r1c1=5` names, the erasure of `erase(r1c1)` or `r1c1 .`.

        Cells and digits outside the board, and erasures without `overwrite`, are no actions.
        """
        text = text.strip()
        if match := _VALUE.fullmatch(text):
            digit, row, column = match.groups()
        elif match := _COMPACT.fullmatch(text):
            row, column, digit = match.groups()
        elif match := _ERASE.fullmatch(text):
            (row, column), digit = match.groups(), "."
        else:
            return None
        number = 0 if digit == "." else int(digit)
        cell = self._cell_of.get(f"r{int(row)}c{int(column)}")
        if cell is None or number > self.size or (number == 0 and (digit != "." or not self.overwrite)):
            return None
        return (Fill(cell, number),)

    def format_action(self, move: Fill) -> str:
        """Return `value(5, r1c1)`, or `erase(r1c1)` for digit 0."""
        row, column = divmod(move.cell, self.size)
        name = f"r{row + 1}c{column + 1}"
        return f"value({move.digit}, {name})" if move.digit else f"erase({name})"

    def rules(self) -> str:
        """Return rules, goal and action grammar as the prompt states them."""
        box = f"{self.layout.box_rows} rows x {self.layout.box_columns} columns"
        text = (
            f"Sudoku on a {self.size}x{self.size} board with boxes of {box}. Fill every blank (.) with a digit "
            f"from 1 to {self.size} so that no row, column or box holds a digit twice. Given digits never change.\n"
            "One action fills one cell: value(DIGIT, rROWcCOLUMN), for example value(1, r1c1)."
        )
        if self.overwrite:
            return f"{text}\nYour own digits may be overwritten in the same way, or erased: erase(r1c1)."
        return f"{text} A filled cell stays filled."

    def render(self, state: SudokuState) -> str:
        """Return the board in rows, boxes set apart by `|` and lines."""
        text, count = board_text(state.values).encode(), self.size * self.layout.box_rows
        bands = [
            self._band.translate(text[first : first + count] + self._marks) for first in range(0, len(text), count)
        ]
        return self._line.join(bands).decode("ascii").removesuffix("\n")

    # ---------------------------------------------------------------- subgoals

    def subgoals(self, start: SudokuState) -> tuple[str, ...]:
        """Return `b1` and so on for the boxes that have blanks at the start."""
        return tuple(f"b{box + 1}" for box in self.open_boxes(start))

    def open_boxes(self, start: SudokuState) -> tuple[int, ...]:
        """Return the boxes with a blank in `start`, from 0."""
        values = start.values
        return tuple(box for box, cells in enumerate(self.layout.boxes) if any(values[cell] == 0 for cell in cells))

    def subgoals_done(self, start: SudokuState, state: SudokuState) -> tuple[bool, ...]:
        """Return which of those boxes hold every digit now, by the rules alone."""
        boxes, values = self.layout.boxes, state.values
        return tuple(len({values[cell] for cell in boxes[box]} - {0}) == self.size for box in self.open_boxes(start))

    # ---------------------------------------------------------------- arrays and tokens

    def all_moves(self) -> tuple[Fill, ...]:
        """Return every fill at index `cell * size + digit - 1`; with `overwrite` the erasures of all cells follow."""
        fills = [Fill(cell, digit) for cell in range(self.layout.cells) for digit in range(1, self.size + 1)]
        if self.overwrite:
            fills.extend(Fill(cell, 0) for cell in range(self.layout.cells))
        return tuple(fills)

    def encode(self, state: SudokuState) -> NDArray[np.int8]:
        """Return the digits, shape [size, size]; with `overwrite` [2, size, size], the second plane 1 where given."""
        values = np.frombuffer(state.values, dtype=np.int8).reshape(self.size, self.size)
        if not self.overwrite:
            return values.copy()
        givens = np.frombuffer(state.givens, dtype=np.int8).reshape(self.size, self.size)
        return np.stack([values, (givens > 0).astype(np.int8)])

    def array_high(self) -> int:
        """Return the largest digit."""
        return self.size

    def compact(self, state: SudokuState) -> tuple[str, ...]:
        """Return one token per cell: its digit, or `.`."""
        tokens = self._tokens
        return tuple([tokens[digit] for digit in state.values])

    def compact_action(self, move: Fill) -> tuple[str, ...]:
        """Return cell and digit, as `r1c1` and `5`; an erasure's digit is `.`."""
        return (self.layout.cell_names[move.cell], self._tokens[move.digit])

    def vocabulary(self) -> tuple[str, ...]:
        """Return `.`, the digits, the cells and the boxes."""
        return (*self._tokens, *self.layout.cell_names, *(f"b{box + 1}" for box in range(self.size)))

    def check_thought(self, state: SudokuState, thought: str) -> bool | None:
        """Return whether the missing digits that a thought lists box by box are right; None if it lists none."""
        return check_thought(state.values, self.layout.boxes, thought)

    # ---------------------------------------------------------------- details

    def _band_picture(self) -> tuple[bytes, bytes, bytes]:
        """Return a band of boxes with the number of a character in each place, those characters, and the line below.

        Characters by number are the band's cells, then a blank, `|` and the end of a row: the cells' text with these
        behind it is a table for `bytes.translate`, which draws a band at once.
        """
        size, layout = self.size, self.layout
        cells = size * layout.box_rows
        blank, bar, end = (bytes([cells + number]) for number in range(3))
        gap = blank + bar + blank
        groups = [
            blank.join(bytes([cell]) for cell in range(first, first + layout.box_columns))
            for first in range(0, cells, layout.box_columns)
        ]
        in_row = size // layout.box_columns
        rows = [gap.join(groups[first : first + in_row]) + end for first in range(0, len(groups), in_row)]
        line = b"-+-".join([b"-" * (2 * layout.box_columns - 1)] * in_row)
        return b"".join(rows), b" |\n".ljust(256 - cells), line + b"\n"

    def _conflict(self, state: SudokuState, move: Fill) -> str:
        """Return which unit already holds the digit of `move`, and where."""
        layout = self.layout
        for kind, number in (("row", layout.row_of), ("column", layout.column_of), ("box", layout.box_of)):
            for peer in layout.peers[move.cell]:
                if number[peer] == number[move.cell] and state.values[peer] == move.digit:
                    unit = number[peer] + 1
                    return f"{kind} {unit} already holds {move.digit} at {layout.cell_names[peer]}"
        raise AssertionError("no conflict")
