"""Compiled canonical texts equal those of the puzzle, for any board."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from puzzles.sudoku import Sudoku, SudokuState
from puzzles.sudoku_symmetry import random_symmetry
from solvers.sudoku import enumerate_solutions
from solvers.sudoku_canonical import canonical_batch, keys


@given(st.sampled_from((4, 6, 9)), st.integers(0, 2**32), st.floats(0.3, 1))
@settings(max_examples=40)
def test_compiled_keys_are_the_puzzles_own_and_shared_by_copies(size: int, seed: int, filled: float) -> None:
    rng = np.random.default_rng(seed)
    digits = rng.integers(1, size + 1, size * size) * (rng.random(size * size) < filled)
    board = digits.astype(np.uint8).tobytes()
    copy = random_symmetry(size, rng).apply(board)
    state = SudokuState(board, board)
    assert keys([state, SudokuState(copy, copy)]) == [Sudoku(size).key(state)] * 2


def test_the_grids_of_4x4_fall_into_two_classes() -> None:
    assert len(set(keys(list(enumerate_solutions("." * 16))))) == 2


def test_symmetric_full_grids_have_one_key() -> None:
    grid = "".join(str((3 * (row % 3) + row // 3 + column) % 9 + 1) for row in range(9) for column in range(9))
    board = Sudoku(9).parse(grid).givens
    copies = [random_symmetry(9, np.random.default_rng(seed)).apply(board) for seed in range(5)]
    assert len(set(keys([SudokuState(copy, copy) for copy in copies]))) == 1


def test_sizes_may_be_mixed_and_empty_boards_are_their_own_key() -> None:
    assert keys(["." * 81, "." * 16, "G" + "." * 255, "." * 14 + "21"]) == [
        "." * 81,
        "." * 16,
        "1" + "." * 255,
        "." * 14 + "12",
    ]
    assert keys([]) == []


def test_boards_over_9x9_have_no_compiled_form() -> None:
    with pytest.raises(ValueError, match="not 16x16"):
        canonical_batch(np.zeros((1, 256), np.uint8))
