"""`generate`: what is asked for comes out, what cannot be made ends with one line."""

import pytest

from curricula.proofs import prove


@pytest.mark.parametrize(("puzzle", "level"), [("sudoku", "T3"), ("sudoku", "L3"), ("rush-hour", "R2")])
def test_levels_are_made_to_order(run, puzzle, level):
    status, rows, _ = run("generate", puzzle, "--level", level, "--count", "3", "--seed", "4")
    assert status == 0
    assert len(rows) == 4
    for row in rows[1:]:
        facts = dict(zip(rows[0], row, strict=True))
        proven = prove(puzzle, row[0])
        assert (facts["level"], facts["distance"], facts["key"]) == (level, str(proven.distance), proven.key)
        assert proven.level == level
    assert run("generate", puzzle, "--level", level, "--count", "3", "--seed", "4")[1] == rows
    assert run("generate", puzzle, "--level", level, "--count", "2", "--seed", "5")[1][1:] != rows[1:3]


def test_ranges_are_made_to_order(run):
    _, rows, _ = run("generate", "rush-hour", "--steps", "5", "7", "--count", "2")
    assert all(5 <= int(row[2]) <= 7 for row in rows[1:])
    _, rows, _ = run("generate", "sudoku", "--size", "6", "--blanks", "9")
    assert rows[1][0].count(".") == 9
    _, rows, _ = run("generate", "sudoku", "--blanks", "30", "--restrict", "Full House", "Naked Single")
    assert rows[1][3] in ("Full House", "Naked Single")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("rush-hour", "--steps", "200", "--max-tries", "5"), "5 random clusters tried"),
        (("sudoku", "--blanks", "70"), "nothing was tried"),
        (("sudoku", "--blanks", "60", "--restrict", "Naked Single", "--max-tries", "2"), "60 blanks"),
        (("rush-hour", "--level", "L2"), "is one of sudoku"),
        (("sudoku", "--level", "L9"), "unknown level 'L9'"),
        (("sudoku",), "say either --level or --blanks"),
        (("rush-hour", "--level", "R1", "--steps", "4"), "say either --level or --steps"),
        (("rush-hour", "--steps", "4", "5", "6"), "one number or two"),
        (("rush-hour", "--level", "R1", "--seed", "-1"), "seed is -1"),
        (("rush-hour", "--level", "R1", "--count", "-1"), "count is -1"),
    ],
)
def test_what_cannot_be_made_ends_with_one_line(run, words, reason):
    status, _, errors = run("generate", *words)
    assert status == 1
    assert len(errors) == 1
    assert reason in errors[0]
