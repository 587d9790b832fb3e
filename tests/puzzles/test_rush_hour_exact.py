"""Rush Hour to the letter: moves in their order, refusals in their words, boards as drawn and as numbers."""

from __future__ import annotations

import numpy as np
import pytest

from puzzles.rush_hour import RushHour, Step, Vehicle
from puzzles.rush_hour_layout import Layout

CARD_1 = "BB...CD..E.CDAAE.CD..E..F...GGF.HHH."
"""Classic card 1 under the canonical names."""
CAR = Vehicle(2, 0, 2, True, "A")

RULES = """\
Rush Hour on a board of 5 rows and 7 columns. Letters are vehicles of two or three cells, '.' is empty, 'x' is a wall \
that never moves. A vehicle moves only along its own line (horizontal: left, right; vertical: up, down) and only \
through empty cells. Goal: the primary car A (or X) reaches the right end of row 3.
Action: move(VEHICLE, DIRECTION, CELLS), for example move(B, up, 1)."""


def test_the_rules_are_told_in_full() -> None:
    assert RushHour(5, 7).rules() == RULES


@pytest.mark.parametrize(("rows", "middle"), [(3, 1), (4, 1), (5, 2), (6, 2), (7, 3), (8, 3)])
def test_the_exit_row_is_the_upper_middle_one_unless_named(rows: int, middle: int) -> None:
    assert RushHour(rows, 8).exit_row == middle
    assert RushHour(rows, 3, 0).exit_row == 0
    assert RushHour(rows, 3, rows - 1).exit_row == rows - 1


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((2, 6), "rows is 2, must be 3 to 8"),
        ((9, 6), "rows is 9, must be 3 to 8"),
        ((6, 2), "columns is 2, must be 3 to 8"),
        ((6, 9), "columns is 9, must be 3 to 8"),
        ((6, 6, 6), "exit_row is 6, must be 0 to 5"),
        ((6, 6, -1), "exit_row is -1, must be 0 to 5"),
    ],
)
def test_a_board_of_another_shape_is_refused(shape: tuple[int, ...], words: str) -> None:
    with pytest.raises(ValueError, match=f"^{words}$"):
        RushHour(*shape)


def test_a_puzzle_says_its_shape() -> None:
    assert repr(RushHour()) == "RushHour(rows=6, columns=6, exit_row=2)"
    assert repr(RushHour(3, 4, 0)) == "RushHour(rows=3, columns=4, exit_row=0)"


