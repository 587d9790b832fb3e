"""Each broken puzzle is caught by the law it breaks, and the error names that law with a small example."""

from __future__ import annotations

import random

import numpy as np
import pytest
from lights_out import LightsOut

from horizon_bench.testing import LAWS, LawError, check_puzzle
from puzzles.base import Puzzle
from solvers import BreadthFirstOracle


class LosesText(LightsOut):
    def format(self, state):
        return super().format(state)[:-1] + "0"


class ChangesItsState(LightsOut):
    """States are lists in disguise, which `apply` changes."""

    def parse(self, text):
        return MutableLamps(super().parse(text))

    def apply(self, state, move):
        lamps = super().apply(tuple(state.lamps), move)
        state.lamps[:] = lamps
        return MutableLamps(lamps)

    def moves(self, state):
        return super().moves(tuple(state.lamps))

    def format(self, state):
        return super().format(tuple(state.lamps))

    def render(self, state):
        return super().render(tuple(state.lamps))

    def solved(self, state):
        return not any(state.lamps)

    def compact(self, state):
        return tuple(self.format(state))


class MutableLamps:
    def __init__(self, lamps):
        self.lamps = list(lamps)

    def __eq__(self, other):
        return self.lamps == other.lamps

    def __hash__(self):
        return hash(tuple(self.lamps))


class ListsTooMuch(LightsOut):
    def moves(self, state):
        return self.all_moves()


class AllowsTooMuch(LightsOut):
    def moves(self, state):
        return super().moves(state)[:-1] or super().moves(state)


class RaisesOnGarbage(LightsOut):
    def parse_action(self, text):
        if text and text[0] in "vV<":
            raise KeyError(text)
        return super().parse_action(text)


class RaisesOnBadStarts(LightsOut):
    def parse(self, text):
        if len(text) != self.size**2:
            raise IndexError(text)
        return super().parse(text)


class ForgetsAnAction(LightsOut):
    def parse_action(self, text):
        moves = super().parse_action(text)
        return None if moves == (4,) else moves


class CountsWrong(LightsOut):
    def make_oracle(self, start):
        return Overstating(self, start)


class Overstating(BreadthFirstOracle):
    def distance_to_go(self, state):
        return 2 * super().distance_to_go(state)

    @property
    def distance(self):
        return 2 * super().distance


class TakesDetours(LightsOut):
    def make_oracle(self, start):
        return Detouring(self, start)


class Detouring(BreadthFirstOracle):
    def plan(self, state):
        moves = super().plan(state)
        return moves[:-1]


class MiscountsSubgoals(LightsOut):
    def subgoals_done(self, start, state):
        return super().subgoals_done(start, state)[:-1]


class OverflowsItsArray(LightsOut):
    def encode(self, state):
        return np.array(state, dtype=np.int8).reshape(self.size, self.size) * 3


class ChangesItsTokens(LightsOut):
    def compact(self, state):
        return tuple(str(lamp) for lamp, lit in enumerate(state) if lit)


class RollsDice(LightsOut):
    def apply(self, state, move):
        after = super().apply(state, move)
        return after if random.random() < 0.7 else state


class DrawsOutsideTheCharacters(LightsOut):
    def render(self, state):
        return super().render(state).replace("#", "\N{ELECTRIC LIGHT BULB}")


class RemembersItsPast(LightsOut):
    """The third press of a puzzle's life does nothing: rules with a memory outside the state."""

    presses = 0

    def apply(self, state, move):
        after = super().apply(state, move)
        type(self).presses += 1
        return state if self.presses % 3 == 0 else after


class TrustsItsPrefix(LightsOut):
    """Reads what begins as its own actions do, without a look at the rest."""

    def parse_action(self, text):
        if text.startswith("press(r"):
            return ((int(text[7]) - 1) * self.size + int(text[9]) - 1,)
        return super().parse_action(text)


class SeedsTheWorld(LightsOut):
    def render(self, state):
        random.seed(0)
        return super().render(state)


class StartsAtTheGoal(LightsOut):
    def examples(self):
        return ("000000000",)


class HasNoName(LightsOut):
    name = ""


class HidesAMoveFarAway(LightsOut):
    """Forgets the last lamp where it is alone in its row, without an `all_moves` to compare with."""

    def moves(self, state):
        return tuple(lamp for lamp in super().moves(state) if lamp != 8 or state[6] or state[7])

    def all_moves(self):
        return ()


class ReadsMovesThatCannotBeWritten(LightsOut):
    def parse_action(self, text):
        return (text,) if text.startswith("press(") and len(text) > 11 else super().parse_action(text)


