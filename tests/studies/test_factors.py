from __future__ import annotations

import re
from dataclasses import fields, replace
from itertools import groupby
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from studies.factors import FAMILIES, Cell, Family, factor_words, parse_name
from studies.learners import LEARNERS


def percent() -> st.SearchStrategy[float]:
    return st.one_of(st.just(0.0), st.integers(1, 1000).map(lambda thousandths: thousandths / 1000))


def schedules(family: Family) -> st.SearchStrategy[tuple[tuple[str, ...], ...]]:
    phase = st.sets(st.sampled_from(family.levels), min_size=1, max_size=3).map(
        lambda levels: tuple(sorted(levels, key=family.levels.index))
    )
    return st.lists(phase, min_size=1, max_size=3).map(lambda phases: tuple(phase for phase, _ in groupby(phases)))


INTERFACES = ["atomic", "macro", "macro-capped-12", "macro-fixed-2", "macro-stepwise", "split"]


@st.composite
def cells(draw: st.DrawFn) -> Cell:
    family = draw(st.sampled_from(sorted(FAMILIES)))
    learner = draw(st.sampled_from(sorted(LEARNERS)))
    taught, trained = LEARNERS[learner].policy == "tiny", LEARNERS[learner].estimator != "none"
    interface = draw(st.sampled_from(INTERFACES))
    thought = draw(st.sampled_from(["none", "free", "checked"]))
    slip = draw(percent()) if taught and thought != "none" else 0.0
    return Cell(
        puzzle=FAMILIES[family].puzzle,
        family=family,
        interface=interface,
        train=draw(schedules(FAMILIES[family])) if trained else (),
        learner=learner,
        on_error=draw(st.sampled_from(["strict", "end", "semi", "dead", "stay"])),
        thought=thought,
        slip=slip,
        slip_known=draw(st.booleans()) if slip else True,
        mistake=draw(percent()) if learner == "noisy" else 0.0,
        failure=draw(percent()),
        run_as=draw(st.sampled_from(["", *(other for other in INTERFACES if other != interface)])),
        normalized=draw(st.booleans()) if trained else True,
        geometric_mask=draw(st.booleans()) if trained else True,
        truncation=draw(st.booleans()) if trained else True,
        optimiser_steps=draw(st.integers(1, 12)) if trained else 1,
        rate=draw(st.sampled_from([1.0, 0.5, 3.0, 0.25])) if trained else 1.0,
        signs=draw(st.sampled_from(["both", "positive", "negative"])) if trained else "both",
        width=draw(st.sampled_from([1.0, 0.5, 2.0])) if taught else 1.0,
    )


@given(cells())
def test_a_name_says_all_of_its_cell(cell: Cell) -> None:
    assert parse_name(cell.name) == cell


@given(cells())
def test_a_name_fits_a_tox_environment_and_a_folder(cell: Cell) -> None:
    assert re.fullmatch(r"study(-[a-z0-9]+)+", cell.name)
    assert len(cell.name) < 200


def test_names_read_as_documented() -> None:
    assert parse_name("study-sudoku-macro-l34-subgoal") == Cell(
        family="l", interface="macro", train=(("L3", "L4"),), learner="subgoal"
    )
    assert parse_name("study-rush-atomic-r1to2-outcome").train == (("R1",), ("R2",))
    assert parse_name("study-sudoku-macro-t3-outcome-asstepwise-checked-slip0p5").slip == 0.005
    assert parse_name("study-sudoku-atomic-l-noisy-strict-err5").mistake == 0.05
    assert parse_name("study-sudoku-atomic-q2s3sto4p-outcome").train == (("L2-single", "L3-single"), ("L4-pair",))
    assert parse_name("study-sudoku-macro-t3-outcome-steps4-rate0p5-onlypositive-width2") == Cell(
        interface="macro", train=(("T3",),), optimiser_steps=4, rate=0.5, signs="positive", width=2.0
    )


