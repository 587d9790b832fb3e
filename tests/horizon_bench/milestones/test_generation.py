import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curricula import load_bank
from horizon_bench.milestones import (
    MilestonePlan,
    ask_policy,
    generate_plan,
    generation_prompt,
    read_condition,
    read_plan,
)
from horizon_bench.milestones.generation import answer_text
from horizon_bench.milestones.plan import solver_plan
from horizon_bench.policies import Reply
from puzzles import PUZZLES
from solvers import oracle

SUDOKU = PUZZLES["sudoku"](size=4)
BANK = load_bank("T3", "validation")[:4]
KNOWN = oracle(SUDOKU, SUDOKU.parse(BANK[0].start))
RUSH = PUZZLES["rush-hour"]()
RUSH_BANK = load_bank("R2", "validation")[:3]


def open_box():
    return f"box {KNOWN.subgoals[0][1:]}"


def answer(*texts):
    return json.dumps({"milestones": list(texts)})


def test_the_prompt_shows_worked_examples_and_ends_with_the_board():
    prompt = generation_prompt(SUDOKU, KNOWN.start, [one.start for one in BANK[1:3]])
    assert prompt.count("Answer: {") == 2
    assert prompt.endswith(f"Board:\n{SUDOKU.render(KNOWN.start)}\nAnswer:")
    assert "`box N`" in prompt


@pytest.mark.parametrize(("puzzle", "bank"), [(SUDOKU, BANK), (RUSH, RUSH_BANK)])
def test_a_solvers_plan_as_an_answer_is_read_back(puzzle, bank):
    for one in bank:
        known = oracle(puzzle, puzzle.parse(one.start))
        plan = solver_plan(puzzle, known)
        read = read_plan(f"Sure:\n```json\n{answer_text(puzzle, plan)}\n```", puzzle, known)
        assert isinstance(read, MilestonePlan)
        state = known.start
        for move in known.plan(state):
            state = puzzle.apply(state, move)
            assert read.done(state) == plan.done(state)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("no idea", "no JSON object"),
        ('{"plan": []}', "list of texts"),
        ('{"milestones": [1]}', "list of texts"),
        (answer(), "0 milestones"),
        (answer(*[f"row {n % 4 + 1}" for n in range(13)]), "13 milestones"),
        (answer("box 9"), "no milestone of sudoku"),
        (answer("win"), "no milestone of sudoku"),
        (answer("cells r9c9"), "no milestone of sudoku"),
        ('{"milestones": ["box 1"', "no JSON object"),
        ("<think>" + answer("box 1") + "</think>", "no JSON object"),
    ],
)
def test_every_wrong_answer_is_told_why(text, problem):
    found = read_plan(text, SUDOKU, KNOWN)
    assert isinstance(found, tuple)
    assert problem in "; ".join(found)


def test_repeats_and_milestones_that_hold_already_are_refused():
    box = open_box()
    assert "twice" in read_plan(answer(box, f" {box} "), SUDOKU, KNOWN)[0]
    given = next(cell for cell, held in enumerate(KNOWN.start.values) if held)
    name = SUDOKU.layout.cell_names[given]
    assert "holds already" in read_plan(answer(f"cell {name}"), SUDOKU, KNOWN)[0]


def test_one_milestone_in_two_spellings_stands_there_twice():
    name = KNOWN.subgoals[0]
    blanks = [cell for cell, held in enumerate(KNOWN.start.values) if not held]
    one, other = (SUDOKU.layout.cell_names[cell] for cell in blanks[:2])
    same = f"cells {one} {other}", f"cells {other} {one}"
    for pair in ((open_box(), f"box 0{name[1:]}"), (open_box(), name), same):
        assert "twice" in read_plan(answer(*pair), SUDOKU, KNOWN)[0]
    assert isinstance(read_plan(answer("box \u0661"), SUDOKU, KNOWN), tuple)


def test_the_last_object_counts_however_it_is_laid_out():
    wrong, right = (json.dumps({"milestones": [text]}, indent=1) for text in ("box 9", open_box()))
    assert isinstance(read_plan(f"In {{braces}}: {wrong} No: {right} {{}}", SUDOKU, KNOWN), MilestonePlan)


