from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.intervals import (
    Grid,
    gap_estimate,
    generator,
    improvement_estimate,
    interquartile_estimate,
    mean_estimate,
    paired_difference,
    rate_estimate,
    wilson,
)


def grid_of(values: np.ndarray, distance: int = 5) -> Grid:
    seeds, puzzles = values.shape
    return Grid(tuple(range(seeds)), tuple(f"p{index}" for index in range(puzzles)), values, np.full(puzzles, distance))


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share_and_stays_a_share(counts: tuple[int, int]) -> None:
    low, high = wilson(*counts)
    assert 0 <= low <= counts[0] / counts[1] <= high <= 1
    assert (low == 0) == (counts[0] == 0)
    mirrored = wilson(counts[1] - counts[0], counts[1])
    assert mirrored == pytest.approx((1 - high, 1 - low))


def test_wilson_by_hand() -> None:
    assert wilson(0, 1) == pytest.approx((0.0, 0.793450685623))
    assert wilson(1, 3) == pytest.approx((0.0614919447204, 0.792340399198))


@pytest.mark.shared
def test_wilson_matches_the_shared_cases(shared_data: Path) -> None:
    for case in json.loads((shared_data / "credit" / "intervals.json").read_text()):
        inputs, expected = case["inputs"], case["expected"]
        found = wilson(inputs["x"], inputs["n"], inputs["confidence"])
        assert found == pytest.approx((expected["low"], expected["high"]), rel=1e-9, abs=1e-11)


def test_impossible_counts_and_confidences_are_refused() -> None:
    for arguments in ((3, 2), (-1, 2), (0, 0)):
        with pytest.raises(ValueError, match="proportion"):
            wilson(*arguments)
    with pytest.raises(ValueError, match="confidence"):
        wilson(1, 2, 1.0)


def test_an_all_zero_cell_gets_a_wilson_interval_over_puzzles() -> None:
    found = mean_estimate(grid_of(np.zeros((3, 20))), rng())
    assert (found.low, found.high) == wilson(0, 20)
    assert found.method == "wilson"


def test_the_mean_leaves_out_what_a_seed_did_not_see() -> None:
    found = mean_estimate(grid_of(np.array([[1.0, np.nan], [0.0, 1.0]])), rng())
    assert found.value == pytest.approx(2 / 3)


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    hits = 0
    for repeat in range(150):
        draw = np.random.default_rng([7, repeat])
        skill = draw.normal(0, 0.08, 5)[:, None] + draw.beta(2, 2, 60)[None]
        values = draw.binomial(4, np.clip(skill, 0, 1)) / 4
        found = mean_estimate(grid_of(values), draw, resamples=300)
        hits += found.low <= 0.5 <= found.high
    assert hits >= 0.85 * 150


def test_attempts_do_not_narrow_the_interval_but_puzzles_do() -> None:
    draw = np.random.default_rng(3)
    widths = []
    for puzzles in (20, 320):
        found = mean_estimate(grid_of((draw.random((3, puzzles)) < 0.5).astype(float)), rng())
        widths.append(found.high - found.low)
    assert widths[1] < 0.5 * widths[0]


def test_pairing_narrows_a_difference() -> None:
    draw = np.random.default_rng(1)
    hard = draw.random((4, 80))
    first, second = grid_of((hard < 0.6).astype(float)), grid_of((hard < 0.5).astype(float))
    paired = paired_difference(first, second, rng())
    shuffled = Grid(second.seeds, second.puzzles, second.values[:, ::-1], second.distances)
    unpaired = paired_difference(first, shuffled, rng())
    assert paired.value == pytest.approx(unpaired.value)
    assert paired.high - paired.low < unpaired.high - unpaired.low
    assert paired.low > 0


@given(st.integers(0, 1000))
def test_a_difference_changes_its_sign_with_its_order(seed: int) -> None:
    draw = np.random.default_rng(seed)
    first, second = (grid_of(draw.integers(0, 5, (2, 6)) / 4) for _ in range(2))
    there = paired_difference(first, second, rng(), resamples=50)
    back = paired_difference(second, first, rng(), resamples=50)
    assert there.value == pytest.approx(-back.value)


def test_only_what_both_saw_is_compared() -> None:
    first = Grid((0, 1), ("a", "b"), np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([4, 4]))
    second = Grid((1, 2), ("b", "c"), np.array([[0.5, 0.0], [0.0, 0.0]]), np.array([4, 4]))
    found = paired_difference(first, second, rng())
    assert (found.value, found.puzzles, found.seeds) == (-0.5, 1, 1)
    with pytest.raises(ValueError, match="paired"):
        paired_difference(first, Grid((0,), ("z",), np.array([[1.0]]), np.array([4])), rng())


