from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.techniques import CandidateState
from solvers.techniques.state import read_digits
from solvers.techniques.steps import Step, cell_names


def test_candidates_are_what_no_digit_rules_out_less_the_deleted() -> None:
    state = CandidateState.parse("1...............", deleted="213")
    assert state.candidates()[:3] == ((), (2, 3, 4), (3, 4))


def test_a_step_changes_values_and_candidates() -> None:
    step = Step("Naked Single", (2,), (1,), (), ((5, 3),), ((1, 2),), 4)
    after = CandidateState.parse("1" + "." * 15).after(step)
    assert after.values[1] == 2
    assert 3 not in after.candidates()[5]
    assert after.givens[1] == 0


@pytest.mark.parametrize("entry", ["5", "511", "991", "x11", "1111"])
def test_malformed_candidates_are_refused(entry: str) -> None:
    with pytest.raises(ValueError, match="digit, row and column"):
        CandidateState.parse("." * 16, deleted=entry)


def test_givens_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match="one board"):
        CandidateState.parse("." * 16, "." * 36)


@given(st.text())
def test_arbitrary_text_is_read_or_refused(text: str) -> None:
    try:
        digits = read_digits(text)
    except ValueError:
        return
    assert len(digits) in (16, 36, 81)


def test_cells_are_named_as_short_as_rows_and_columns_allow() -> None:
    assert cell_names([0, 1, 9, 10, 80], 9) == "r12c12,r9c9"
