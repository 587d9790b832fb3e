"""Sudoku's rules and text: what is legal, what is refused and why, and what the parser reads."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from puzzles.sudoku import Fill, Sudoku, SudokuState, board_digits, sudoku_size

SIZES = (4, 6, 9, 16)
START = "12...........4.."


@st.composite
def played(draw: st.DrawFn) -> tuple[Sudoku, SudokuState]:
    """A puzzle and a state that some legal moves lead to."""
    puzzle = Sudoku(draw(st.sampled_from((4, 6, 9))), overwrite=draw(st.booleans()))
    state = puzzle.parse("." * puzzle.layout.cells)
    for _ in range(draw(st.integers(0, 2))):
        state = puzzle.apply(state, draw(st.sampled_from(puzzle.moves(state))))
    state = SudokuState(state.values, state.values)
    for _ in range(draw(st.integers(0, 8))):
        moves = puzzle.moves(state)
        if moves:
            state = puzzle.apply(state, draw(st.sampled_from(moves)))
    return puzzle, state


@given(st.sampled_from(SIZES), st.text() | st.text(alphabet="0.123456789AG |-+\n\t", max_size=300))
def test_parsing_any_text_gives_a_board_or_a_value_error(size: int, text: str) -> None:
    puzzle = Sudoku(size)
    try:
        state = puzzle.parse(text)
    except ValueError:
        return
    assert puzzle.parse(puzzle.format(state)) == state


@given(st.sampled_from(SIZES), st.data())
def test_every_board_text_round_trips(size: int, data: st.DataObject) -> None:
    puzzle = Sudoku(size)
    digits = bytes(data.draw(st.lists(st.integers(0, size), min_size=size * size, max_size=size * size)))
    state = SudokuState(digits, digits)
    assert puzzle.parse(puzzle.format(state)) == state == puzzle.parse(puzzle.render(state))
    assert sudoku_size(puzzle.format(state)) == size


@pytest.mark.parametrize(
    ("size", "text", "reason"),
    [
        (9, "1" * 80, "has 81 cells, this text has 80"),
        (9, "1" * 80 + "x", "'x' at position 81 is no digit"),
        (9, "1" * 80 + "\N{FULLWIDTH DIGIT FIVE}", "is no digit"),
        (4, "1" * 15 + "5", "digit 5 at r4c4 exceeds the largest, 4"),
        (9, "1" * 80 + "A", "digit A at r9c9 exceeds the largest, 9"),
        (4, "", "has 16 cells, this text has 0"),
    ],
)
def test_a_malformed_board_is_refused_with_its_reason(size: int, text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Sudoku(size).parse(text)


def test_unknown_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="must be one of 4, 6, 9, 16, not 5"):
        Sudoku(5)
    with pytest.raises(ValueError, match="16, 36, 81, 256 cells, this text has 3"):
        sudoku_size("1.2")


def test_decorations_between_cells_are_skipped() -> None:
    text = "1 2 | . .\n. . | . .\n----+----\r\n. . | . .\n0 4 | . .\n"
    assert Sudoku(4).parse(text) == Sudoku(4).parse("12" + "." * 11 + "4..") == Sudoku(4).parse(START)
    assert board_digits(text).count(0) == 13


def test_contradicting_givens_are_a_state_that_is_never_solved() -> None:
    puzzle = Sudoku(4)
    assert not puzzle.solved(puzzle.parse("1" * 16))
    assert puzzle.solved(puzzle.parse("1234341221434321"))


@given(played())
def test_moves_are_exactly_what_refusal_allows(case: tuple[Sudoku, SudokuState]) -> None:
    puzzle, state = case
    legal = puzzle.moves(state)
    assert legal == tuple(sorted(legal))
    assert set(legal) == {move for move in puzzle.all_moves() if puzzle.refusal(state, move) is None}


@given(played(), st.data())
def test_apply_changes_one_cell_and_keeps_the_givens(case: tuple[Sudoku, SudokuState], data: st.DataObject) -> None:
    puzzle, state = case
    move = data.draw(st.sampled_from(puzzle.all_moves()))
    if puzzle.refusal(state, move) is not None:
        with pytest.raises(ValueError, match="is illegal"):
            puzzle.apply(state, move)
        return
    after = puzzle.apply(state, move)
    changed = [cell for cell in range(puzzle.layout.cells) if after.values[cell] != state.values[cell]]
    assert changed == [move.cell]
    assert after.values[move.cell] == move.digit
    assert after.givens == state.givens
    assert after.givens[move.cell] == 0


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        (Fill(0, 3), "r1c1 is given"),
        (Fill(2, 1), "row 1 already holds 1 at r1c1"),
        (Fill(8, 1), "column 1 already holds 1 at r1c1"),
        (Fill(4, 2), "box 1 already holds 2 at r1c2"),
        (Fill(2, 0), "r1c3 cannot be erased"),
        (Fill(16, 1), "no such cell"),
        (Fill(-1, 1), "no such cell"),
        (Fill(2, 5), "no such cell or digit"),
    ],
)
def test_a_refusal_names_the_rule(move: Fill, reason: str) -> None:
    puzzle = Sudoku(4)
    refusal = puzzle.refusal(puzzle.parse(START), move)
    assert refusal is not None
    assert reason in refusal


def test_a_filled_cell_stays_filled_unless_overwriting_is_allowed() -> None:
    for overwrite in (False, True):
        puzzle = Sudoku(4, overwrite=overwrite)
        state = puzzle.apply(puzzle.parse(START), Fill(2, 3))
        assert (puzzle.refusal(state, Fill(2, 4)) is None) == overwrite
        assert (puzzle.refusal(state, Fill(2, 0)) is None) == overwrite
        assert "already filled with 3" in str(puzzle.refusal(state, Fill(2, 3)))
        assert "is given" in str(puzzle.refusal(state, Fill(0, 0)))


def test_an_erasure_undoes_a_fill() -> None:
    puzzle = Sudoku(4, overwrite=True)
    start = puzzle.parse(START)
    assert puzzle.apply(puzzle.apply(start, Fill(2, 3)), Fill(2, 0)) == start


@given(played())
def test_every_action_text_is_read_back(case: tuple[Sudoku, SudokuState]) -> None:
    puzzle, _ = case
    for move in puzzle.all_moves():
        assert puzzle.parse_action(puzzle.format_action(move)) == (move,)
        assert puzzle.parse_action(" ".join(puzzle.compact_action(move))) == (move,)
        assert set(puzzle.compact_action(move)) <= set(puzzle.vocabulary())


@given(st.text() | st.from_regex(r"(value|erase)\(\d{0,3}, ?r\d{0,3}c\d{0,3}\)|r\d+c\d+[ =]\d+"), st.booleans())
@example("value(10, r1c1)", False)
@example("value(0, r1c1)", True)
@example("r0c1 1", False)
def test_parse_action_never_raises_and_gives_only_moves_of_the_board(text: str, overwrite: bool) -> None:
    puzzle = Sudoku(9, overwrite=overwrite)
    moves = puzzle.parse_action(text)
    assert moves is None or set(moves) <= set(puzzle.all_moves())


def test_actions_are_read_in_every_documented_form() -> None:
    puzzle = Sudoku(9, overwrite=True)
    for text in ("value(5, r1c2)", " value( 5 ,r1c2 ) ", "r1c2 5", "r1c2=5", "r1c2 = 5"):
        assert puzzle.parse_action(text) == (Fill(1, 5),)
    assert puzzle.parse_action("erase(r1c2)") == puzzle.parse_action("r1c2 .") == (Fill(1, 0),)
    for text in ("value(0, r1c2)", "value(5, r0c2)", "value(5, r1c10)", "r1c2 0", "put(5, r1c2)", ""):
        assert puzzle.parse_action(text) is None
    assert Sudoku(9).parse_action("erase(r1c2)") is None


def test_the_action_pattern_finds_actions_in_a_reply() -> None:
    reply = "<think> b1 2 3 b4 7 </think> r1c1 2 r4c2=7. Then value(5, r9c9)"
    assert Sudoku.action_pattern.findall(reply) == ["r1c1 2", "r4c2=7", "value(5, r9c9)"]


@given(played())
def test_arrays_and_tokens_show_the_board(case: tuple[Sudoku, SudokuState]) -> None:
    puzzle, state = case
    board = puzzle.encode(state)
    assert board.shape == ((2, puzzle.size, puzzle.size) if puzzle.overwrite else (puzzle.size, puzzle.size))
    assert 0 <= board.min() <= board.max() <= puzzle.array_high()
    assert board.ravel()[: puzzle.layout.cells].tolist() == list(state.values)
    tokens = puzzle.compact(state)
    assert len(tokens) == puzzle.layout.cells
    assert set(tokens) <= set(puzzle.vocabulary())
    assert puzzle.parse("".join(tokens)).values == state.values


def test_subgoals_are_the_boxes_that_were_open() -> None:
    puzzle = Sudoku(4)
    start = puzzle.parse("12..34.." + "." * 8)
    assert puzzle.subgoals(start) == ("b2", "b3", "b4")
    state = start
    for move in (Fill(2, 3), Fill(3, 4), Fill(6, 1), Fill(7, 2)):
        assert puzzle.subgoals_done(start, state) == (False, False, False)
        state = puzzle.apply(state, move)
    assert puzzle.subgoals_done(start, state) == (True, False, False)


def test_a_thought_is_checked_against_the_board() -> None:
    puzzle = Sudoku(4)
    state = puzzle.parse("12..3..." + "." * 8)
    assert puzzle.check_thought(state, "b1 4") is True
    assert puzzle.check_thought(state, "b1 3") is False
    assert puzzle.check_thought(state, "hm") is None


@given(st.sampled_from(SIZES), st.booleans())
@settings(max_examples=10)
def test_rules_state_goal_and_grammar(size: int, overwrite: bool) -> None:
    rules = Sudoku(size, overwrite=overwrite).rules()
    assert f"{size}x{size}" in rules
    assert "value(" in rules
    assert ("erase(" in rules) == overwrite


def test_render_sets_boxes_apart() -> None:
    puzzle = Sudoku(4)
    lines = ["1 2 | . .", ". . | . .", "----+----", ". . | . .", ". 4 | . ."]
    assert puzzle.render(puzzle.parse(START)) == "\n".join(lines)
