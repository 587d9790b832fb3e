"""The oracle for any puzzle, on a toy of directed moves with dead ends."""

import gc
import re
import weakref

import pytest

import solvers
from puzzles.base import Puzzle
from puzzles.rush_hour import RushHour
from solvers import BreadthFirstOracle, Oracle, breadth_first


class Countdown(Puzzle[int, int]):
    """Subtract 2 or 3 until exactly 0 is left."""

    name = "countdown"

    def parse(self, text: str) -> int:
        return int(text)

    def format(self, state: int) -> str:
        return str(state)

    def moves(self, state: int) -> tuple[int, ...]:
        return tuple(step for step in (2, 3) if step <= state)

    def apply(self, state: int, move: int) -> int:
        return state - move

    def solved(self, state: int) -> bool:
        return state == 0

    def parse_action(self, text: str) -> tuple[int, ...] | None:
        return (int(text),) if re.fullmatch("[23]", text) else None

    def format_action(self, move: int) -> str:
        return str(move)


class Halves(Countdown):
    """The same with a milestone of its own."""

    name = "halves"

    def subgoals(self, start: int) -> tuple[str, ...]:
        return ("half",)

    def subgoals_done(self, start: int, state: int) -> tuple[bool, ...]:
        return (2 * state <= start,)


def test_distances_of_directed_moves():
    oracle = BreadthFirstOracle(Countdown(), 10)
    assert isinstance(oracle, Oracle)
    assert oracle.distance == 4
    assert [oracle.distance_to_go(state) for state in (10, 8, 6, 4, 3, 2, 1, 0)] == [4, 3, 2, 2, 1, 1, None, 0]
    assert oracle.expert_moves(10) == (2, 3)
    assert oracle.expert_moves(7) == (2, 3)
    assert oracle.expert_moves(4) == (2,)
    assert oracle.plan(10) == (2, 2, 3, 3)
    assert oracle.plan(1) is None
    assert oracle.expert_moves(1) == () == oracle.expert_moves(0)


def test_milestones_are_quarters_of_the_distance_or_the_puzzles_own():
    oracle = BreadthFirstOracle(Countdown(), 10)
    assert oracle.subgoals == ("distance<=3", "distance<=2", "distance<=1", "distance<=0")
    assert oracle.subgoals_done(5) == (True, True, False, False)
    assert oracle.subgoals_done(1) == (False,) * 4
    assert oracle.own_subgoal(5, 2) == 2
    assert oracle.own_subgoal(0, 2) is None
    own = BreadthFirstOracle(Halves(), 10)
    assert (own.subgoals, own.subgoals_done(5), own.own_subgoal(8, 2)) == (("half",), (True,), 0)


def test_limits_and_dead_starts_are_named():
    with pytest.raises(ValueError, match="max_states=5"):
        BreadthFirstOracle(Countdown(), 30, max_states=5)
    with pytest.raises(ValueError, match="cannot be reached"):
        BreadthFirstOracle(Countdown(), 1)


def test_the_registry_falls_back_to_the_puzzles_maker_then_to_this_one():
    assert isinstance(solvers.oracle(Countdown(), 10), BreadthFirstOracle)
    made = []

    class Own(Countdown):
        name = "own"

        def make_oracle(self, start, **options):
            made.append((start, options))
            return BreadthFirstOracle(self, start)

    solvers.oracle(Own(), 6, speed=1)
    assert made == [(6, {"speed": 1})]
    puzzle = RushHour()
    assert (
        type(solvers.oracle(puzzle, puzzle.parse("............AA......................"))).__name__ == "RushHourOracle"
    )


class Counted(Countdown):
    """Counts the states whose moves were asked for."""

    asked = 0

    def moves(self, state: int) -> tuple[int, ...]:
        self.asked += 1
        return super().moves(state)


def test_starts_that_one_walk_reaches_share_it():
    puzzle = Counted()
    far = BreadthFirstOracle(puzzle, 40)
    walked = puzzle.asked
    near = BreadthFirstOracle(puzzle, 11)
    assert puzzle.asked == walked
    alone = BreadthFirstOracle(Counted(), 11)
    reached = (*range(10), 11)
    assert [near.distance_to_go(state) for state in reached] == [alone.distance_to_go(state) for state in reached]
    assert (near.start, near.subgoals, near.plan(11)) == (11, alone.subgoals, alone.plan(11))
    assert far.distance == 14
    assert BreadthFirstOracle(puzzle, 41).distance == 14
    assert puzzle.asked > walked


def test_walks_end_with_their_puzzle_and_the_oldest_give_way(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(breadth_first, "MOST_KEPT", 50)
    puzzle = Counted()
    for start in (20, 30, 40):
        BreadthFirstOracle(puzzle, start)
    walks = breadth_first._WALKS[puzzle]
    assert sum(map(len, walks)) <= 50
    assert 40 in walks[-1]
    gone = weakref.ref(puzzle)
    del puzzle, walks
    gc.collect()
    assert gone() is None


def test_a_puzzle_that_cannot_be_a_key_is_walked_for_each_start():
    puzzle = Unhashable()
    assert [BreadthFirstOracle(puzzle, start).distance for start in (40, 11)] == [14, 4]


class Unhashable(Countdown):
    """Equal to others, so that Python gives it no hash."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unhashable)

    __hash__ = None
