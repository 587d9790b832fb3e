"""The Rush Hour oracle: expert moves, plans, both kinds of milestones."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import solvers
from puzzles.rush_hour import RushHour, Step
from solvers.base import Oracle
from solvers.rush_hour_map import DistanceMap, blockers
from solvers.rush_hour_oracle import RushHourOracle

CARD_1 = "BB...CD..E.CDAAE.CD..E..F...GGF.HHH."
BOARDS = [
    CARD_1,
    "...B.....B..AA.B..CCDD..E.....EFFF..",
    ".....B.CC..BAAD..BEED......FGG...F..",
    "BCCDDDB.....E.xAAFEGGHHFE..IJJKKKI..",
]
PUZZLE = RushHour()


def make(board: str, **options: str) -> RushHourOracle:
    return RushHourOracle(PUZZLE, PUZZLE.parse(board), **options)


@pytest.mark.parametrize("board", BOARDS)
def test_it_agrees_with_the_generic_oracle(board):
    oracle = make(board)
    plain = solvers.BreadthFirstOracle(PUZZLE, oracle.start)
    assert isinstance(oracle, Oracle)
    assert (oracle.distance, oracle.subgoals) == (plain.distance, plain.subgoals)
    state = oracle.start
    for step in oracle.plan(state):
        assert oracle.distance_to_go(state) == plain.distance_to_go(state)
        assert oracle.expert_moves(state) == plain.expert_moves(state)
        assert oracle.subgoals_done(state) == plain.subgoals_done(state)
        assert oracle.own_subgoal(state, step) == plain.own_subgoal(state, step)
        assert step in oracle.expert_moves(state)
        state = PUZZLE.apply(state, step)
    assert PUZZLE.solved(state)
    assert oracle.expert_moves(state) == ()
    assert oracle.plan(state) == ()


@settings(max_examples=30)
@given(st.sampled_from(BOARDS), st.randoms(use_true_random=False))
def test_every_expert_move_is_one_step_nearer(board, random):
    oracle = make(board)
    state = oracle.start
    for _ in range(random.randrange(20)):
        state = PUZZLE.apply(state, random.choice(PUZZLE.moves(state)))
    togo = oracle.distance_to_go(state)
    after = {move: oracle.distance_to_go(PUZZLE.apply(state, move)) for move in PUZZLE.moves(state)}
    assert all(abs(far - togo) <= 1 for far in after.values())
    assert set(oracle.expert_moves(state)) == (
        {move for move, far in after.items() if far == togo - 1} if togo else set()
    )
    assert len(oracle.plan(state)) == togo


@pytest.mark.parametrize("board", BOARDS)
def test_a_blocker_is_cleared_for_good_where_a_shortest_way_needs_it_no_more(board):
    oracle = make(board, subgoals="blockers")
    start = oracle.start
    letters = [start.layout.letters[vehicle] for vehicle in blockers(start)]
    assert oracle.subgoals == (*(f"cleared {letter}" for letter in letters), "exit")
    assert not any(oracle.subgoals_done(start))
    state = start
    for _ in range(oracle.distance):
        state = PUZZLE.apply(state, oracle.expert_moves(state)[0])
        stuck = {start.layout.letters[vehicle] for vehicle in blockers(state)}
        for letter, done in zip(letters, oracle.subgoals_done(state), strict=False):
            assert done == way_without(oracle, state, letter)
            assert not (done and letter in stuck)
    assert all(oracle.subgoals_done(state))


def way_without(oracle: RushHourOracle, state, letter: str) -> bool:
    """Whether some shortest way from `state` never has the vehicle ahead of the primary car in the exit row."""
    level = {state}
    for _ in range(oracle.distance_to_go(state) + 1):
        level = {each for each in level if letter not in {each.layout.letters[vehicle] for vehicle in blockers(each)}}
        if any(PUZZLE.solved(each) for each in level):
            return True
        level = {PUZZLE.apply(each, move) for each in level for move in oracle.expert_moves(each)}
    return False


def test_a_blockers_move_works_for_the_blocker():
    oracle = make("...B.....B..AA.B..CCDD..E.....EFFF..", subgoals="blockers")
    assert oracle.own_subgoal(oracle.start, Step("B", "down")) == 0
    assert oracle.own_subgoal(oracle.start, Step("A", "right")) == 0


def test_maps_are_shared_and_dropped_when_memory_runs_out(monkeypatch):
    first, again = make(CARD_1), make(CARD_1)
    assert first.map is again.map
    monkeypatch.setattr("solvers.rush_hour_oracle._CACHE_BYTES", 1)
    other = make(BOARDS[1])
    assert isinstance(other.map, DistanceMap)
    assert first.distance_to_go(PUZZLE.apply(first.start, first.expert_moves(first.start)[0])) == first.distance - 1


def test_what_cannot_be_solved_has_no_oracle():
    with pytest.raises(ValueError, match="3493 states"):
        solvers.oracle(PUZZLE, PUZZLE.parse("BBBCCDEEEF.DGAAFHDGI.FH..IJ.KLMMJ.KL"))
    with pytest.raises(ValueError, match="known: distance, blockers"):
        make(CARD_1, subgoals="boxes")
