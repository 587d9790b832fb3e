"""Captions say how much was measured, whatever k is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reports.conditions import Condition, conditions_of
from reports.gather_success import horizon_panels, success_panels
from reports.results import load_results
from reports.views import reaches


def twice_as_often(one: Condition) -> Condition:
    """Return the condition with eight attempts at each puzzle in place of four."""
    more = (replace(row, attempt=row.attempt + 4) for row in one.records)
    return replace(one, records=(*one.records, *more))


def test_captions_count_the_attempts_that_were_made(small: Path) -> None:
    conditions = [twice_as_often(one) for one in conditions_of(load_results(small))]
    assert {(one.k, one.tries) for one in conditions} == {(4, frozenset({8}))}
    panels = (*success_panels(conditions), *success_panels(conditions, "pass"), *horizon_panels(conditions))
    assert all("\N{MULTIPLICATION SIGN} 8 attempts a point" in panel.note for panel in panels)
    assert "pass@4" in success_panels(conditions, "pass")[0].y_label
    assert all(group.size.endswith("\N{MULTIPLICATION SIGN} 8 attempts") for group in reaches(conditions))


def test_captions_name_the_range_where_numbers_of_attempts_differ(small: Path) -> None:
    first, *others = conditions_of(load_results(small))
    (panel, *_) = horizon_panels([twice_as_often(first), *others])
    assert "4\N{EN DASH}8 attempts a point" in panel.note
