from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curricula.sudoku_generator import generate
from puzzles.sudoku import Sudoku
from puzzles.sudoku_symmetry import board_text, random_symmetry
from solvers.techniques import BEYOND, TECHNIQUES, grade, grade_batch, grade_each, solvable_with
from solvers.techniques.state import read_digits
from solvers.techniques.table import code_of

SharedTable = Callable[[str], list[dict[str, str]]]

SINGLES = ("Full House", "Naked Single", "Hidden Single")
PAIR = "....5......8.....662.78...1.96..13................4.9.....1.26.5...2.9....76.9.5."
"""Generated for this test."""


def test_shared_grades_agree(shared_table: SharedTable) -> None:
    rows = shared_table("hodoku_grades_shared.tsv")
    names = {technique.name for technique in TECHNIQUES}
    off = []
    for row, result in zip(rows, grade_batch([row["givens"] for row in rows]), strict=True):
        needed = {part.split(":")[0] for part in row["techniques"].split("; ")}
        if row["order_independent"] == "1" and result.hardest != row["hardest"]:
            off.append((row["id"], row["hardest"], result.hardest))
        if needed <= names and result.level != row["level"]:
            off.append((row["id"], row["level"], result.level))
    assert off == []


@settings(max_examples=40)
@given(size=st.sampled_from([4, 6, 9]), seed=st.integers(0, 2**32 - 1))
def test_a_path_replays_to_the_only_solution(size: int, seed: int) -> None:
    blanks = {4: (8, 12), 6: (18, 26), 9: (44, 57)}[size]
    puzzle = generate(1, size, blanks, seed=seed)[0]
    result = grade(puzzle.givens)
    board = list(puzzle.givens)
    for step in result.path:
        for cell, digit in step.placements:
            assert board[cell] == "."
            assert puzzle.solution[cell] == str(digit)
            board[cell] = str(digit)
    assert result.solved == ("." not in board)
    assert (result.score is None) == (not result.solved)


@settings(max_examples=40)
@given(size=st.sampled_from([4, 6, 9]), seed=st.integers(0, 2**32 - 1))
def test_order_independent_grades_survive_symmetries(size: int, seed: int) -> None:
    blanks = {4: (8, 12), 6: (18, 26), 9: (44, 55)}[size]
    puzzle = generate(1, size, blanks, seed=seed)[0].givens
    copy = board_text(random_symmetry(size, np.random.default_rng(seed)).apply(read_digits(puzzle)))
    easy = [technique.name for technique in TECHNIQUES if technique.order <= 2400]
    assert grade(copy, easy).hardest == grade(puzzle, easy).hardest


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1))
def test_restricting_to_the_techniques_used_changes_nothing(seed: int) -> None:
    puzzle = generate(1, 9, (46, 57), seed=seed)[0].givens
    result = grade(puzzle)
    if result.solved:
        assert grade(puzzle, result.techniques) == result
        assert solvable_with(puzzle, result.techniques)


def test_a_restricted_set_that_does_not_suffice_is_beyond() -> None:
    result = grade(PAIR, SINGLES)
    assert (result.level, result.hardest, result.score, result.solved) == (BEYOND, BEYOND, None, False)
    assert set(result.techniques) <= set(SINGLES)
    assert not solvable_with(PAIR, SINGLES)
    assert solvable_with(PAIR, [*SINGLES, "Pointing", "Naked Pair"])


def test_score_is_the_sum_over_the_path() -> None:
    result = grade(PAIR)
    assert result.hardest == "Naked Pair"
    assert result.score == sum(TECHNIQUES[code_of(step.technique)].score for step in result.path)
    assert sum(result.techniques.values()) == len(result.path)


@pytest.mark.parametrize(
    ("puzzle", "count"),
    [("." * 16, "288"), ("." * 81, "at least 1000"), ("11" + "." * 14, "no"), ("1234" + "3412" + "." * 8, "4")],
)
def test_puzzles_without_exactly_one_solution_are_refused(puzzle: str, count: str) -> None:
    with pytest.raises(ValueError, match=f"has {count} solutions"):
        grade(puzzle)
    assert not solvable_with(puzzle, SINGLES)


def test_a_full_board_needs_nothing() -> None:
    result = grade("1234341221434321")
    assert (result.level, result.score, result.hardest, result.path) == ("Easy", 0, None, ())


def test_a_state_is_graded_as_it_stands() -> None:
    puzzle = Sudoku(4)
    state = puzzle.parse("1.3434122.43.321")
    filled = puzzle.apply(state, puzzle.moves(state)[0])
    assert len(grade(filled).path) == len(grade(state).path) - 1


def test_a_batch_answers_in_order_and_names_the_bad_puzzle() -> None:
    small = "1.3434122.43.321"
    answers = grade_each([PAIR, "12", small])
    assert isinstance(answers[1], ValueError)
    assert [answer.givens for answer in answers if not isinstance(answer, ValueError)] == [PAIR, small]
    with pytest.raises(ValueError, match="puzzle 2: "):
        grade_batch([PAIR, "12"])
