"""Box scans: what is written is true, and what is changed is caught."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzles.thoughts import check_thought, missing_digits, write_thought

BOXES = ((0, 1, 4, 5), (2, 3, 6, 7), (8, 9, 12, 13), (10, 11, 14, 15))
BOARD = (1, 0, 3, 4, 3, 4, 0, 0, 2, 1, 4, 3, 4, 3, 2, 1)

boards = st.lists(st.integers(0, 4), min_size=16, max_size=16)
scans = st.lists(st.integers(0, 3), min_size=1, max_size=4)


def test_missing_digits_of_a_hand_made_board() -> None:
    assert [missing_digits(BOARD, box) for box in BOXES] == [(2,), (1, 2), (), ()]


def test_a_blank_box_misses_every_digit() -> None:
    assert missing_digits((0,) * 16, BOXES[0]) == (1, 2, 3, 4)


def test_written_thought_is_read_as_the_contract_says() -> None:
    assert write_thought(BOARD, BOXES, (1, 0)) == ("b2", "1", "2", "b1", "2")


@pytest.mark.parametrize(
    ("thought", "verdict"),
    [
        ("b2 1 2 b1 2", True),
        ("b2 2 1", True),
        ("b3", True),
        ("b2 1", False),
        ("b2 1 1 2", False),
        ("b2 1 2 b1", False),
        ("b2 1 2 3", False),
        ("1 b1 2", False),
        ("b1 2 so r1c2 is 2", False),
        ("b1 2 r1c1", False),
        ("b9 2", None),
        ("", None),
        ("row one misses 2", None),
    ],
)
def test_check_thought_examples(thought: str, verdict: bool | None) -> None:
    assert check_thought(BOARD, BOXES, thought) is verdict


@given(boards, scans)
def test_every_written_thought_holds(values: list[int], order: list[int]) -> None:
    assert check_thought(values, BOXES, " ".join(write_thought(values, BOXES, order))) is True


@given(boards, scans, st.sampled_from(["1", "2", "3", "4", "5", "x", "r1c1"]))
def test_one_word_more_makes_a_thought_false(values: list[int], order: list[int], extra: str) -> None:
    assert check_thought(values, BOXES, " ".join(write_thought(values, BOXES, order)) + f" {extra} 0") is False


@given(boards, st.text(max_size=200))
def test_any_text_gets_a_verdict(values: list[int], text: str) -> None:
    assert check_thought(values, BOXES, text) in (True, False, None)
