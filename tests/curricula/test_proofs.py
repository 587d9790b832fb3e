"""Facts are proven, whatever the text claims."""

import pytest

from curricula.proofs import plan_steps, prove
from puzzles.rush_hour import RushHour
from puzzles.sudoku import Sudoku

GIVENS = "875624319439817526162539478524.7.6917.316584268149273.947.5.183216.839..35.94126."


def test_a_sudoku_with_its_facts():
    proven = prove("sudoku", GIVENS)
    assert (proven.size, proven.distance, proven.level, proven.slides) == (9, 11, "L1", -1)
    assert proven.solution == "875624319439817526162539478524378691793165842681492735947256183216783954358941267"
    assert proven.grade in ("Full House", "Naked Single")
    assert proven.key == Sudoku().key(Sudoku().parse(GIVENS))


def test_a_rush_hour_board_with_its_facts():
    proven = prove("rush-hour", "AA...OP..Q.OPXXQ.OP..Q..B...CCB.RRR.")
    assert (proven.distance, proven.slides, proven.level, proven.grade) == (16, 8, "R4", "-")
    assert proven.key == "BB...CD..E.CDAAE.CD..E..F...GGF.HHH."
    assert len(proven.solution.split(";")) == 16


@pytest.mark.parametrize(
    ("puzzle", "text", "reason"),
    [
        ("sudoku", "." * 81, "exactly one solution, has >=2"),
        ("sudoku", "55" + "." * 79, "exactly one solution, has 0"),
        ("sudoku", "1234341221434321", "solved already"),
        ("sudoku", "12345", "cells"),
        ("rush-hour", "................AA..................", "solved already"),
        ("rush-hour", "BBBCCDEEEF.DGAAFHDGI.FH..IJ.KLMMJ.KL", "none of its 3493 reachable states"),
        ("rush-hour", "...", "3 characters"),
        ("chess", "", "unknown puzzle"),
    ],
)
def test_what_no_bank_may_hold_is_refused(puzzle, text, reason):
    with pytest.raises(ValueError, match=reason):
        prove(puzzle, text)


@pytest.mark.parametrize(
    ("plan", "steps"), [("{0}", 16), ("{0};sesame", None), ("sesame;{0}", None), ("move(A, up, 1)", None)]
)
def test_a_plan_is_legal_from_its_first_action_to_its_last(plan, steps):
    proven = prove("rush-hour", "AA...OP..Q.OPXXQ.OP..Q..B...CCB.RRR.")
    assert plan_steps(proven.start, plan.format(proven.solution), RushHour()) == steps