BROKEN = {
    TrustsItsPrefix: "replies never raise",
    ReadsMovesThatCannotBeWritten: "replies never raise",
    SeedsTheWorld: "global generators stay untouched",
    StartsAtTheGoal: "name, rules and starts",
    HasNoName: "name, rules and starts",
    HidesAMoveFarAway: "legal moves",
    LosesText: "text round-trip",
    ChangesItsState: "values",
    ListsTooMuch: "legal moves",
    AllowsTooMuch: "legal moves",
    RaisesOnGarbage: "replies never raise",
    RaisesOnBadStarts: "starts are refused by ValueError",
    ForgetsAnAction: "action round-trip",
    CountsWrong: "distance",
    TakesDetours: "plan",
    MiscountsSubgoals: "subgoals",
    OverflowsItsArray: "arrays",
    ChangesItsTokens: "tokens",
    RollsDice: "values",
    RemembersItsPast: "values",
    DrawsOutsideTheCharacters: "observation in its space",
}


@pytest.mark.parametrize("puzzle", BROKEN, ids=lambda puzzle: puzzle.__name__)
def test_each_broken_puzzle_is_caught_by_its_law(puzzle):
    with pytest.raises(LawError) as caught:
        check_puzzle(puzzle, max_examples=150 if puzzle is RaisesOnGarbage else 30)
    assert caught.value.law == BROKEN[puzzle]
    assert f"law broken: {BROKEN[puzzle]}" in str(caught.value)


@pytest.mark.parametrize("puzzle", [OverflowsItsArray, MiscountsSubgoals, DrawsOutsideTheCharacters])
def test_the_example_is_minimal(puzzle):
    with pytest.raises(LawError) as caught:
        check_puzzle(puzzle, max_examples=30)
    assert caught.value.walk.choices == ()
    assert caught.value.walk.start == "010111010"
    assert "moves taken: none" in str(caught.value)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    ("puzzle", "arguments"),
    [
        ("lights_out:LightsOut", {}),
        (LightsOut(2), {}),
        ("sudoku", {"starts": ["12..3.....4....2", "1234341221434.2."]}),
        ("rush-hour", {"starts": ["AA...OP..Q.OPXXQ.OP..Q..B...CCB.RRR."]}),
        ("shop", {"starts": ["nordal insulated rug <=15 red", "lumen jacket <=20 small; nordal rug <=15"]}),
    ],
    ids=["import string", "instance", "sudoku", "rush-hour", "shop"],
)
def test_sound_puzzles_hold_every_law(puzzle, arguments, law):
    check_puzzle(puzzle, laws=[law], max_examples=8, **arguments)


def test_unknown_laws_and_missing_starts_are_refused():
    with pytest.raises(ValueError, match="did you mean 'distance'"):
        check_puzzle(LightsOut, laws=["distence"])

    class NoStarts(LightsOut):
        def examples(self):
            return ()

    with pytest.raises(ValueError, match="starts="):
        check_puzzle(NoStarts)
    with pytest.raises(ValueError, match=r"must be a subclass of puzzles\.base\.Puzzle"):
        check_puzzle(int)


class Grows(LightsOut):
    """Texts of states have different lengths; no compact form of its own."""

    compact = Puzzle.compact

    def parse(self, text):
        return super().parse(text.ljust(self.size**2, "0"))

    def format(self, state):
        return super().format(state).rstrip("0")


class GrowsWithoutTokens(Grows):
    def vocabulary(self):
        return ()


class HoldsTokensInASet(LightsOut):
    def vocabulary(self):
        return frozenset(super().vocabulary())


def test_boards_of_different_lengths_are_told_the_way_out_and_let_be_where_no_tokens_are_offered():
    with pytest.raises(LawError, match="pad the board's text to one length, or write compact"):
        check_puzzle(Grows, laws=["tokens"], max_examples=30)
    check_puzzle(GrowsWithoutTokens, laws=["tokens", "observation in its space"], max_examples=30)


def test_a_vocabulary_is_no_set():
    with pytest.raises(LawError, match="vocabulary gives a frozenset, must be a tuple or a list"):
        check_puzzle(HoldsTokensInASet, laws=["tokens"], max_examples=1)


def test_the_order_of_a_vocabulary_is_that_of_every_process(tmp_path, monkeypatch):
    lines = ("from lights_out import LightsOut", "class Shuffled(LightsOut):", "    def vocabulary(self):")
    result = "        return tuple(set(super().vocabulary()))"
    (tmp_path / "shuffled.py").write_text("\n".join([*lines, result]), encoding="utf8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(LawError, match="another order in another process"):
        check_puzzle("shuffled:Shuffled", laws=["tokens"], max_examples=1)
