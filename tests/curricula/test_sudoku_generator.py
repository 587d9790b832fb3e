"""The generator keeps every promise: blanks, one solution, technique, seed; and says why where it cannot."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curricula.sudoku_generator import MOST_BLANKS, GeneratedSudoku, GenerationError, generate
from solvers.sudoku import count_solutions, solve
from solvers.sudoku_canonical import keys
from solvers.techniques import TECHNIQUES, grade, solvable_with

REACHABLE = {4: 11, 6: 25, 9: 55}
SINGLES = ("Full House", "Naked Single", "Hidden Single")


def facts_hold(puzzle: GeneratedSudoku, size: int, low: int, high: int) -> bool:
    return (
        len(puzzle.givens) == size * size
        and low <= puzzle.blanks == puzzle.givens.count(".") <= high
        and count_solutions(puzzle.givens) == 1
        and solve(puzzle.givens) == puzzle.solution
    )


@given(st.sampled_from(tuple(REACHABLE)), st.integers(0, 2**63), st.data())
@settings(max_examples=40)
def test_any_request_is_met_exactly(size: int, seed: int, data: st.DataObject) -> None:
    low = data.draw(st.integers(0, REACHABLE[size]))
    high = data.draw(st.integers(low, REACHABLE[size]))
    puzzles = generate(4, size, (low, high), seed)
    assert len(puzzles) == 4
    assert all(facts_hold(puzzle, size, low, high) for puzzle in puzzles)


@pytest.mark.parametrize(("size", "blanks", "count"), [(4, 12, 3), (6, 27, 2), (9, 58, 2), (9, 0, 1)])
def test_far_requests_are_met_too(size: int, blanks: int, count: int) -> None:
    assert all(facts_hold(puzzle, size, blanks, blanks) for puzzle in generate(count, size, blanks, seed=5))


@given(st.integers(0, 2**63), st.sampled_from(tuple(REACHABLE)))
@settings(max_examples=10)
def test_equal_seeds_give_equal_puzzles_and_the_count_does_not_matter(seed: int, size: int) -> None:
    blanks = (REACHABLE[size] - 3, REACHABLE[size])
    puzzles = generate(6, size, blanks, seed)
    assert generate(6, size, blanks, seed) == puzzles
    assert generate(2, size, blanks, seed) == puzzles[:2]
    assert generate(6, size, blanks, rng=np.random.default_rng(seed)) == puzzles


def test_neighbouring_seeds_share_no_puzzle() -> None:
    puzzles = [puzzle.givens for seed in range(20) for puzzle in generate(20, 9, 40, seed)]
    assert len(set(keys(puzzles))) == len(puzzles)


def test_every_number_of_blanks_of_the_range_comes_up() -> None:
    blanks = [puzzle.blanks for puzzle in generate(200, 9, (41, 45), seed=8)]
    assert {number: blanks.count(number) > 15 for number in range(41, 46)} == dict.fromkeys(range(41, 46), True)


def test_grids_and_blanks_are_spread_evenly() -> None:
    puzzles = generate(900, 9, 41, seed=12)
    corner = [puzzle.solution[0] for puzzle in puzzles]
    assert all(60 < corner.count(digit) < 140 for digit in "123456789")
    given_often = [sum(puzzle.givens[cell] != "." for puzzle in puzzles) for cell in range(81)]
    assert min(given_often) > 350
    assert max(given_often) < 540


@given(st.integers(0, 2**63), st.sampled_from(((4, 9), (6, 20), (9, 45), (9, 52))))
@settings(max_examples=12)
def test_a_set_of_techniques_suffices_if_asked(seed: int, request_: tuple[int, int]) -> None:
    size, blanks = request_
    restrict = SINGLES[:2] if blanks < 50 else SINGLES
    puzzle = generate(1, size, blanks, seed, restrict=restrict)[0]
    assert facts_hold(puzzle, size, blanks, blanks)
    assert solvable_with(puzzle.givens, restrict)


@pytest.mark.parametrize(
    ("size", "blanks", "technique"),
    [
        (9, (41, 45), "Hidden Single"),
        (9, (16, 20), "naked single"),
        (9, (31, 35), ("Locked Candidates Type 1 (Pointing)", "Naked Pair")),
        (9, (26, 30), ("X-Wing", "XY-Wing", "W-Wing", "Skyscraper")),
        (6, (18, 22), "Hidden Single"),
    ],
)
def test_the_hardest_technique_is_the_one_asked_for(
    size: int, blanks: tuple[int, int], technique: str | tuple[str, ...]
) -> None:
    names = (technique,) if isinstance(technique, str) else technique
    known = {one.name.lower(): one.name for one in TECHNIQUES}
    for puzzle in generate(2, size, blanks, seed=3, technique=technique):
        assert facts_hold(puzzle, size, *blanks)
        assert grade(puzzle.givens).hardest in {known[name.lower()] for name in names}


def test_requests_that_are_proven_impossible_end_at_once() -> None:
    for size, most in MOST_BLANKS.items():
        with pytest.raises(GenerationError, match=f"no {size}x{size} Sudoku with more than {most} blanks"):
            generate(1, size, most + 1)


def test_requests_that_fail_say_what_was_tried_and_how_far_it_got() -> None:
    with pytest.raises(GenerationError, match=r"64 blanks .* 3 grids and \d+ digs reached 5\d blanks"):
        generate(1, 9, 64, seed=1, attempts=3)
    wanted = r"60 blanks .* solvable with Full House, Naked Single only .* 5 attempts, the nearest had 5\d blanks"
    jellyfish = r"32 blanks .* Jellyfish .* 1 attempts, 1 found no such puzzle among 100 hard ones"
    with pytest.raises(GenerationError, match=jellyfish):
        generate(1, 9, 32, seed=1, technique="Jellyfish", attempts=1)
    with pytest.raises(GenerationError, match=wanted):
        generate(1, 9, 60, seed=1, restrict=SINGLES[:2], attempts=5)
    with pytest.raises(GenerationError, match=r"12 blanks .* hardest technique X-Wing .* 2 attempts"):
        generate(1, 9, 12, seed=1, technique="X-Wing", attempts=2)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"count": 1, "size": 16}, "size must be one of 4, 6, 9, not 16"),
        ({"count": -1}, "count must be at least 0"),
        ({"count": 1, "attempts": 0}, "attempts at least 1"),
        ({"count": 1, "blanks": (5, 4)}, "range from low to high"),
        ({"count": 1, "blanks": -1}, "range from low to high"),
        ({"count": 1, "technique": "X-Wings"}, "X-Wing"),
        ({"count": 1, "technique": "X-Wing", "restrict": SINGLES}, "wanted but not allowed"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        generate(**arguments)


def test_nothing_asked_is_nothing_given() -> None:
    assert generate(0, 9, 45) == []
