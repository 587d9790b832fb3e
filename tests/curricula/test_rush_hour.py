"""Generated Rush Hour boards keep every promise; impossible ones end in an error that says what was tried."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curricula import rush_hour
from puzzles.rush_hour import RushHour
from solvers.rush_hour import distance
from solvers.rush_hour_map import blockers


@settings(max_examples=15)
@given(st.integers(2, 12), st.integers(1, 4), st.integers(0, 2**63), st.integers(0, 3))
def test_boards_lie_in_the_range_with_something_in_the_way(low, width, seed, walls):
    board = rush_hour.generate(low, low + width, np.random.default_rng(seed), walls=walls)
    assert low <= distance(board) <= low + width
    assert blockers(board)
    assert board.layout.walls.bit_count() == walls
    puzzle = RushHour()
    assert puzzle.format(board) == puzzle.key(board)


def test_a_far_range_is_reached():
    board = rush_hour.generate(30, 40, np.random.default_rng(12))
    assert 30 <= distance(board) <= 40


def test_other_board_shapes():
    puzzle = RushHour(5, 7)
    board = rush_hour.generate(4, 8, np.random.default_rng(1), puzzle)
    assert 4 <= distance(board) <= 8
    assert (board.layout.rows, board.layout.columns) == (5, 7)


@given(st.integers(0, 2**32))
def test_random_boards_are_boards(seed):
    puzzle = RushHour()
    board = rush_hour.random_board(np.random.default_rng(seed), puzzle, walls=2)
    assert puzzle.parse(puzzle.format(board)) == board


def test_an_impossible_distance_says_what_was_tried():
    with pytest.raises(ValueError, match=r"200 to 200 steps found: 8 random clusters tried .* farthest .* \d+ steps"):
        rush_hour.generate(200, 200, np.random.default_rng(0), max_tries=8)


@pytest.mark.parametrize(("low", "high"), [(0, 3), (5, 4), (1, 1)])
def test_empty_ranges_are_refused(low, high):
    with pytest.raises(ValueError, match="1 <= low <= high"):
        rush_hour.generate(low, high, np.random.default_rng(0))
