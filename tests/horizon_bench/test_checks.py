"""Fields out of range are refused by name; what is no number lies in no range."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from horizon_bench.checks import check_least, check_positive

RECORD = SimpleNamespace(steps=1, rate=0.5, nothing=0, unknown=math.nan)


def test_fields_within_their_ranges_pass() -> None:
    check_least(RECORD, 1, "steps")
    check_least(RECORD, 0, "steps", "rate", "nothing")
    check_positive(RECORD, "steps", "rate")


@pytest.mark.parametrize("name", ["nothing", "unknown"])
def test_the_field_the_rule_and_the_value_are_named(name: str) -> None:
    value = getattr(RECORD, name)
    with pytest.raises(ValueError, match=f"{name} must be at least 1, not {value}"):
        check_least(RECORD, 1, "steps", name)
    with pytest.raises(ValueError, match=f"{name} must be above 0, not {value}"):
        check_positive(RECORD, "steps", name)
