"""The 9x9 search on bit boards agrees with the general search, solution for solution."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers import sudoku_bands, sudoku_search


@given(st.integers(0, 2**32), st.integers(17, 60), st.booleans())
@settings(max_examples=40)
def test_both_searches_count_the_same(seed: int, clues: int, broken: bool) -> None:
    rng = np.random.default_rng(seed)
    counts, grid = np.zeros(1, np.int64), np.zeros((1, 81), np.uint8)
    first = np.zeros((1, 81), np.uint8)
    first[0, rng.choice(81, 9, replace=False)] = rng.permutation(9) + 1
    sudoku_bands.count_batch(first, 1, counts, grid)
    puzzle = grid.copy()
    puzzle[0, rng.permutation(81)[clues:]] = 0
    if broken:
        puzzle[0, rng.integers(81)] = rng.integers(1, 10)
    limit = 200
    mine, other = np.zeros(1, np.int64), np.zeros(1, np.int64)
    sudoku_bands.count_batch(puzzle, limit, mine, np.zeros_like(grid))
    sudoku_search.count_batch(puzzle, sudoku_search.unit_table(9), limit, other, np.zeros_like(grid))
    assert mine[0] == other[0]
    if not broken and counts[0]:
        assert mine[0] >= 1


@given(st.integers(0, 2**32))
@settings(max_examples=25)
def test_another_solution_is_found_exactly_where_there_is_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts, grid = np.zeros(1, np.int64), np.zeros((1, 81), np.uint8)
    first = np.zeros((1, 81), np.uint8)
    first[0, :9] = rng.permutation(9) + 1
    sudoku_bands.count_batch(first, 1, counts, grid)
    puzzle = grid.copy()
    puzzle[0, rng.permutation(81)[30:]] = 0
    cell = int(np.flatnonzero(puzzle[0] == 0)[0])
    levels = np.zeros(sudoku_bands.LEVELS * sudoku_bands.LEVEL, np.int64)
    others = 0
    for digit in range(1, 10):
        if digit != grid[0, cell]:
            trial = puzzle.copy()
            trial[0, cell] = digit
            sudoku_bands.count_batch(trial, 1, counts, np.zeros_like(grid))
            others += int(counts[0])
    assert sudoku_bands.has_other_solution(levels, puzzle[0], cell, int(grid[0, cell])) == (others > 0)
