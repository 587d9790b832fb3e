"""Rush Hour rules and text: what the parser refuses, what moves do, what renaming leaves alone."""

import json
import pickle
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzles.rush_hour import DIRECTIONS, RushHour, Step, Vehicle

CARD_1 = "BB...CD..E.CDAAE.CD..E..F...GGF.HHH."
"""Classic card 1 under the canonical names."""

REFUSED = {
    "BCCx..B..DEEFAADM.F.GHHIJJG..IKKLLLI": "covers 1 cells",
    "..BB.....C..AA.C....DDDD...x........": "covers 4 cells",
    ".BB.C..DB.C.ED.AA.EFF.G.....G.......": "side by side",
    "J.JB....CB..AACBD..EEED..FFGGH...IIH": "side by side",
    "............AA...............BB.....": "side by side",
    "BCCDEFB.GDEF..GDHI.JJJHIKKK..ILL....": "no primary car",
    ".B.CCCDB.EF.D..EFGHIIIFGHAJ..K.AJLLK": "vertical",
    "......BB..C.....C.DDD.C...EFF...EAA.": "not in the exit row 2",
    "...B.....B..AAAB..CCDD..E.....EFFF..": "has length 3",
    "..B.CC..B...AAB...DDD..E.....E.....": "35 characters",
    "BCCC..B.DDEEAAF.*.GGFH..IIIHJKLLLHJK": "neither a vehicle",
    ".BB.C..D..C.ED.AA.Eff.G.....G.......": "upper-case",
    "": "0 characters",
    '[[2, 0, 2, "H", "A"], [0, 2, 3, "V", "B"], [1, 1, 3, "H", "C"]]': "overlaps",
    '[[2, 0, 2, "H", "A"], [0, 5, 2, "H", "B"]]': "leaves the board",
    '[[2, 0, 2, "H", "A"], [-1, 3, 2, "V", "B"]]': "leaves the board",
    '[[2, 0, 2, "H"]]': "is not",
    '[[2, false, 2, "H", "A"]]': "truth value",
    "[[2, 0,": "not JSON",
}


@st.composite
def boards(draw: st.DrawFn) -> tuple[RushHour, str]:
    """A puzzle of any shape and the text of one of its boards."""
    puzzle = RushHour(draw(st.integers(3, 8)), draw(st.integers(3, 8)))
    cells = [["."] * puzzle.columns for _ in range(puzzle.rows)]
    letters = iter("ABCDEFGHIJKLMNOPQRSTUVWYZ")
    at = draw(st.integers(0, puzzle.columns - 2))
    cells[puzzle.exit_row][at : at + 2] = [next(letters)] * 2
    for _ in range(draw(st.integers(0, 14))):
        row, column = draw(st.integers(0, puzzle.rows - 1)), draw(st.integers(0, puzzle.columns - 1))
        length, down = draw(st.integers(1, 3)), draw(st.booleans())
        places = [(row + down * offset, column + (not down) * offset) for offset in range(length)]
        if all(r < puzzle.rows and c < puzzle.columns and cells[r][c] == "." for r, c in places):
            mark = "x" if length == 1 else next(letters)
            for r, c in places:
                cells[r][c] = mark
    return puzzle, "".join(map("".join, cells))


@pytest.mark.parametrize("text", REFUSED)
def test_malformed_boards_are_refused_with_the_reason(text):
    with pytest.raises(ValueError, match=REFUSED[text]):
        RushHour().parse(text)


@pytest.mark.shared
def test_shared_malformed_boards_are_refused(shared_table):
    rows = shared_table("rush_malformed_shared.tsv")
    assert len(rows) == 25
    for row in rows:
        with pytest.raises(ValueError):
            RushHour().parse(row["input"])


@given(st.text(max_size=80) | st.text(alphabet=string.ascii_letters + ".o0x", min_size=36, max_size=36))
def test_parser_raises_only_value_errors(text):
    puzzle = RushHour()
    try:
        state = puzzle.parse(text)
    except ValueError:
        return
    assert puzzle.parse(puzzle.format(state)) == state


@given(boards())
def test_text_round_trips(case):
    puzzle, text = case
    assert puzzle.format(puzzle.parse(text)) == text
    assert puzzle.parse("\n".join(text[at : at + puzzle.columns] for at in range(0, len(text), puzzle.columns))) == (
        puzzle.parse(text)
    )


@given(boards(), st.randoms(use_true_random=False))
def test_key_is_invariant_under_renaming(case, random):
    puzzle, text = case
    others = list("BCDEFGHIJKLMNOPQRSTUVWYZ")
    shuffled = random.sample(others, len(others))
    renamed = text.translate(str.maketrans(dict(zip(others, shuffled, strict=True))))
    if random.random() < 0.5:
        renamed = renamed.replace("A", "X")
    key = puzzle.key(puzzle.parse(text))
    assert puzzle.key(puzzle.parse(renamed)) == key
    assert puzzle.key(puzzle.parse(key)) == key


