from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reports.comparisons import Comparison, compare, generalisation_gap, interquartile
from reports.conditions import Condition, conditions_of
from reports.panels import trained_on
from reports.published import PUBLISHED, beside, training_length
from reports.results import load_results


@pytest.fixture(scope="module")
def conditions(small: Path) -> tuple[Condition, ...]:
    return conditions_of(load_results(small))


@pytest.fixture(scope="module")
def pairs(conditions: tuple[Condition, ...]) -> tuple[Comparison, ...]:
    return compare(conditions)


def test_pairs_differ_in_one_thing_and_subtract_the_simpler(pairs: tuple[Comparison, ...]) -> None:
    found = {(pair.axis, pair.one.phase, pair.one.interface, pair.other.phase, pair.other.interface) for pair in pairs}
    assert found == {
        ("interface", "sft", "macro", "sft", "atomic"),
        ("interface", "rl", "macro", "rl", "atomic"),
        ("training", "rl", "atomic", "sft", "atomic"),
        ("training", "rl", "macro", "sft", "macro"),
    }


def test_a_pair_is_compared_over_all_levels_and_on_each(pairs: tuple[Comparison, ...]) -> None:
    trained = next(pair for pair in pairs if pair.axis == "training" and pair.one.interface == "macro")
    assert trained.overall.low > 0
    assert set(trained.by_level) == {"T1", "T2", "T3", "T4", "T5"}
    assert trained.improvement is not None
    assert trained.improvement.value > 0.9


def test_running_a_macro_policy_stepwise_is_compared_with_its_own_way(conditions: tuple[Condition, ...]) -> None:
    macro = next(one for one in conditions if (one.phase, one.interface) == ("rl", "macro"))
    stepwise = replace(macro, interface="macro-stepwise", label="stepwise")
    pair = compare([macro, stepwise])[0]
    assert (pair.axis, pair.one.interface, pair.overall.value) == ("run as", "macro-stepwise", 0.0)


def test_a_setting_that_differs_is_named(conditions: tuple[Condition, ...]) -> None:
    macro = next(one for one in conditions if (one.phase, one.interface) == ("rl", "macro"))
    cell = replace(macro.cell, cell="other", settings={"cell": {**macro.cell.settings["cell"], "slip": 0.5}})
    assert compare([macro, replace(macro, cell=cell, label="other")])[0].axis == "slip"


@pytest.mark.parametrize(
    ("settings", "axis"), [({"slip": 0.5, "rate": 2.0}, "rate, slip"), ({"a": 1, "b": 2, "c": 3}, "")]
)
def test_pairs_that_differ_in_more_than_two_settings_are_left_out(
    conditions: tuple[Condition, ...], settings: dict[str, float], axis: str
) -> None:
    macro = next(one for one in conditions if (one.phase, one.interface) == ("rl", "macro"))
    cell = replace(macro.cell, cell="other", settings={"cell": {**macro.cell.settings["cell"], **settings}})
    found = compare([macro, replace(macro, cell=cell, label="other")])
    assert [pair.axis for pair in found] == ([axis] if axis else [])


def test_schedules_of_the_same_levels_are_told_apart(conditions: tuple[Condition, ...]) -> None:
    macro = next(one for one in conditions if (one.phase, one.interface) == ("rl", "macro"))
    made = []
    for train in ([["T2"], ["T3"]], [["T2", "T3"]]):
        settings = {"cell": {**macro.cell.settings["cell"], "train": train}}
        cell = replace(macro.cell, cell=str(train), train_levels=("T2", "T3"), settings=settings)
        made.append(replace(macro, cell=cell, label=trained_on(cell)))
    assert [one.label for one in made] == ["trained on T2, then T3", "trained on T2, T3"]
    assert compare(made)[0].axis == "levels"


def test_the_gap_is_trained_minus_longer(conditions: tuple[Condition, ...]) -> None:
    macro = next(one for one in conditions if (one.phase, one.interface) == ("rl", "macro"))
    gap = generalisation_gap(macro)
    assert gap is not None
    assert gap.value == pytest.approx(
        macro.estimate("avg", "T3").value - (macro.estimate("avg", "T4").value + macro.estimate("avg", "T5").value) / 2
    )
    untrained = replace(macro, cell=replace(macro.cell, train_levels=()))
    assert generalisation_gap(untrained) is None


def test_the_interquartile_mean_lies_among_the_scores(conditions: tuple[Condition, ...]) -> None:
    one = conditions[0]
    middle = interquartile(one)
    scores = [one.estimate("avg", level).value for level in one.levels]
    assert middle is not None
    assert min(scores) < middle.value < max(scores)


def test_published_rows_find_their_kind_by_length_of_training(conditions: tuple[Condition, ...]) -> None:
    macro = next(one for one in conditions if (one.phase, one.interface) == ("rl", "macro"))
    short = replace(macro, cell=replace(macro.cell, train_levels=("T2",)), label="short")
    both = [macro, short]
    assert [training_length(one, both) for one in both] == ["long", "short"]
    rows = {
        row.trained: beside(row, both)
        for row in PUBLISHED
        if (row.interface, row.phase, row.puzzle) == ("macro", "rl", "sudoku")
    }
    assert rows == {"short": [short], "long": [macro]}


def test_a_schedule_of_two_phases_is_short_then_long(conditions: tuple[Condition, ...]) -> None:
    macro = next(one for one in conditions if (one.phase, one.interface) == ("rl", "macro"))
    settings = {"cell": {"train": [["T2"], ["T3"]]}}
    staged = replace(macro, cell=replace(macro.cell, train_levels=("T2", "T3"), settings=settings))
    assert training_length(staged, [staged, macro]) == "short then long"
