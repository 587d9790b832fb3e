"""Random grids are grids, and digging keeps exactly the uniqueness that counting confirms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from puzzles.sudoku import Sudoku
from solvers.sudoku_bands import LEVEL, LEVELS
from solvers.sudoku_digging import random_grid, still_unique
from solvers.sudoku_search import peer_table, unit_table
from solvers.sudoku_solve import grid_text, solve_batch


def drawn(size: int, seed: int) -> np.ndarray:
    grid = np.zeros(size * size, np.uint8)
    random_grid(grid, unit_table(size), np.array([seed], np.uint64))
    return grid


@pytest.mark.parametrize("size", [4, 6, 9])
def test_random_grids_are_valid_and_differ(size: int) -> None:
    grids = [drawn(size, seed) for seed in range(30)]
    puzzle = Sudoku(size)
    assert all(puzzle.solved(puzzle.parse(grid_text(grid))) for grid in grids)
    assert len({grid.tobytes() for grid in grids}) > (20 if size == 4 else 29)


@given(st.sampled_from((4, 6, 9)), st.integers(0, 2**63), st.integers(5, 40))
@settings(max_examples=60)
def test_still_unique_agrees_with_counting(size: int, seed: int, clues: int) -> None:
    rng = np.random.default_rng(seed)
    grid = drawn(size, seed)
    puzzle = grid.copy()
    levels = np.zeros(LEVELS * LEVEL, np.int64)
    for cell in rng.permutation(size * size)[:-clues] if clues < size * size else ():
        puzzle[cell] = 0
        unique = solve_batch(puzzle[None])[0][0] == 1
        assert still_unique(puzzle, cell, grid[cell], unit_table(size), peer_table(size), levels) == unique
        if not unique:
            puzzle[cell] = grid[cell]
