"""Thresholds on the way to the goal."""

from hypothesis import given
from hypothesis import strategies as st

from solvers.milestones import threshold_names, thresholds


@given(st.integers(1, 200), st.integers(1, 12))
def test_thresholds_fall_to_the_goal_in_even_parts(distance, parts):
    levels = thresholds(distance, parts)
    assert levels[-1] == 0
    assert levels == tuple(sorted(set(levels), reverse=True))
    assert len(levels) == min(parts, distance)
    gaps = [before - after for before, after in zip((distance, *levels), levels, strict=False)]
    assert max(gaps) - min(gaps) <= 1
    assert len(set(threshold_names(levels))) == len(levels)