def test_a_flood_of_text_does_not_come_back_in_the_next_prompt():
    asked = []

    def ask(prompt):
        asked.append(prompt)
        return answer(*["y" * 50_000] * 12)

    assert not generate_plan(ask, SUDOKU, KNOWN).from_model
    assert max(map(len, asked)) < len(asked[0]) + 5_000


@pytest.mark.parametrize("place", ["r9c9", "r0c0", "r1c7", "r7c1", "r1c0"])
def test_a_place_off_the_board_is_no_milestone(place):
    for one in RUSH_BANK:
        known = oracle(RUSH, RUSH.parse(one.start))
        for letter in known.start.layout.letters:
            with pytest.raises(ValueError, match="no milestone of rush-hour"):
                read_condition(RUSH, known, f"{letter} at {place}")


def test_a_vehicle_can_only_be_asked_onto_its_own_line():
    known = oracle(RUSH, RUSH.parse(RUSH_BANK[0].start))
    layout = known.start.layout
    for number, letter in enumerate(layout.letters):
        able = 0
        for row in range(1, 7):
            for column in range(1, 7):
                try:
                    read_condition(RUSH, known, f"{letter} at r{row}c{column}")
                except ValueError:
                    continue
                able += 1
        assert able == layout.room(number)


def test_a_wrong_answer_is_asked_for_again_with_the_reason():
    asked = []

    def ask(prompt):
        asked.append(prompt)
        return "hm" if len(asked) == 1 else answer(open_box())

    made = generate_plan(ask, SUDOKU, KNOWN, [BANK[1].start])
    assert (made.tries, made.from_model, len(made.plan)) == (2, True, 1)
    assert "could not be used: there is no JSON object" in asked[1]


def test_the_solver_writes_the_plan_where_every_answer_fails():
    made = generate_plan(lambda prompt: "hm", SUDOKU, KNOWN, tries=2)
    assert (made.tries, made.from_model, made.plan.source) == (2, False, "solver")
    assert len(made.problems) == 2
    with pytest.raises(ValueError, match="tries is 0"):
        generate_plan(lambda prompt: "hm", SUDOKU, KNOWN, tries=0)


def test_a_policy_is_asked_by_its_prompt_alone():
    class Echo:
        def reply(self, observations, seats, generators):
            return [Reply(observations[0][::-1])]

    class Chat:
        def chat(self, conversations, generators):
            return [Reply(conversations[0][-1].content.upper())]

    assert ask_policy(Echo(), np.random.default_rng(0))("abc") == "cba"
    assert ask_policy(Chat(), np.random.default_rng(0))("abc") == "ABC"


@given(st.text(max_size=200))
def test_reading_a_plan_never_raises(text):
    for shown in (text, "{" * 3000 + text, '{"milestones":' + text):
        assert isinstance(read_plan(shown, SUDOKU, KNOWN), tuple | MilestonePlan)


@pytest.mark.parametrize("text", ["box 1", "row 2", "column 3", "digit 4", "cells r1c1 r2c2"])
def test_conditions_of_sudoku_hold_in_the_solution(text):
    one = read_condition(SUDOKU, KNOWN, text)
    solved = KNOWN.start._replace(values=KNOWN.solution)
    assert one.holds(solved, "solver")
    assert one.holds(solved, "rules")


def test_conditions_of_rush_hour_follow_the_board():
    for one in RUSH_BANK:
        known = oracle(RUSH, RUSH.parse(one.start))
        state = known.start
        letters = [letter for letter in state.layout.letters if letter != state.layout.letters[0]]
        in_the_way = [
            letter for letter in letters if not read_condition(RUSH, known, f"clear {letter}").holds(state, "rules")
        ]
        assert in_the_way
        for move in known.plan(state):
            state = RUSH.apply(state, move)
        assert all(read_condition(RUSH, known, f"clear {letter}").holds(state, "rules") for letter in letters)
        assert read_condition(RUSH, known, "exit").holds(state, "rules")
        place = RUSH.format(state).index(letters[0])
        name = f"{letters[0]} at r{place // 6 + 1}c{place % 6 + 1}"
        assert read_condition(RUSH, known, name).holds(state, "rules")
    with pytest.raises(ValueError, match="clear V"):
        read_condition(RUSH, known, "clear Z")
