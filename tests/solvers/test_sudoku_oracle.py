"""The oracle's distances, expert moves and boxes against exhaustive search."""

from collections import Counter, deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curricula.sudoku_generator import generate
from puzzles.sudoku import Fill, Sudoku, SudokuState
from puzzles.sudoku_symmetry import random_symmetry
from solvers.base import Oracle
from solvers.sudoku import SudokuOracle, count_solutions, singles
from solvers.techniques import solvable_with

UNIQUE = "59.....486.8...3.7...2.1.......4.....753.698.....9.......8.3...2.6...7.934.....65"
PUZZLES_4 = [Sudoku(4).parse(one.givens) for one in generate(12, 4, (5, 6), seed=4)]
PUZZLES_6 = [Sudoku(6).parse(one.givens) for one in generate(6, 6, (8, 24), seed=6)]


def distances(puzzle: Sudoku, start: SudokuState) -> dict[SudokuState, int]:
    """Distance to the goal of every reachable state that has one, by search backwards from the goal."""
    before: dict[SudokuState, list[SudokuState]] = {start: []}
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        for move in puzzle.moves(state):
            after = puzzle.apply(state, move)
            if after not in before:
                before[after] = []
                waiting.append(after)
            before[after].append(state)
    found = {state: 0 for state in before if puzzle.solved(state)}
    waiting = deque(found)
    while waiting:
        state = waiting.popleft()
        for earlier in before[state]:
            if earlier not in found:
                found[earlier] = found[state] + 1
                waiting.append(earlier)
    return {state: found.get(state, -1) for state in before}


@pytest.mark.parametrize("overwrite", [False, True])
def test_distances_of_all_reachable_states_are_exact(overwrite: bool) -> None:
    puzzle = Sudoku(4, overwrite=overwrite)
    extra = 0
    for start in PUZZLES_4:
        oracle = SudokuOracle(puzzle, start)
        for state, distance in distances(puzzle, start).items():
            assert oracle.distance_to_go(state) == (None if distance < 0 else distance)
            wrong = oracle.wrong_cells(state)
            extra += distance > state.blanks + len(wrong)
            for move in oracle.expert_moves(state):
                assert oracle.distance_to_go(puzzle.apply(state, move)) == distance - 1
            assert bool(oracle.expert_moves(state)) == (distance > 0)
    assert (extra > 0) == overwrite, "the puzzles should hold circles of wrong digits"


@given(st.sampled_from(PUZZLES_6), st.booleans(), st.data())
@settings(max_examples=40)
def test_a_plan_replays_to_the_solution_in_as_many_moves_as_the_distance(
    start: SudokuState, overwrite: bool, data: st.DataObject
) -> None:
    puzzle = Sudoku(6, overwrite=overwrite)
    oracle = SudokuOracle(puzzle, start)
    state = start
    for _ in range(data.draw(st.integers(0, 12))):
        moves = puzzle.moves(state)
        if moves:
            state = puzzle.apply(state, data.draw(st.sampled_from(moves)))
    distance, plan = oracle.distance_to_go(state), oracle.plan(state)
    if distance is None:
        assert plan is None
        assert oracle.expert_moves(state) == ()
        return
    assert plan is not None
    assert len(plan) == distance
    for move in plan:
        state = puzzle.apply(state, move)
    assert puzzle.solved(state)
    assert state.values == oracle.solution
    assert all(oracle.subgoals_done(state))


@pytest.mark.parametrize("size", [4, 6, 9])
def test_the_distance_of_a_start_is_its_blanks(size: int) -> None:
    blanks = {4: 9, 6: 20, 9: 45}[size]
    for one in generate(5, size, blanks, seed=1):
        puzzle = Sudoku(size)
        oracle = SudokuOracle(puzzle, puzzle.parse(one.givens))
        assert isinstance(oracle, Oracle)
        assert oracle.distance == blanks == len(oracle.plan(oracle.start) or ())
        assert oracle.solution_text == one.solution


@given(st.sampled_from(PUZZLES_6))
@settings(max_examples=6)
def test_singles_are_what_candidates_prove(start: SudokuState) -> None:
    puzzle = Sudoku(6)
    legal = puzzle.moves(start)
    expected = set()
    for fill in legal:
        naked = sum(other.cell == fill.cell for other in legal) == 1
        units = [unit for unit in puzzle.layout.units if fill.cell in unit]
        hidden = any(sum(o.digit == fill.digit and o.cell in unit for o in legal) == 1 for unit in units)
        if naked or hidden:
            expected.add(fill)
    assert set(singles(start)) == expected
    assert list(singles(start)) == sorted(expected)