def test_moves_stand_primary_first_then_by_letter_and_towards_the_origin_first() -> None:
    puzzle = RushHour()
    first = [" ".join(move) for move in puzzle.moves(puzzle.parse(CARD_1))]
    assert first == ["B right", "C down", "E up", "E down", "G left", "H left", "H right"]
    state = puzzle.parse("C....." + "C....." + ".XX..." + ".....B" + ".....B" + "......")
    assert puzzle.moves(state) == (
        Step("X", "left"), Step("X", "right"), Step("B", "up"), Step("B", "down"), Step("C", "down"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("move", "words"),
    [
        (Step("A", "left"), "vehicle D is in the way"),
        (Step("A", "right"), "vehicle E is in the way"),
        (Step("B", "left"), "the edge of the board is in the way"),
        (Step("G", "right"), "the edge of the board is in the way"),
        (Step("C", "up"), "the edge of the board is in the way"),
        (Step("F", "down"), "the edge of the board is in the way"),
        (Step("F", "up"), "vehicle D is in the way"),
        (Step("A", "up"), "vehicle A lies horizontally and cannot move up"),
        (Step("C", "right"), "vehicle C lies vertically and cannot move right"),
        (Step("Z", "up"), "there is no vehicle Z"),
        (Step("B", "north"), "'north' is no direction"),
        (Step("B", "right"), None),
        (Step("H", "right"), None),
    ],
)
def test_a_refusal_says_what_is_in_the_way(move: Step, words: str | None) -> None:
    puzzle = RushHour()
    state = puzzle.parse(CARD_1)
    assert puzzle.refusal(state, move) == words
    if words is not None:
        with pytest.raises(ValueError) as caught:
            puzzle.apply(state, move)
        assert str(caught.value) == f"move({move.vehicle}, {move.direction}, 1): {words}"


def test_walls_stop_vehicles_on_every_side() -> None:
    puzzle = RushHour()
    state = puzzle.parse("....x." + "....B." + "xAAxB." + "....x." + "." * 12)
    for move in (Step("A", "left"), Step("A", "right"), Step("B", "up"), Step("B", "down")):
        assert puzzle.refusal(state, move) == "a wall is in the way"
    assert puzzle.moves(state) == ()


def test_a_step_moves_one_vehicle_by_one_cell() -> None:
    puzzle = RushHour()
    after = puzzle.apply(puzzle.parse(CARD_1), Step("H", "right"))
    assert puzzle.format(after) == CARD_1[:32] + ".HHH"
    assert after == puzzle.parse(CARD_1[:32] + ".HHH")
    down = puzzle.apply(puzzle.parse("B....." * 2 + "..AA.." + "." * 18), Step("B", "down"))
    assert puzzle.format(down) == "......" + "B....." + "B.AA.." + "." * 18


def test_solved_means_the_right_end_on_boards_of_any_width() -> None:
    for columns in (3, 5, 8):
        puzzle = RushHour(3, columns)
        for at in range(columns - 1):
            row = "." * at + "AA" + "." * (columns - 2 - at)
            assert puzzle.solved(puzzle.parse("." * columns + row + "." * columns)) == (at == columns - 2)


def test_boards_are_drawn_row_by_row() -> None:
    puzzle = RushHour(3, 4)
    assert puzzle.render(puzzle.parse("x..B" + "AA.B" + "....")) == "x . . B\nA A . B >\n. . . ."
    assert RushHour(3, 4, 0).render(RushHour(3, 4, 0).parse("AA.." + "." * 8)) == "A A . . >\n. . . .\n. . . ."


def test_arrays_number_the_primary_car_then_the_letters() -> None:
    puzzle = RushHour(3, 6)
    grid = puzzle.encode(puzzle.parse("x.ZZYY" + "AAXX.B" + ".....B"))
    assert grid.dtype == np.int8
    assert grid.tolist() == [[1, 0, 28, 28, 27, 27], [3, 3, 2, 2, 0, 4], [0, 0, 0, 0, 0, 4]]
    assert puzzle.array_high() == 28


def test_tokens_and_moves_stand_in_their_order() -> None:
    puzzle = RushHour(3, 4)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    ways = ("up", "down", "left", "right")
    assert puzzle.vocabulary() == (".", "x", *letters, *ways, *"1234567")
    assert puzzle.all_moves() == tuple(Step(letter, way) for letter in letters for way in ways)
    assert puzzle.compact(puzzle.parse("x..B" + "AA.B" + "....")) == tuple("x..BAA.B....")
    assert puzzle.compact_action(Step("B", "up")) == ("B", "up")


MALFORMED = {
    "AA.": "board has 3 characters, expected 12 (3 rows of 4)",
    ".... AA..": "a board of several words needs 3 rows of 4 characters, got 2 words",
    ".... AA... ...": "a board of several words needs 3 rows of 4 characters, got 3 words",
    ".... AA.. .... ....": "a board of several words needs 3 rows of 4 characters, got 4 words",
    "....BB......": "board has no primary car (letter A or X)",
    "....AA..b...": "character 'b' is neither a vehicle (A-Z), a wall (x) nor empty (. o 0); vehicles are upper-case "
    "letters",
    "....AA..*...": "character '*' is neither a vehicle (A-Z), a wall (x) nor empty (. o 0)",
    "....AA..[...": "character '[' is neither a vehicle (A-Z), a wall (x) nor empty (. o 0)",
    "....AA..@...": "character '@' is neither a vehicle (A-Z), a wall (x) nor empty (. o 0)",
    "....AA..B...": "vehicle B covers 1 cells, must be 2 or 3",
    "....AA..BBBB": "vehicle B covers 4 cells, must be 2 or 3",
    "B...AA.....B": "the cells of vehicle B do not lie side by side in one row or column",
    "...BBAA.....": "the cells of vehicle B do not lie side by side in one row or column",
    "B.B.AA..B...": "the cells of vehicle B do not lie side by side in one row or column",
    "AA..........": "primary car A is in row 0, not in the exit row 1",
    "....AAA.....": "primary car A has length 3, must be 2",
    "A...A.......": "primary car A is vertical, must lie in the exit row",
    '[[1, 0, 2, "H", "A"], [0, 0, 2, "H", "A"]]': "one letter names two vehicles",
    '[[1, 0, 2, "H", "A"], [0, 1, 2, "V", "B"]]': "vehicle B overlaps vehicle A at row 1, column 1",
    '[[1, 0, 2, "H", "A"], [0, 3, 2, "H", "B"]]': "vehicle B leaves the board of 3 rows and 4 columns",
    '[[1, 0, 2, "H", "A"], [2, 3, 2, "V", "B"]]': "vehicle B leaves the board of 3 rows and 4 columns",
    '[[1, 0, 2, "H", "A"], [0, -1, 2, "H", "B"]]': "vehicle B leaves the board of 3 rows and 4 columns",
    '[[1, 0, 2, "H", "A"], [-1, 3, 2, "V", "B"]]': "vehicle B leaves the board of 3 rows and 4 columns",
    '[[1, 0, 2, "H", "A"], [0, 3, 4, "V", "B"]]': "vehicle B has length 4, must be 2 or 3",
    '[[1, 0, 2, "H", "A"], [0, 3, 2, "V", "b"]]': "vehicle letter 'b' is not one of A-Z",
    '[[1, 0, 2, "H", "A"], [0, 3, 2, "V", "["]]': "vehicle letter '[' is not one of A-Z",
    '[[1, 0, 2, "H", "AB"]]': "vehicle [1, 0, 2, 'H', 'AB'] is not [row, column, length, \"H\" or \"V\", letter]",
    '[[1, 0, 2, "D", "A"]]': "vehicle [1, 0, 2, 'D', 'A'] is not [row, column, length, \"H\" or \"V\", letter]",
    '[[true, 0, 2, "H", "A"]]': "vehicle [True, 0, 2, 'H', 'A'] has a truth value where a number belongs",
    '[[1, false, 2, "H", "A"]]': "vehicle [1, False, 2, 'H', 'A'] has a truth value where a number belongs",
    '[[1, 0, true, "H", "A"]]': "vehicle [1, 0, True, 'H', 'A'] has a truth value where a number belongs",
    "[7]": 'vehicle 7 is not [row, column, length, "H" or "V", letter]',
}


@pytest.mark.parametrize("text", MALFORMED)
def test_a_malformed_board_is_refused_in_these_words(text: str) -> None:
    with pytest.raises(ValueError) as caught:
        RushHour(3, 4).parse(text)
    assert str(caught.value) == MALFORMED[text]


def test_a_list_that_is_no_json_or_nested_without_end_is_refused() -> None:
    for text in ("[[1, 0", "[" * 100_000):
        with pytest.raises(ValueError, match=r"^vehicle list is not JSON: "):
            RushHour().parse(text)


def test_vehicles_may_stand_at_every_edge_and_in_any_order() -> None:
    puzzle = RushHour(3, 4)
    text = '  [[0, 3, 2, "V", "C"], [2, 1, 3, "H", "B"], [1, 0, 2, "H", "A"]]'
    state = puzzle.parse(text)
    assert puzzle.format(state) == "...CAA.C.BBB"
    assert state.layout.letters == ("A", "B", "C")
    assert state.positions == (0, 1, 0)
    assert state.layout.lines == (1, 2, 3)
    assert (state.layout.rows, state.layout.columns, state.layout.exit_row) == (3, 4, 1)


def test_every_mark_of_an_empty_cell_is_read_and_one_is_written() -> None:
    puzzle = RushHour(3, 4)
    assert puzzle.format(puzzle.parse("o0.oAA00....")) == "....AA......"
    assert puzzle.parse("....\nAA..\n....") == puzzle.parse("....AA......")


def test_walls_may_be_given_beside_vehicles_but_not_under_them() -> None:
    puzzle = RushHour(3, 4)
    assert puzzle.format(puzzle.from_vehicles([CAR._replace(row=1)], [(0, 3), (2, 0)])) == "...xAA..x..."
    with pytest.raises(ValueError, match=r"^vehicle A overlaps a wall at row 1, column 0$"):
        puzzle.from_vehicles([CAR._replace(row=1)], [(1, 0)])
    many = [Vehicle(0, 0, 2, True, "A")] * 26
    with pytest.raises(ValueError, match=r"^board has 26 vehicles, at most 25 are allowed$"):
        puzzle.from_vehicles(many)


def test_a_board_may_hold_a_vehicle_for_each_of_25_letters() -> None:
    puzzle = RushHour(8, 8)
    text = "".join(letter * 2 for letter in "BCDEFGHIJKLMANOPQRSTUVWYZ").ljust(64, ".")
    assert text[24:26] == "AA"
    state = puzzle.parse(text)
    assert len(state.layout) == 25
    assert puzzle.key(state)[24:26] == "AA"


def test_the_key_names_vehicles_in_order_of_appearance() -> None:
    puzzle = RushHour(3, 6)
    assert puzzle.key(puzzle.parse("x.ZZYY" + "AAXX.B" + ".....B")) == "x.BBCC" + "DDAA.E" + ".....E"


def test_a_layout_tells_room_masks_and_indices() -> None:
    layout = Layout(3, 4, 1, ("A", "B"), (True, False), (1, 3), (2, 3), walls=1)
    assert len(layout) == 2
    assert [layout.room(vehicle) for vehicle in (0, 1)] == [3, 1]
    assert layout.mask(0, 1) == 0b0000_0110_0000
    assert layout.mask(1, 0) == 0b1000_1000_1000
    assert [layout.vehicle(letter) for letter in "ABC"] == [0, 1, None]
    assert layout == Layout(3, 4, 1, ("A", "B"), (True, False), (1, 3), (2, 3), walls=1)
    others = [
        Layout(3, 4, 1, ("A", "B"), (True, False), (1, 3), (2, 3), walls=2),
        Layout(3, 4, 1, ("A", "C"), (True, False), (1, 3), (2, 3), walls=1),
        Layout(3, 4, 1, ("A", "B"), (True, False), (1, 2), (2, 3), walls=1),
        Layout(3, 4, 1, ("A", "B"), (True, False), (1, 3), (2, 2), walls=1),
        Layout(3, 5, 1, ("A", "B"), (True, False), (1, 3), (2, 3), walls=1),
        Layout(4, 4, 1, ("A", "B"), (True, False), (1, 3), (2, 3), walls=1),
        Layout(3, 4, 0, ("A", "B"), (True, False), (1, 3), (2, 3), walls=1),
    ]
    assert len({hash(other) for other in (layout, *others)}) == 8
    assert hash(layout) == hash(((3, 4, 1, 1), (65, 66), (1, 3), (2, 3)))
    assert repr(layout).startswith("Layout(rows=3, columns=4, exit_row=1, letters=")
    assert "mask" not in repr(layout)
