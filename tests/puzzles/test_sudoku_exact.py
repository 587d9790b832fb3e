"""Sudoku to the letter: boards as drawn, rules as told, moves and arrays in their order, refusals in their words."""

from __future__ import annotations

import numpy as np
import pytest

from puzzles.sudoku import Fill, Sudoku, SudokuState, board_digits, sudoku_size
from puzzles.sudoku_symmetry import canonical_text

START = "12...........4.."

RULES = """\
Sudoku on a 6x6 board with boxes of 2 rows x 3 columns. Fill every blank (.) with a digit from 1 to 6 so that no row, \
column or box holds a digit twice. Given digits never change.
One action fills one cell: value(DIGIT, rROWcCOLUMN), for example value(1, r1c1)."""

DRAWN = {
    6: """\
1 2 3 | 4 5 6
. . . | . . .
------+------
. . . | . . .
. . . | . . .
------+------
. . . | . . .
. . . | . . 6""",
    9: """\
1 2 3 | 4 5 6 | 7 8 9
. . . | . . . | . . .
. . . | . . . | . . .
------+-------+------
. . . | . . . | . . .
. . . | . . . | . . .
. . . | . . . | . . .
------+-------+------
. . . | . . . | . . .
. . . | . . . | . . .
. . . | . . . | . . 9""",
}


@pytest.mark.parametrize("size", DRAWN)
def test_boards_are_drawn_with_their_boxes_apart(size: int) -> None:
    text = "123456789"[:size] + "." * (size * size - size - 1) + str(size)
    assert Sudoku(size).render(Sudoku(size).parse(text)) == DRAWN[size]


def test_a_16x16_board_is_drawn_in_letters() -> None:
    puzzle = Sudoku(16)
    lines = puzzle.render(puzzle.parse("123456789ABCDEFG" + "." * 240)).split("\n")
    assert lines[0] == "1 2 3 4 | 5 6 7 8 | 9 A B C | D E F G"
    assert lines[1] == ". . . . | . . . . | . . . . | . . . ."
    assert lines[4] == "--------+---------+---------+--------"
    assert len(lines) == 19


def test_the_rules_are_told_in_full() -> None:
    assert Sudoku(6).rules() == RULES + " A filled cell stays filled."
    told = RULES + "\nYour own digits may be overwritten in the same way, or erased: erase(r1c1)."
    assert Sudoku(6, overwrite=True).rules() == told


def test_a_puzzle_is_its_size_and_its_rule() -> None:
    assert Sudoku() == Sudoku(9, overwrite=False)
    assert Sudoku(4) != Sudoku(6)
    assert Sudoku(4) != Sudoku(4, overwrite=True)
    assert Sudoku(4) != "Sudoku(size=4, overwrite=False)"
    assert repr(Sudoku(4, overwrite=True)) == "Sudoku(size=4, overwrite=True)"
    assert len({Sudoku(4), Sudoku(4), Sudoku(6), Sudoku(4, overwrite=True)}) == 3
    assert hash(Sudoku(4)) == hash(Sudoku(4))
    assert len({hash(Sudoku(size, overwrite=rule)) for size in (4, 6, 9) for rule in (False, True)}) == 6