def test_without_singles_the_expert_fills_a_cell_with_fewest_candidates() -> None:
    text = "1.......7.2.4...6...3...5...9..4........62.4....9..8....5.....3.6.2...8.7....1..."
    puzzle = Sudoku(9)
    state = puzzle.parse(text)
    oracle = SudokuOracle(puzzle, state)
    while singles(state):
        state = puzzle.apply(state, singles(state)[0])
    moves = oracle.expert_moves(state)
    candidates = Counter(move.cell for move in puzzle.moves(state))
    fewest = min(candidates.values())
    assert {move.cell for move in moves} == {cell for cell, count in candidates.items() if count == fewest}
    assert all(oracle.solution[move.cell] == move.digit for move in moves)


def test_subgoals_are_boxes_filled_as_in_the_solution() -> None:
    puzzle = Sudoku(4, overwrite=True)
    start = PUZZLES_4[0]
    oracle = SudokuOracle(puzzle, start)
    assert oracle.subgoals == puzzle.subgoals(start)
    assert not any(oracle.subgoals_done(start))
    state = start
    for move in oracle.plan(start) or ():
        own = oracle.own_subgoal(state, move)
        assert own is not None
        assert oracle.subgoals[own] == f"b{puzzle.layout.box_of[move.cell] + 1}"
        state = puzzle.apply(state, move)
    assert all(oracle.subgoals_done(state))
    closed = next(box for box in range(4) if f"b{box + 1}" not in oracle.subgoals) if len(oracle.subgoals) < 4 else None
    if closed is not None:
        assert oracle.own_subgoal(start, Fill(puzzle.layout.boxes[closed][0], 1)) is None


@pytest.mark.parametrize(("text", "count"), [(UNIQUE, ">=2"), ("11" + "." * 79, "0")])
def test_a_start_without_exactly_one_solution_is_refused(text: str, count: str) -> None:
    with pytest.raises(ValueError, match=f"exactly one solution; .* has {count}"):
        SudokuOracle(Sudoku(9), Sudoku(9).parse(text))


def test_a_start_that_holds_a_wrong_digit_is_refused_unless_it_may_be_overwritten() -> None:
    start = PUZZLES_4[0]
    right = SudokuOracle(Sudoku(4), start).solution
    cell = start.values.index(0)
    legal = [move for move in Sudoku(4).moves(start) if move.cell != cell or move.digit != right[cell]]
    wrong = next(move for move in legal if move.digit != right[move.cell])
    state = Sudoku(4).apply(start, wrong)
    assert count_solutions(SudokuState(state.values, state.values)) == 0
    with pytest.raises(ValueError, match="holds a wrong digit"):
        SudokuOracle(Sudoku(4), state)
    assert SudokuOracle(Sudoku(4, overwrite=True), state).distance == start.blanks


@given(st.sampled_from((4, 6, 9)), st.integers(0, 2**32))
@settings(max_examples=15)
def test_a_symmetry_keeps_key_solutions_distance_and_the_grade_by_singles(size: int, seed: int) -> None:
    puzzle, rng = Sudoku(size), np.random.default_rng(seed)
    start = puzzle.parse(generate(1, size, {4: 10, 6: 22, 9: 48}[size], rng=rng)[0].givens)
    digits = random_symmetry(size, rng).apply(start.givens)
    copy = SudokuState(digits, digits)
    assert puzzle.key(copy) == puzzle.key(start)
    assert count_solutions(copy, limit=None) == 1
    assert SudokuOracle(puzzle, copy).distance == SudokuOracle(puzzle, start).distance
    for names in (("Full House",), ("Full House", "Naked Single"), ("Full House", "Naked Single", "Hidden Single")):
        assert solvable_with(copy, names) == solvable_with(start, names)


def test_many_wrong_digits_are_measured_quickly() -> None:
    puzzle = Sudoku(9, overwrite=True)
    rng = np.random.default_rng(3)
    start = puzzle.parse(generate(1, 9, 54, seed=2)[0].givens)
    oracle = SudokuOracle(puzzle, start)
    for _ in range(5):
        state = start
        for _ in range(60):
            moves = [move for move in puzzle.moves(state) if move.digit and move.digit != oracle.solution[move.cell]]
            if not moves:
                break
            state = puzzle.apply(state, moves[rng.integers(len(moves))])
        plan = oracle.plan(state)
        assert plan is not None
        assert len(plan) == oracle.distance_to_go(state)
