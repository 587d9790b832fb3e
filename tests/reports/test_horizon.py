from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.horizon import fit_horizon
from reports.intervals import Grid


def grid_of(values: np.ndarray, distances: np.ndarray) -> Grid:
    puzzles = tuple(f"p{index}" for index in range(len(distances)))
    return Grid(tuple(range(len(values))), puzzles, values, distances)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@settings(max_examples=40, deadline=None)
@given(st.floats(0.005, 0.3))
def test_the_closed_form_is_found_again(error: float) -> None:
    distances = np.arange(1, 41)
    found = fit_horizon(grid_of((1 - error) ** distances[None], distances), rng(), resamples=10)
    assert found.h50 == pytest.approx(np.log(0.5) / np.log(1 - error), rel=1e-4)
    assert found.per_action == pytest.approx(1 - error, rel=1e-4)
    assert found.shape == pytest.approx(1.0, abs=1e-3)
    assert found.success(distances) == pytest.approx((1 - error) ** distances, abs=1e-3)


def test_the_interval_covers_the_closed_form() -> None:
    error, hits = 0.05, 0
    distances = np.repeat(np.arange(5, 46, 5), 15)
    for repeat in range(40):
        draw = np.random.default_rng([1, repeat])
        values = draw.binomial(4, (1 - error) ** distances, (3, len(distances))) / 4
        found = fit_horizon(grid_of(values, distances), draw, resamples=200)
        hits += found.low <= np.log(0.5) / np.log(1 - error) <= found.high
        assert found.low <= found.h50 <= found.high
    assert hits >= 36


def test_one_distance_alone_is_read_by_the_closed_form() -> None:
    values = np.tile([1.0, 1.0, 0.0, 0.0], (2, 5))
    found = fit_horizon(grid_of(values, np.full(20, 12)), rng())
    assert found.h50 == pytest.approx(12, rel=0.01)


def test_nothing_solved_gives_an_upper_bound_only() -> None:
    found = fit_horizon(grid_of(np.zeros((3, 40)), np.repeat([10, 20], 20)), rng())
    assert (found.h50, found.low) == (0.0, 0.0)
    assert 0 < found.high < 10
    assert found.format().startswith("< 10")
    assert found.success(np.array([10.0])) == 0


def test_everything_solved_gives_a_lower_bound_only() -> None:
    found = fit_horizon(grid_of(np.ones((3, 40)), np.repeat([10, 20], 20)), rng())
    assert found.h50 == found.high == np.inf
    assert found.low > 20
    assert found.format() == "> 20"
    assert not found.inside


def test_more_puzzles_at_any_distance_tighten_an_open_interval() -> None:
    few = fit_horizon(grid_of(np.ones((1, 20)), np.repeat([20], 20)), rng())
    more = fit_horizon(grid_of(np.ones((1, 60)), np.repeat([10, 20], [40, 20])), rng())
    assert few.low == pytest.approx(20 * 20 * np.log(2) / np.log(40))
    assert more.low == pytest.approx(2 * few.low)
    none = fit_horizon(grid_of(np.zeros((1, 5)), np.repeat([10], 5)), rng())
    assert 5 * np.log1p(-(2 ** (-10 / none.high))) == pytest.approx(np.log(0.025))


def test_a_cliff_is_steeper_than_the_closed_form() -> None:
    distances = np.repeat(np.arange(2, 21, 2), 10)
    found = fit_horizon(grid_of(np.tile((distances <= 10).astype(float), (2, 1)), distances), rng(), resamples=100)
    assert 10 <= found.h50 <= 12
    assert found.shape > 3


def test_fewer_decisions_for_the_same_way_need_each_to_succeed_less_often() -> None:
    distances = np.arange(1, 30)
    grid = grid_of(0.95 ** distances[None], distances)
    atomic, macro = (fit_horizon(grid, rng(), decisions_per_action=rate, resamples=10) for rate in (1.0, 1 / 3))
    assert atomic.per_decision == pytest.approx(0.95, rel=1e-3)
    assert macro.per_decision == pytest.approx(0.95**3, rel=1e-3)
    assert macro.per_action == atomic.per_action


def test_no_data_and_no_distance_are_refused() -> None:
    with pytest.raises(ValueError, match="no run"):
        fit_horizon(grid_of(np.full((1, 2), np.nan), np.array([1, 2])), rng())
    with pytest.raises(ValueError, match="distance 0"):
        fit_horizon(grid_of(np.ones((1, 2)), np.array([0, 2])), rng())
