from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reports.conditions import Condition, conditions_of
from reports.execution import accumulations
from reports.results import load_results
from reports.study_tables import closed_form_table

MISTAKE = 0.1


def noisy(folder: Path, make, skill: float) -> tuple[Condition, ...]:  # type: ignore[no-untyped-def]
    """Return the conditions of an expert that succeeds with `skill` an action and says that it errs with 0.1."""
    make.run(folder, make.arm("noisy", "noisy expert", before=skill, after=skill), 0, 150, 1)
    made = []
    for one in conditions_of(load_results(folder)):
        cell = replace(one.cell, policy="noisy-expert", settings={"cell": {"mistake": MISTAKE, "on_error": "strict"}})
        made.append(replace(one, cell=cell))
    return tuple(made)


@pytest.mark.parametrize(("skill", "agrees"), [(1 - MISTAKE, True), (0.95, False)])
def test_only_an_expert_of_that_error_agrees_with_the_closed_form(
    tmp_path: Path,
    make,
    skill: float,
    agrees: bool,  # type: ignore[no-untyped-def]
) -> None:
    found = accumulations(noisy(tmp_path, make, skill)[:1])
    assert [row.level for row in found] == ["T1", "T2", "T3", "T4", "T5"]
    assert found[0].closed_form == pytest.approx(np.mean([0.9**4, 0.9**5]))
    for row in found:
        assert row.difference.value == pytest.approx(row.measured.value - row.closed_form)
    assert sum(row.agrees for row in found) >= 4 if agrees else not any(row.agrees for row in found)


def test_the_table_says_which_levels_agree(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    table = closed_form_table(noisy(tmp_path, make, 0.95)[:1])
    assert [row[-1] for row in table.rows] == ["no"] * 5
    assert "0 of 5" in table.note


def test_only_conditions_in_which_an_error_is_the_end_are_counted(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    one = noisy(tmp_path, make, 0.95)[0]
    detour = replace(one, records=tuple(replace(row, decisions=row.distance + 2) for row in one.records))
    assert "0 of 5" in closed_form_table([one, detour]).note
    assert " of " not in closed_form_table([detour]).note


def test_error_rates_rise_as_numbers(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    one = noisy(tmp_path, make, 0.95)[0]
    rates = ("0.1", "0.0001", "0.025", "1e-05")
    conditions = [
        replace(one, cell=replace(one.cell, settings={"cell": {"mistake": float(rate), "on_error": "strict"}}))
        for rate in rates
    ]
    rows = closed_form_table(conditions).rows
    assert [row[2] for row in rows[::5]] == ["1e-05", "0.0001", "0.025", "0.1"]
    assert [row[3][:2] for row in rows[:5]] == ["T1", "T2", "T3", "T4", "T5"]


def test_other_policies_have_no_closed_form(small: Path) -> None:
    assert accumulations(conditions_of(load_results(small))) == []


def test_a_level_where_all_fail_has_an_interval_that_is_wide_enough(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    found = accumulations(noisy(tmp_path, make, 0.0)[:1])
    for row in found:
        assert row.measured.value == 0.0
        assert row.difference.low == pytest.approx(-row.closed_form)
        assert row.difference.high > row.difference.low + 0.01
