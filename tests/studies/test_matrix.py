from __future__ import annotations

import re

import pytest

from studies.factors import FAMILIES
from studies.matrix import SCALES, SINGLE, STUDIES, parse_name, select
from studies.presets import PRESETS, find_preset


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("family", SCALES)
def test_every_cell_of_every_study_has_its_own_readable_name(study: str, family: str) -> None:
    cells = STUDIES[study].cells(SCALES[family])
    assert len({cell.name for cell in cells}) == len(cells) > 0
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
        ("study-sudoku-marco-t3-sft", "did you mean 'macro'"),
    ],
)
def test_an_unknown_study_is_refused_with_the_nearest(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        select(name, SCALES["t"])


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
        )
    }
    shared = [name for name in names if names[name] == names["study-sudoku-macro-t3-outcome"]]
    assert shared == ["study-sudoku-macro-t3-outcome", "study-sudoku-atomic-t2-subgoal"]
