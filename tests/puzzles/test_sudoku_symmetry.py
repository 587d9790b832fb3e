"""Canonical texts: shared by all symmetric copies of a board, and by nothing else."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from puzzles.sudoku import Sudoku
from puzzles.sudoku_symmetry import SudokuSymmetry, canonical_text, line_orders, random_symmetry

UNIQUE_17 = "4..8..5........1..........2...73..4...6....8..1.......3.....69.....12......4....."
"""A 17-clue puzzle of Gordon Royle's collection."""


@st.composite
def boards(draw: st.DrawFn) -> tuple[int, bytes]:
    """A size and any digits on it, contradictions included."""
    size = draw(st.sampled_from((4, 6, 9)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    filled = rng.random(size * size) < draw(st.floats(0.1, 1))
    return size, (rng.integers(1, size + 1, size * size) * filled).astype(np.uint8).tobytes()


@given(boards(), st.integers(0, 2**32))
@settings(max_examples=60)
def test_every_symmetric_copy_has_the_same_canonical_text(board: tuple[int, bytes], seed: int) -> None:
    size, digits = board
    copy = random_symmetry(size, np.random.default_rng(seed)).apply(digits)
    assert canonical_text(copy, size) == canonical_text(digits, size)


@given(boards())
@settings(max_examples=30)
def test_a_canonical_text_is_a_fixed_point_with_the_same_blanks(board: tuple[int, bytes]) -> None:
    size, digits = board
    text = canonical_text(digits, size)
    state = Sudoku(size).parse(text)
    assert canonical_text(state.values, size) == text
    assert state.values.count(0) == digits.count(0)


def every_symmetry(size: int, group_rows: int, group_columns: int) -> list[SudokuSymmetry]:
    """All symmetries that leave the digits alone."""
    lines = product(line_orders(size, group_rows).tolist(), line_orders(size, group_columns).tolist())
    names = tuple(range(size + 1))
    sides = (False, True) if group_rows == group_columns else (False,)
    return [SudokuSymmetry(tuple(rows), tuple(columns), names, side) for rows, columns in lines for side in sides]


@given(st.lists(st.integers(0, 4), min_size=16, max_size=16))
@settings(max_examples=25)
def test_on_4x4_the_canonical_text_is_the_smallest_copy_of_all(digits: list[int]) -> None:
    copies = []
    for symmetry in every_symmetry(4, 2, 2):
        names: dict[int, int] = {0: 0}
        copies.append(bytes(names.setdefault(digit, len(names)) for digit in symmetry.apply(bytes(digits))))
    smallest = "".join(str(digit) if digit else "." for digit in min(copies))
    assert canonical_text(bytes(digits), 4) == smallest


def test_boards_that_differ_in_one_clue_have_different_keys() -> None:
    puzzle = Sudoku(9)
    start = puzzle.parse(UNIQUE_17)
    changed = [puzzle.parse(UNIQUE_17[:cell] + "." + UNIQUE_17[cell + 1 :]) for cell in range(81) if start.values[cell]]
    keys = {puzzle.key(state) for state in (start, *changed)}
    assert len(keys) == 18


def test_transposing_is_no_symmetry_of_6x6() -> None:
    board = np.zeros((6, 6), np.uint8)
    board[0, :3] = (1, 2, 3)
    assert canonical_text(board.tobytes(), 6) != canonical_text(board.T.tobytes(), 6)
    assert not any(random_symmetry(6, np.random.default_rng(seed)).transposed for seed in range(20))


@pytest.mark.parametrize(("size", "rows", "columns"), [(4, 8, 8), (6, 48, 72), (9, 1296, 1296)])
def test_line_orders_number_the_whole_group(size: int, rows: int, columns: int) -> None:
    layout = Sudoku(size).layout
    assert len(line_orders(size, layout.box_rows)) == rows
    assert len(line_orders(size, layout.box_columns)) == columns


def test_boards_over_9x9_are_only_renamed() -> None:
    puzzle = Sudoku(16)
    text = "GA" + "." * 253 + "G"
    assert puzzle.key(puzzle.parse(text)) == "12" + "." * 253 + "1"


def test_symmetries_are_drawn_evenly() -> None:
    drawn = [random_symmetry(4, np.random.default_rng(seed)) for seed in range(400)]
    assert sum(symmetry.transposed for symmetry in drawn) == pytest.approx(200, abs=40)
    assert len({symmetry.rows for symmetry in drawn}) == len({symmetry.columns for symmetry in drawn}) == 8
    assert len({symmetry.digits for symmetry in drawn}) == 24
    assert {symmetry.digits[0] for symmetry in drawn} == {0}