@given(cells(), st.randoms(use_true_random=False))
def test_words_in_another_order_are_refused_with_the_right_one(cell: Cell, random: Random) -> None:
    first, *words = cell.name.split("-")
    shuffled = random.sample(words, len(words))
    assume(shuffled != words)
    with pytest.raises(ValueError, match=f"its one name is {cell.name}$"):
        parse_name("-".join((first, *shuffled)))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("study-sudoko-macro-t3-outcome", "unknown puzzle 'sudoko'; did you mean 'sudoku'"),
        ("study-sudoku-marco-t3-outcome", "unknown interface 'marco'; did you mean 'macro'"),
        ("study-sudoku-macro-t9-outcome", "unknown level 'T9'"),
        ("study-sudoku-macro-t3s-outcome", "unknown level 'T3s'"),
        ("study-sudoku-macro-q2f-outcome", "unknown level 'Q2f'"),
        ("study-sudoku-macro-t3-outcome-rate0", "0..100"),
        ("study-sudoku-macro-r1-outcome", "unknown family of levels of sudoku 'r'"),
        ("study-sudoku-macro-t3-subgaol", "unknown learner 'subgaol'; did you mean 'subgoal'"),
        ("study-sudoku-macro-t3-subgoal-strikt", "unknown option 'strikt'; did you mean 'strict'"),
        ("study-sudoku-macro-t3-subgoal-slip", "did you mean 'slip5'"),
        ("study-sudoku-macro-t3-subgoal-slip200", "0..1"),
        ("study-sudoku-macro-t-subgoal", "needs training levels"),
        ("study-sudoku-macro-t3-expert", "no training levels"),
        ("study-sudoku-macro-t3-subgoal-slip5-checked", "its one name is study-sudoku-macro-t3-subgoal-checked-slip5"),
        ("study-sudoku-macro-t3-subgoal-semi", "its one name is study-sudoku-macro-t3-subgoal"),
        ("study-sudoku-macro-three-subgoal", "do not have a form like"),
        ("study-sudoku-macro", "is no cell"),
        ("study-sudoku-t3-macro-subgoal", "its one name is study-sudoku-macro-t3-subgoal"),
        (
            "study-slip5-subgoal-checked-t34-macro-sudoku",
            "its one name is study-sudoku-macro-t34-subgoal-checked-slip5",
        ),
        ("study-sudoku-t3-marco-subgoal", "unknown interface 't3'"),
        (
            "study-sudoku-macro-t33-outcome",
            "trains on T3, T3; the levels of a phase must rise, each named once: write t3,",
        ),
        (
            "study-sudoku-macro-t43-outcome",
            "trains on T4, T3; the levels of a phase must rise, each named once: write t34",
        ),
        ("study-sudoku-macro-q3p2s-outcome", "write q2s3p"),
        ("study-sudoku-macro-t2to2-outcome", "trains on T2 twice in a row"),
        ("study-sudoku-macro-t3-outcome-err5", "err5 says nothing without the learner noisy"),
        ("study-sudoku-atomic-t-expert-err5", "leave the word err5 out"),
        ("study-sudoku-atomic-t-sft-nonorm", "nonorm says nothing without training by RL"),
        ("study-sudoku-atomic-t-sft-rate2", "rate2 says nothing without training by RL"),
        ("study-sudoku-atomic-t-random-width2", "width2 says nothing without the small model"),
        ("study-sudoku-macro-t3-outcome-slip5", "slip5 says nothing without thoughts"),
        ("study-sudoku-macro-t3-outcome-checked-blindslip", "blindslip says nothing without slips"),
        ("study-sudoku-macro-t3-outcome-asmacro", "asmacro says nothing without another interface"),
    ],
)
def test_a_mistyped_factor_is_refused_with_the_nearest(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_name(name)


def test_families_are_those_of_the_levels() -> None:
    from curricula.levels import find_level

    for family in FAMILIES.values():
        for name in family.levels:
            assert (find_level(name).puzzle, find_level(name).size) == (family.puzzle, family.size)
        assert len(family.by_word) == len(family.levels)


def test_every_factor_is_explained() -> None:
    words = factor_words()
    optional = {field.name for field in fields(Cell)} - {"family", "train", "module", "estimator"}
    assert optional <= set(words)


def test_a_cell_refuses_what_it_does_not_know() -> None:
    cell = parse_name("study-sudoku-macro-t3-outcome")
    with pytest.raises(ValueError, match="belong to sudoku"):
        replace(cell, puzzle="rush-hour")
    with pytest.raises(ValueError, match="unknown learner"):
        replace(cell, learner="magic")