def test_what_is_no_text_is_refused_by_its_kind() -> None:
    with pytest.raises(ValueError, match=r"^a Sudoku board must be text, not int$"):
        board_digits(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^character 'é' at position 2 is no digit and no blank; write blanks as"):
        board_digits("1é")
    with pytest.raises(ValueError, match=r"^a Sudoku board has 16, 36, 81, 256 cells, this text has 15$"):
        sudoku_size("." * 15)
    with pytest.raises(ValueError, match=r"^a 4x4 Sudoku has 16 cells, this text has 17$"):
        Sudoku(4).parse("." * 17)
    with pytest.raises(ValueError, match=r"^digit 7 at r1c2 exceeds the largest, 4, of a 4x4 Sudoku$"):
        Sudoku(4).parse("47.9" + "." * 12)


@pytest.mark.parametrize(
    ("move", "words"),
    [
        (Fill(0, 3), "r1c1 is given"),
        (Fill(2, 1), "row 1 already holds 1 at r1c1"),
        (Fill(12, 4), "row 4 already holds 4 at r4c2"),
        (Fill(8, 1), "column 1 already holds 1 at r1c1"),
        (Fill(5, 4), "column 2 already holds 4 at r4c2"),
        (Fill(8, 4), "box 3 already holds 4 at r4c2"),
        (Fill(2, 0), "r1c3 cannot be erased"),
        (Fill(16, 1), "no such cell or digit on a 4x4 board"),
        (Fill(-1, 1), "no such cell or digit on a 4x4 board"),
        (Fill(15, 5), "no such cell or digit on a 4x4 board"),
        (Fill(15, -1), "no such cell or digit on a 4x4 board"),
        (Fill(15, 4), "row 4 already holds 4 at r4c2"),
        (Fill(3, 4), None),
    ],
)
def test_a_refusal_names_the_rule_the_unit_and_the_cell(move: Fill, words: str | None) -> None:
    puzzle = Sudoku(4)
    state = puzzle.parse(START)
    assert puzzle.refusal(state, move) == words
    if words is not None:
        with pytest.raises(ValueError, match=rf"is illegal: {words}$"):
            puzzle.apply(state, move)


def test_own_digits_may_change_only_where_that_is_the_rule() -> None:
    strict, free = Sudoku(4), Sudoku(4, overwrite=True)
    filled = strict.apply(strict.parse(START), Fill(2, 3))
    assert strict.refusal(filled, Fill(2, 4)) == "r1c3 is already filled with 3"
    assert strict.refusal(filled, Fill(2, 0)) == "r1c3 cannot be erased"
    assert free.refusal(filled, Fill(2, 4)) is None
    assert free.refusal(filled, Fill(2, 3)) == "r1c3 is already filled with 3"
    assert free.refusal(filled, Fill(2, 0)) is None
    assert free.refusal(filled, Fill(3, 0)) == "r1c4 cannot be erased"
    assert [move for move in free.moves(filled) if move.cell == 2] == [Fill(2, 0), Fill(2, 4)]
    assert [move for move in strict.moves(filled) if move.cell == 2] == []


def test_moves_stand_by_cell_and_digit() -> None:
    puzzle = Sudoku(4)
    assert puzzle.moves(puzzle.parse("12341234123412.."))[:2] == ()
    assert puzzle.moves(puzzle.parse("123434122143432.")) == (Fill(15, 1),)
    assert puzzle.moves(puzzle.parse("12343412214343..")) == (Fill(14, 2), Fill(15, 1))
    fills = puzzle.all_moves()
    assert fills == tuple(Fill(cell, digit) for cell in range(16) for digit in range(1, 5))
    assert Sudoku(4, overwrite=True).all_moves() == (*fills, *(Fill(cell, 0) for cell in range(16)))


def test_arrays_hold_digits_and_where_they_were_given() -> None:
    puzzle = Sudoku(4, overwrite=True)
    state = puzzle.apply(puzzle.parse(START), Fill(2, 3))
    planes = puzzle.encode(state)
    assert planes.dtype == np.int8
    assert planes.shape == (2, 4, 4)
    assert planes[0, 0].tolist() == [1, 2, 3, 0]
    assert planes[1].tolist() == [[1, 1, 0, 0], [0] * 4, [0] * 4, [0, 1, 0, 0]]
    plain = Sudoku(4).encode(state)
    assert plain.dtype == np.int8
    assert plain.tolist() == planes[0].tolist()
    plain[0, 0] = 7
    assert state.values[0] == 1
    assert puzzle.array_high() == 4


def test_tokens_and_vocabulary_stand_in_their_order() -> None:
    puzzle = Sudoku(4, overwrite=True)
    cells = tuple(f"r{row}c{column}" for row in range(1, 5) for column in range(1, 5))
    assert puzzle.vocabulary() == (".", "1", "2", "3", "4", *cells, "b1", "b2", "b3", "b4")
    assert puzzle.compact(puzzle.parse(START)) == tuple(START)
    assert puzzle.compact_action(Fill(5, 3)) == ("r2c2", "3")
    assert puzzle.compact_action(Fill(5, 0)) == ("r2c2", ".")
    assert puzzle.format_action(Fill(7, 3)) == "value(3, r2c4)"
    assert puzzle.format_action(Fill(7, 0)) == "erase(r2c4)"


def test_the_key_is_that_of_the_start_whatever_was_filled() -> None:
    puzzle = Sudoku(4)
    start = puzzle.parse(START)
    assert puzzle.key(puzzle.apply(start, Fill(2, 3))) == puzzle.key(start) == canonical_text(start.values, 4)
    assert puzzle.key(puzzle.parse("." * 16)) == "." * 16


def test_a_board_is_solved_when_every_unit_holds_every_digit() -> None:
    puzzle = Sudoku(4)
    assert puzzle.solved(puzzle.parse("1234341221434321"))
    for wrong in ("123434122143432.", "1234123412341234", "1234234134124123", "1122112233443344"):
        assert not puzzle.solved(puzzle.parse(wrong))
    assert puzzle.parse("1.." + "." * 13).blanks == 15


def test_boxes_are_done_when_they_hold_every_digit_of_their_own() -> None:
    puzzle = Sudoku(4)
    start = puzzle.parse("12..34.." + "." * 8)
    assert puzzle.open_boxes(start) == (1, 2, 3)
    wrong = SudokuState(start.givens, puzzle.parse("12333434" + "." * 8).values)
    assert puzzle.subgoals_done(start, wrong) == (False, False, False)
    done = SudokuState(start.givens, puzzle.parse("12343412" + "21434321").values)
    assert puzzle.subgoals_done(start, done) == (True, True, True)
