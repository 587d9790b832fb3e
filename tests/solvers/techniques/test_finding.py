from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curricula.sudoku_generator import generate
from solvers.techniques import TECHNIQUES, CandidateState, find, grade
from solvers.techniques.table import code_of

SharedTable = Callable[[str], list[dict[str, str]]]


def candidates(text: str) -> frozenset[tuple[int, int]]:
    """Return candidates written as digit, row, column."""
    return frozenset(((int(entry[1]) - 1) * 9 + int(entry[2]) - 1, int(entry[0])) for entry in text.split())


def known(name: str) -> bool:
    try:
        code_of(name)
    except ValueError:
        return False
    return True


def test_the_listed_result_of_every_shared_case_is_found(shared_table: SharedTable) -> None:
    missed = []
    rows = [row for row in shared_table("hodoku_reglib_shared.tsv") if known(row["technique"])]
    for row in rows:
        state = CandidateState.parse(row["values"], row["givens"], row["deleted"])
        results = {(frozenset(step.eliminations), frozenset(step.placements)) for step in find(state, row["technique"])}
        wanted = (candidates(row["eliminations"]), candidates(row["placements"]))
        if bool(results) if row["variant"] == "x" else wanted not in results:
            missed.append((row["id"], row["technique"]))
    assert len(rows) > 150
    assert missed == []


def test_shared_states_have_the_listed_step_and_nothing_simpler(shared_table: SharedTable) -> None:
    givens = {row["id"]: row["givens"] for row in shared_table("hodoku_grades_shared.tsv")}
    names = {technique.name for technique in TECHNIQUES}
    off = []
    for row in shared_table("hodoku_states_shared.tsv"):
        state = CandidateState.parse(row["values"], givens[row["id"]], row["deleted"])
        if row["technique"] in names:
            results = {frozenset(step.eliminations) for step in find(state, row["technique"])}
            if candidates(row["eliminations"]) not in results:
                off.append((row["id"], row["step"], "not found"))
        off += [
            (row["id"], row["step"], technique.name)
            for technique in TECHNIQUES
            if technique.graded and technique.order < int(row["order"]) and find(state, technique.name)
        ]
    assert off == []


@pytest.mark.parametrize(("size", "blanks"), [(4, (8, 12)), (6, (20, 26)), (9, (50, 57))])
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_instance_of_any_technique_touches_the_solution(size: int, blanks: tuple[int, int], seed: int) -> None:
    puzzle = generate(1, size, blanks, seed=seed)[0]
    solution = [int(digit) for digit in puzzle.solution]
    state = CandidateState.parse(puzzle.givens)
    path = grade(puzzle.givens).path
    chosen = set(np.random.default_rng(seed).choice(len(path), min(len(path), 4), replace=False).tolist())
    for number, step in enumerate(path):
        if number in chosen or step.eliminations:
            for technique in TECHNIQUES:
                for found in find(state, technique.name):
                    assert all(solution[cell] != digit for cell, digit in found.eliminations), str(found)
                    assert all(solution[cell] == digit for cell, digit in found.placements), str(found)
        state = state.after(step)


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_every_step_of_a_path_is_an_instance_and_none_simpler_exists(seed: int) -> None:
    puzzle = generate(1, 9, (48, 57), seed=seed)[0]
    state = CandidateState.parse(puzzle.givens)
    for step in grade(puzzle.givens).path:
        results = [(found.eliminations, found.placements) for found in find(state, step.technique)]
        assert (step.eliminations, step.placements) in results
        for technique in TECHNIQUES[: code_of(step.technique)]:
            assert not technique.graded or not find(state, technique.name)
        state = state.after(step)


def test_hand_made_locked_candidates() -> None:
    # The 1 of the first box must stand in its first row, which rows 2 and 3 fill up to.
    state = CandidateState.parse("." * 9 + "234" + "." * 6 + "567" + "." * 60)
    steps = find(state, "pointing")
    row = frozenset((cell, 1) for cell in range(3, 9))
    assert row in {frozenset(step.eliminations) for step in steps if step.digits == (1,)}


def test_full_houses_of_a_small_board() -> None:
    assert [str(step) for step in find("1.3434122143.321", "Full House")] == [
        "Full House: r1c2=2",
        "Full House: r4c1=4",
    ]


def test_unknown_techniques_and_boards_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown technique"):
        find("." * 81, "guessing")
    with pytest.raises(ValueError, match="16, 36 or 81"):
        find("." * 80, "X-Wing")