@given(boards())
def test_moves_are_what_the_rules_do_not_refuse_and_can_be_taken_back(case):
    puzzle, text = case
    state = puzzle.parse(text)
    legal = set(puzzle.moves(state))
    back = {"up": "down", "down": "up", "left": "right", "right": "left"}
    for move in puzzle.all_moves():
        assert (puzzle.refusal(state, move) is None) == (move in legal)
        if move in legal:
            after = puzzle.apply(state, move)
            assert puzzle.parse(puzzle.format(after)) == after
            assert puzzle.apply(after, Step(move.vehicle, back[move.direction])) == state
        else:
            with pytest.raises(ValueError, match=r"move\("):
                puzzle.apply(state, move)


@given(st.text(max_size=30) | st.builds("move({}, {}, {})".format, st.characters(), st.text(max_size=5), st.integers()))
def test_reading_an_action_never_raises(text):
    moves = RushHour().parse_action(text)
    assert moves is None or all(move.direction in DIRECTIONS for move in moves)


def test_actions_read_in_every_form():
    puzzle = RushHour()
    for move in puzzle.all_moves():
        assert puzzle.parse_action(puzzle.format_action(move)) == (move,)
        assert puzzle.parse_action(" ".join(puzzle.compact_action(move))) == (move,)
    assert puzzle.parse_action("move(B, up, 3)") == (Step("B", "up"),) * 3
    assert puzzle.parse_action("B up 3") == (Step("B", "up"),) * 3
    for wrong in ("move(B, north, 1)", "move(b, up, 1)", "move(B, up, 0)", "B up -1", "value(1, r1c1)"):
        assert puzzle.parse_action(wrong) is None
    found = puzzle.action_pattern.findall("move(B, up, 2) then C left 2 D down")
    assert found == ["move(B, up, 2)", "C left 2", "D down"]


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        (Step("A", "left"), "vehicle D is in the way"),
        (Step("A", "up"), "lies horizontally and cannot move up"),
        (Step("Z", "up"), "there is no vehicle Z"),
        (Step("C", "up"), "the edge of the board is in the way"),
        (Step("B", "right"), None),
    ],
)
def test_refusals_say_what_is_in_the_way(move, reason):
    puzzle = RushHour()
    said = puzzle.refusal(puzzle.parse(CARD_1), move)
    assert said == reason or (said is not None and reason is not None and reason in said)


def test_walls_stop_vehicles():
    puzzle = RushHour()
    assert (
        puzzle.refusal(puzzle.parse("............AAx....................."), Step("A", "right"))
        == "a wall is in the way"
    )


def test_solved_means_the_right_end_of_the_row():
    puzzle = RushHour()
    assert puzzle.solved(puzzle.parse("................AA.................."))
    assert not puzzle.solved(puzzle.parse("...............AA..................."))


def test_x_is_the_primary_car_where_it_occurs():
    puzzle = RushHour()
    state = puzzle.parse("AA...OP..Q.OPXXQ.OP..Q..B...CCB.RRR.")
    assert state.layout.letters[0] == "X"
    assert puzzle.key(state) == CARD_1


def test_vehicle_lists_read_like_letter_maps():
    puzzle = RushHour()
    vehicles = [Vehicle(2, 0, 2, True, "A"), Vehicle(0, 2, 3, False, "B")]
    text = json.dumps([[*vehicle[:3], "HV"[not vehicle.horizontal], vehicle.letter] for vehicle in vehicles])
    assert puzzle.parse(text) == puzzle.from_vehicles(vehicles) == puzzle.parse("..B.....B...AAB" + "." * 21)


def test_array_form_shows_the_board():
    puzzle = RushHour()
    state = puzzle.parse("......" * 2 + "AA.CCx" + "......" * 3)
    grid = puzzle.encode(state)
    assert grid[2].tolist() == [2, 2, 0, 5, 5, 1]
    assert grid.sum() == 2 + 2 + 5 + 5 + 1
    assert grid.max() <= puzzle.array_high()


def test_tokens_belong_to_the_vocabulary():
    puzzle = RushHour()
    state = puzzle.parse(CARD_1)
    known = set(puzzle.vocabulary())
    assert len(puzzle.compact(state)) == 36
    assert known >= set(puzzle.compact(state))
    assert all(known >= set(puzzle.compact_action(move)) for move in puzzle.all_moves())


def test_states_survive_pickling_as_keys():
    puzzle = RushHour()
    state = puzzle.parse(CARD_1)
    copy = pickle.loads(pickle.dumps(state))
    assert {state: 1}[copy] == 1


def test_board_shape_is_checked():
    with pytest.raises(ValueError, match="rows is 9"):
        RushHour(9, 6)
    with pytest.raises(ValueError, match="exit_row is 6"):
        RushHour(6, 6, 6)
    with pytest.raises(ValueError, match="at most 25"):
        RushHour(8, 8).from_vehicles([Vehicle(0, 0, 2, True, "A")] * 26)


def test_rendering_marks_the_exit():
    assert RushHour().render(RushHour().parse(CARD_1)).split("\n")[2] == "D A A E . C >"
