"""Counting, solving and enumerating against brute force and against checked counts."""

import pickle
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from puzzles.sudoku import Sudoku, SudokuState
from puzzles.sudoku_symmetry import random_symmetry
from solvers.sudoku import SolutionCount, count_solutions, enumerate_solutions, solve, solve_batch

CHECKED = [
    # a 17-clue puzzle (Gordon Royle), two of them minus a clue, a generated one, two of Sudopedia's invalid test cases
    ("4..8..5........1..........2...73..4...6....8..1.......3.....69.....12......4.....", 1),
    ("3.8.2..........6.1..........5.6.7...7......8....1.........8..3..6....7.....2.....", 4),
    ("....31.6.5......7.............5..1.8.........7...........7..24.81.........62.....", 146561),
    (".58..3..4.4.5....3..9.8267.194..5..8...8349....3.1...25..94.3.69...5....4.7....1.", 4),
    ("..9.287..8.6..4..5..3.....46.........2.71345.........23.....5..9..4..8.7..125.3..", 0),
    ("59.....486.8...3.7...2.1.......4.....753.698.....9.......8.3...2.6...7.934.....65", 10),
]
GRIDS_4 = [tuple(map(int, grid)) for grid in enumerate_solutions("." * 16)]


def valid(grid: str, size: int) -> bool:
    units = Sudoku(size).layout.units
    return all(len({grid[cell] for cell in unit} - {"."}) == size for unit in units)


def test_there_are_288_grids_of_4x4() -> None:
    assert len(set(GRIDS_4)) == len(GRIDS_4) == 288
    assert all(valid("".join(map(str, grid)), 4) for grid in GRIDS_4)


@given(
    st.sampled_from(GRIDS_4), st.sets(st.integers(0, 15)), st.none() | st.tuples(st.integers(0, 15), st.integers(1, 4))
)
def test_on_4x4_every_answer_agrees_with_brute_force(
    grid: tuple[int, ...], blanks: set[int], change: tuple[int, int] | None
) -> None:
    digits = [0 if cell in blanks else digit for cell, digit in enumerate(grid)]
    if change is not None:
        digits[change[0]] = change[1]
    expected = {
        other for other in GRIDS_4 if all(held in (0, right) for held, right in zip(digits, other, strict=True))
    }
    text = "".join(map(str, digits))
    found = list(enumerate_solutions(text))
    assert {tuple(map(int, solution)) for solution in found} == expected
    assert len(found) == len(expected) == count_solutions(text, limit=None)
    assert solve(text) == (found[0] if found else None)


@pytest.mark.parametrize(("puzzle", "solutions"), CHECKED)
def test_checked_counts(puzzle: str, solutions: int) -> None:
    count = count_solutions(puzzle, limit=None)
    assert (count, count.exact) == (solutions, True)
    solution = solve(puzzle)
    assert (solution is None) == (solutions == 0)
    if solution is not None:
        assert valid(solution, 9)
        assert all(held in (".", right) for held, right in zip(puzzle, solution, strict=True))


@pytest.mark.shared
def test_shared_counts(shared_table: Callable[[str], list[dict[str, str]]]) -> None:
    for row in shared_table("sudoku_counts_shared.tsv"):
        assert str(count_solutions(row["givens"], limit=1_000_000)) == row["solutions"], row["id"]
        if row["solutions"] == "1":
            assert solve(row["givens"]) == row["solution"], row["id"]


@pytest.mark.parametrize("size", [4, 6, 9, 16])
def test_a_reached_limit_is_a_lower_bound(size: int) -> None:
    count = count_solutions("." * size**2, limit=5)
    assert (int(count), count.exact, str(count), f"{count}", f"{count:d}") == (5, False, ">=5", ">=5", "5")
    assert len(set(enumerate_solutions("." * size**2, limit=700))) == min(700, 288 if size == 4 else 700)


def test_a_count_is_an_integer_that_survives_pickling() -> None:
    count = SolutionCount(2, exact=False)
    again = pickle.loads(pickle.dumps(count))
    assert (again, again.exact, repr(again)) == (2, False, "SolutionCount(2, exact=False)")
    assert str(SolutionCount(3, exact=True)) == "3"


@pytest.mark.parametrize("size", [4, 6, 9, 16])
def test_contradicting_givens_have_no_solution(size: int) -> None:
    text = "11" + "." * (size * size - 2)
    assert count_solutions(text) == 0
    assert solve(text) is None
    assert list(enumerate_solutions(text)) == []


@given(st.sampled_from(CHECKED), st.integers(0, 2**32))
@settings(max_examples=20)
def test_a_symmetry_keeps_the_number_of_solutions(case: tuple[str, int], seed: int) -> None:
    puzzle, solutions = case
    copy = random_symmetry(9, np.random.default_rng(seed)).apply(Sudoku(9).parse(puzzle).givens)
    limit = min(solutions, 50) + 1
    assert count_solutions(SudokuState(copy, copy), limit) == min(solutions, limit)


@given(st.integers(0, 2**32), st.sampled_from((6, 9)))
@settings(max_examples=25)
def test_random_clues_have_the_solutions_that_enumerating_finds(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    solution = next(enumerate_solutions("." * size**2))
    digits = [digit if rng.random() < 0.42 else "." for digit in solution]
    text = "".join(digits)
    found = list(enumerate_solutions(text, limit=3000))
    count = count_solutions(text, limit=3000)
    assert len(found) == len(set(found)) == count
    assert all(valid(grid, size) for grid in found)
    assert (solution in found) or not count.exact


def test_batches_answer_like_single_puzzles_on_any_number_of_threads() -> None:
    texts = [puzzle for puzzle, _ in CHECKED] * 120
    grids = np.array([[int(digit) for digit in text.replace(".", "0")] for text in texts], dtype=np.uint8)
    counts, solutions = solve_batch(grids, limit=3)
    assert counts.tolist() == [int(count) for count in count_solutions(texts, limit=3)]
    again, same = solve_batch(grids, limit=3, threads=3)
    assert np.array_equal(counts, again)
    assert np.array_equal(solutions, same)


def test_lists_may_mix_sizes_and_states() -> None:
    state = Sudoku(4).parse("1" + "." * 15)
    assert count_solutions([state, "." * 36, CHECKED[0][0]], limit=2) == [2, 2, 1]


@pytest.mark.parametrize(
    ("grids", "reason"),
    [
        (np.zeros((2, 80), np.uint8), "shape"),
        (np.zeros(81, np.uint8), "shape"),
        (np.full((1, 16), 5), "integers from 0"),
        (np.full((1, 16), -1), "integers from 0"),
        (np.full((1, 16), 1.5), "integers from 0"),
    ],
)
def test_a_wrong_batch_is_refused(grids: np.ndarray, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        solve_batch(grids)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="must be text, not list"):
        solve(["." * 16])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="limit must be at least 1"):
        count_solutions("." * 16, limit=0)
    with pytest.raises(ValueError, match="threads must be at least 1"):
        solve_batch(np.zeros((1, 16), np.uint8), threads=0)
    with pytest.raises(ValueError, match="this text has 5"):
        solve("1....")
    with pytest.raises(ValueError, match="limit must be at least 1"):
        enumerate_solutions("." * 16, limit=0)
