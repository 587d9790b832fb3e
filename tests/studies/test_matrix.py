from __future__ import annotations

import re

import pytest

from studies.factors import FAMILIES
from studies.learners import LEARNERS
from studies.matrix import SCALES, SINGLE, STUDIES, only, parse_name, select, without_training
from studies.presets import PRESETS, find_preset


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("family", SCALES)
def test_every_cell_of_every_study_has_its_own_readable_name(study: str, family: str) -> None:
    cells = STUDIES[study].cells(SCALES[family])
    assert len({cell.name for cell in cells}) == len(cells)
    assert cells or (study == "turn-risk" and SCALES[family].puzzle != "sudoku")
    assert [parse_name(cell.name) for cell in cells] == list(cells)


@pytest.mark.parametrize("study", STUDIES)
def test_a_study_states_its_question(study: str) -> None:
    assert STUDIES[study].question.endswith("?")


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("preset", PRESETS)
def test_a_study_costs_something_and_no_more_than_its_cells_alone(study: str, preset: str) -> None:
    sizes = PRESETS[preset]
    cells = STUDIES[study].cells(SCALES[sizes.family])
    alone = sum(sizes.study_seconds([cell]) for cell in cells)
    assert 0 < sizes.study_seconds(cells) <= alone


def test_every_family_has_a_scale_with_short_before_long_levels() -> None:
    assert set(SCALES) == set(FAMILIES)
    for key, scale in SCALES.items():
        levels = FAMILIES[key].levels
        assert max(map(levels.index, scale.short)) < min(map(levels.index, scale.long))


def test_a_study_is_found_by_its_name_and_by_its_tox_environment() -> None:
    scale = SCALES["t"]
    assert select("horizon", scale) == select("study-horizon", scale)
    study, cells = select("study-sudoku-macro-l34-subgoal", scale)
    assert study == SINGLE
    assert [cell.name for cell in cells] == ["study-sudoku-macro-l34-subgoal"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("smok", "did you mean 'smoke'"),
        ("study-horizn", "did you mean 'horizon'"),
        ("study-turn-rsk", "did you mean 'turn-risk'"),
        ("study-sudoku-marco-t3-sft", "did you mean 'macro'"),
        ("study-sudoku-macro-t3", "is no cell; a name has the form"),
    ],
)
def test_an_unknown_study_is_refused_with_the_nearest(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        select(name, SCALES["t"])


def test_a_study_without_cells_on_a_board_names_those_that_have_some() -> None:
    with pytest.raises(ValueError, match=r"turn-risk has no cells for rush-hour.*--family t, m, l, q"):
        select("turn-risk", SCALES["r"])


def test_the_arms_of_turn_risk_differ_in_nothing_but_risk_rule_and_interface() -> None:
    cells = STUDIES["turn-risk"].cells(SCALES["t"])
    arms = {(cell.slip, cell.on_error, cell.interface, cell.trained) for cell in cells}
    assert {(slip, rule) for slip, rule, _, _ in arms} == {
        (slip, rule) for slip in (0.0, 0.005, 0.01, 0.02) for rule in ("semi", "strict")
    }
    for slip, rule, interface, trained in arms:
        twin = {"atomic": "macro", "macro": "atomic"}[interface]
        assert (slip, rule, twin, trained) in arms
    assert {PRESETS["cpu"].supervised_name(cell) for cell in cells} == {"t-checked"}


def test_every_estimator_of_the_suite_has_a_learner_and_a_cell() -> None:
    from horizon_bench.credit import ESTIMATORS

    alias = {"subgoal"}  # of subgoal-next
    assert set(ESTIMATORS) - alias <= {learner.estimator for learner in LEARNERS.values()}
    cells = STUDIES["credit"].cells(SCALES["t"])
    assert {cell.credit.estimator for cell in cells} == set(ESTIMATORS) - alias


def test_only_returns_cut_at_subgoals_pay_for_them() -> None:
    paid = {learner.estimator for learner in LEARNERS.values() if learner.reward == "subgoal"}
    assert paid == {"subgoal-next", "subgoal-own"}


def test_recipe_holds_every_combination_and_an_anchor_with_one_step() -> None:
    cells = STUDIES["recipe"].cells(SCALES["t"])
    several = {(cell.truncation, cell.geometric_mask, cell.normalized) for cell in cells if cell.optimiser_steps > 1}
    assert len(several) == 8
    assert [cell.name for cell in cells if cell.optimiser_steps == 1] == ["study-sudoku-macro-t3-outcome"]


@pytest.mark.parametrize("study", STUDIES)
def test_without_training_every_cell_stands_once_as_it_is_after_sft(study: str) -> None:
    cells = STUDIES[study].cells(SCALES["t"])
    plain = without_training(cells)
    assert not any(cell.trained for cell in plain)
    assert len({cell.name for cell in plain}) == len(plain) <= len(cells)
    assert [parse_name(cell.name) for cell in plain] == list(plain)
    shared = PRESETS["cpu"]
    assert {shared.supervised_name(cell) for cell in cells if cell.needs_sft} - {"t-critic"} == {
        shared.supervised_name(cell) for cell in plain if cell.needs_sft
    }


def test_words_choose_among_the_cells_of_a_study() -> None:
    cells = STUDIES["turn-risk"].cells(SCALES["t"])
    chosen = only(cells, ("macro", "slip1"))
    assert [cell.name for cell in chosen] == [
        "study-sudoku-macro-t3-outcome-checked-slip1",
        "study-sudoku-macro-t3-outcome-strict-checked-slip1",
    ]
    assert only(cells, ()) == cells
    assert [cell.name for cell in only(cells, ("macro",), ("strict", "slip0p5", "slip1", "slip2"))] == [
        "study-sudoku-macro-t3-outcome-checked"
    ]
    with pytest.raises(ValueError, match="did you mean 'macro'"):
        only(cells, ("marco",))
    with pytest.raises(ValueError, match="no cell has all of macro, atomic in its name"):
        only(cells, ("macro", "atomic"))
    with pytest.raises(ValueError, match="no cell has none of macro, atomic in its name"):
        only(cells, (), ("macro", "atomic"))


def test_an_unknown_preset_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean 'smoke'"):
        find_preset("smok")


def test_cells_that_share_an_sft_differ_in_nothing_that_it_sees() -> None:
    preset = PRESETS["smoke"]
    names = {
        name: preset.supervised_name(parse_name(name))
        for name in (
            "study-sudoku-macro-t3-outcome",
            "study-sudoku-atomic-t2-subgoal",
            "study-sudoku-macro-t3-outcome-checked",
            "study-sudoku-macro-m2-outcome",
            "study-rush-macro-r1-outcome",
            "study-sudoku-atomic-t3-ppo",
            "study-sudoku-atomic-t3-vineppo",
            "study-sudoku-fixed2-t3-outcome",
            "study-sudoku-fixed3-t3-outcome",
            "study-sudoku-split-t3-outcome",
            "study-sudoku-macro-t3-outcome-width2",
        )
    }
    shared = [name for name in names if names[name] == names["study-sudoku-macro-t3-outcome"]]
    assert shared == [
        "study-sudoku-macro-t3-outcome",
        "study-sudoku-atomic-t2-subgoal",
        "study-sudoku-atomic-t3-vineppo",
        "study-sudoku-fixed2-t3-outcome",
    ]
    assert len(set(names.values())) == 8