def test_equal_cells_differ_by_nothing_give_or_take_what_puzzles_allow() -> None:
    found = paired_difference(grid_of(np.zeros((2, 30))), grid_of(np.zeros((2, 30))), rng())
    assert found.value == 0
    assert found.low == pytest.approx(-found.high)
    assert 0 < found.high < 0.2


def test_the_gap_is_near_minus_far() -> None:
    values = np.tile(np.array([1.0, 1.0, 0.5, 0.0]), (2, 5))
    near = np.tile(np.array([True, True, False, False]), 5)
    found = gap_estimate(grid_of(values), near, rng())
    assert found.value == pytest.approx(0.75)
    assert found.low <= 0.75 <= found.high
    with pytest.raises(ValueError, match="both sides"):
        gap_estimate(grid_of(values), np.ones(20, bool), rng())


def test_symmetric_copies_are_drawn_together() -> None:
    values = np.array([[1.0, 1.0, 0.0, 0.0]])
    apart = Grid((0,), ("a", "b", "c", "d"), values, np.full(4, 5))
    together = Grid((0,), ("a", "a#1", "c", "c#1"), values, np.full(4, 5))
    widths = [found.high - found.low for found in (mean_estimate(grid, rng()) for grid in (apart, together))]
    assert widths[1] >= widths[0]
    assert mean_estimate(together, rng()).low == 0.0


def test_an_interval_without_spread_counts_symmetric_copies_as_one_puzzle() -> None:
    names = tuple(f"p{index % 21}" + (f"#{index // 21}" if index >= 21 else "") for index in range(200))
    none, every = (Grid((0, 1), names, np.full((2, 200), value), np.full(200, 5)) for value in (0.0, 1.0))
    found, solved = mean_estimate(none, rng()), mean_estimate(every, rng())
    assert (found.low, found.high, found.puzzles) == (0.0, wilson(0, 21)[1], 200)
    assert (solved.low, solved.high) == wilson(21, 21)
    gap = paired_difference(every, none, rng())
    apart = paired_difference(grid_of(np.ones((2, 21))), grid_of(np.zeros((2, 21))), rng())
    assert (gap.low, gap.high) == (apart.low, apart.high)
    near = np.array([name.partition("#")[0] in {"p0", "p1", "p2"} for name in names])
    sides = gap_estimate(none, near, rng())
    assert sides.high == pytest.approx(wilson(0, 3)[1])


def test_aggregates_over_runs_have_intervals_around_them() -> None:
    scores = np.random.default_rng(2).random((6, 4))
    middle = interquartile_estimate(scores, rng(), resamples=100)
    better = improvement_estimate(scores + 1, scores, rng(), resamples=100)
    assert middle.low <= middle.value <= middle.high
    assert (better.value, better.low) == (1.0, 1.0)


def test_a_single_run_has_no_interval_over_runs() -> None:
    found = interquartile_estimate(np.array([[0.25, 0.5, 0.75]]), rng())
    assert np.isnan(found.low)
    assert np.isnan(found.high)
    assert found.format() == "50.0 [\N{EM DASH}]"


@pytest.mark.parametrize("puzzles", [1, 5])
def test_scores_that_are_all_alike_get_a_wilson_interval(puzzles: int) -> None:
    found = mean_estimate(grid_of(np.full((1, puzzles), 0.75)), rng())
    assert (found.low, found.high) == wilson(0.75 * puzzles, puzzles)
    assert found.low < 0.75 < found.high


def test_a_collapse_rate_counts_runs() -> None:
    found = rate_estimate([True, False, False])
    assert found.value == pytest.approx(1 / 3)
    assert (found.low, found.high) == wilson(1, 3)


def test_the_same_words_give_the_same_draws_and_others_others() -> None:
    assert generator("a", 1).random() == generator("a", 1).random()
    assert generator("a", 1).random() != generator("a", 2).random()


def test_an_estimate_reads_as_percent_with_a_true_minus() -> None:
    found = mean_estimate(grid_of(np.zeros((1, 4))), rng())
    assert found.format().startswith("0.0 [0.0, ")
    assert (
        paired_difference(grid_of(np.zeros((1, 4))), grid_of(np.ones((1, 4))), rng()).format(sign=True)[0]
        == "\N{MINUS SIGN}"
    )
