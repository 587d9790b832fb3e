"""Each criterion of collapse at the edge of its threshold: what it sees, when, and in which words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from reports.collapse_criteria import (
    CRITERIA,
    CollapseThresholds,
    RunCurves,
    Sighting,
    SuccessCurve,
    success_drawdown,
    success_floor,
    success_halved,
)

LIMITS = CollapseThresholds()
CALM = replace(LIMITS, drawdown_training_errors=1e-9, halved_training_errors=1e-9)
"""Thresholds by which the noise of training explains no loss."""
MANY = 10_000
"""Puzzles behind a rate, so many that drawing them explains no loss."""
NAN = float("nan")


def success(*rates: float, puzzles: int = MANY, level: str = "all") -> RunCurves:
    """A run with one success curve, evaluated at updates 0, 10, 20, ..."""
    points = tuple(range(0, 10 * len(rates), 10))
    return RunCurves((SuccessCurve(level, points, rates, (puzzles,) * len(rates)),), (), {})


def metrics(**series: Sequence[float]) -> RunCurves:
    """A run with measurements at the updates 1, 3, 5, ..."""
    count = len(next(iter(series.values())))
    return RunCurves((), tuple(range(1, 2 * count, 2)), {name: np.array(line) for name, line in series.items()})


def only(name: str, run: RunCurves, limits: CollapseThresholds = CALM) -> Sighting | None:
    """What one criterion saw, or nothing."""
    found = CRITERIA[name](run, limits)
    assert len(found) <= 1
    return found[0] if found else None


def check(
    found: Sighting | None, onset: int, update: int, value: float, threshold: float, words: str, level: str = "rollout"
) -> None:
    """Compare a sighting with what must have been seen; the words with their numbers filled in."""
    assert found is not None
    assert (found.onset, found.update) == (onset, update)
    assert found.level == level
    assert (found.value, found.threshold) == pytest.approx((value, threshold))
    assert found.text.format(value=found.value, threshold=found.threshold) == words


def test_half_of_the_gain_must_be_lost_in_three_evaluations_in_a_row() -> None:
    lost = success(0.2, 0.6, 0.6, 0.6, 0.3, 0.3, 0.3)
    words = "success fell to 30.0%, below 40.0%, losing more than half of the gain since the start"
    check(only("success-drawdown", lost), 40, 60, 0.3, 0.4, words, "all")
    assert only("success-drawdown", success(0.2, 0.6, 0.6, 0.6, 0.3, 0.3)) is None
    assert only("success-drawdown", success(0.2, 0.6, 0.6, 0.6, 0.3, 0.3, 0.45, 0.3, 0.3)) is None
    assert only("success-drawdown", success(0.2, 0.6, 0.6, 0.6, 0.41, 0.41, 0.41)) is None
    assert only("success-drawdown", success(0.25, 0.75, 0.75, 0.75, 0.5, 0.5, 0.5)) is None


def test_a_loss_of_the_rate_itself_counts_from_nothing() -> None:
    words = "success fell to 25.0%, below 30.0%, half of the rate already reached"
    check(only("success-halved", success(0.6, 0.6, 0.6, 0.25, 0.25, 0.25)), 30, 50, 0.25, 0.3, words, "all")
    assert only("success-drawdown", success(0.6, 0.6, 0.6, 0.25, 0.25, 0.25)) is None
    assert only("success-halved", success(0.6, 0.6, 0.6, 0.31, 0.31, 0.31)) is None


def test_the_value_of_a_loss_is_the_mean_since_its_onset() -> None:
    found = only("success-halved", success(0.6, 0.6, 0.6, 0.2, 0.1, 0.0))
    assert found is not None
    assert found.value == pytest.approx(0.1)
    assert found.level == "all"


def test_a_gain_or_peak_too_small_cannot_be_lost() -> None:
    for name, enough, little in (
        ("success-drawdown", [0.1, 0.25, 0.25, 0.25], [0.1, 0.19, 0.19, 0.19]),
        ("success-halved", [0.125, 0.125, 0.125, 0.125], [0.09, 0.09, 0.09, 0.09]),
    ):
        assert only(name, success(*enough, 0.0, 0.0, 0.0)) is not None
        assert only(name, success(*little, 0.0, 0.0, 0.0)) is None
    limits = replace(CALM, drawdown_gain=0.125)
    assert only("success-halved", success(*[0.125] * 4, 0.0, 0.0, 0.0), limits) is not None


def test_the_peak_is_the_best_mean_of_three_before_the_loss() -> None:
    found = only("success-halved", success(0.3, 0.3, 0.9, 0.3, 0.3, 0.2, 0.2, 0.2))
    assert found is not None
    assert (found.onset, found.threshold) == (50, pytest.approx(0.25))
    found = only("success-halved", success(0.4, 0.8, 0.1, 0.1, 0.1))
    assert found is not None
    assert (found.onset, found.threshold) == (20, pytest.approx(0.3))


def test_the_shares_of_the_thresholds_are_used() -> None:
    curve = success(0.2, 0.6, 0.6, 0.6, 0.3, 0.3, 0.3)
    found = only("success-drawdown", curve, replace(CALM, drawdown_share=0.25))
    assert found is not None
    assert found.threshold == pytest.approx(0.5)
    assert only("success-drawdown", curve, replace(CALM, drawdown_share=0.8)) is None
    assert only("success-drawdown", curve, replace(CALM, drawdown_evaluations=4)) is None
    found = only("success-drawdown", curve, replace(CALM, drawdown_evaluations=2))
    assert found is not None
    assert (found.onset, found.update) == (40, 50)


def needed_for_noise(puzzles: int, peak: float, errors: float) -> float:
    """Loss that drawing puzzles explains: standard errors of the difference of two means of three evaluations."""
    return errors * float(np.sqrt(peak * (1 - peak) / puzzles)) * float(np.sqrt(1 / 3 + 1 / 3))


@pytest.mark.parametrize("criterion", [success_drawdown, success_halved])
def test_few_puzzles_explain_a_loss(criterion) -> None:
    start, peak, low = 0.0, 0.4, 0.1
    for puzzles in range(5, 120):
        found = criterion(success(start, peak, peak, peak, low, low, low, puzzles=puzzles), CALM)
        assert bool(found) == (peak - low > needed_for_noise(puzzles, peak, 4.0))


def test_the_fewest_puzzles_of_the_stretch_set_its_error() -> None:
    def run(*puzzles: int) -> RunCurves:
        rates = (0.4, 0.4, 0.4, 0.1, 0.1, 0.1)
        return RunCurves((SuccessCurve("all", tuple(range(6)), rates, puzzles),), (), {})

    assert success_halved(run(1, 1, 1, 100, 100, 100), LIMITS)
    assert not success_halved(run(100, 100, 100, 100, 100, 8), LIMITS)
    assert not success_halved(run(100, 100, 100, 8, 100, 100), LIMITS)
    assert not success_halved(run(100, 100, 100, 0, 0, 0), LIMITS)


def test_a_rate_of_one_still_has_the_error_of_half_a_puzzle() -> None:
    full = [1.0, 1.0, 1.0]
    assert 0.50 < needed_for_noise(4, 1 - 0.5 / 4, 4.0) < 0.55
    assert 0.43 < needed_for_noise(5, 1 - 0.5 / 5, 4.0) < 0.45
    assert not success_halved(success(*full, 0.499, 0.499, 0.499, puzzles=4), CALM)
    assert success_halved(success(*full, 0.499, 0.499, 0.499, puzzles=5), CALM)


def test_a_rate_near_nothing_has_the_error_of_half_a_puzzle() -> None:
    """A tenth of five puzzles: 0.06 are 0.6124 of sqrt(0.1 * 0.9 / 5) * sqrt(1 / 3 + 1 / 5)."""
    run = success(0.06, 0.06, 0.06, *[0.0] * 5, puzzles=5)
    assert success_floor(run, replace(CALM, drawdown_errors=0.612))
    assert not success_floor(run, replace(CALM, drawdown_errors=0.613))


def test_a_restless_curve_must_lose_more() -> None:
    calm, restless = [0.5] * 8, [0.3, 0.7] * 4
    limits = replace(LIMITS, halved_training_errors=3.0)
    assert success_halved(success(*calm, 0.2, 0.2, 0.2), limits)
    assert not success_halved(success(*restless, 0.2, 0.2, 0.2), limits)
    steep = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    assert success_halved(success(*steep, 0.2, 0.2, 0.2), limits)


def test_the_training_error_is_that_of_the_second_differences() -> None:
    """Bends of +-0.04 around 0.5: a standard deviation of 0.04 / sqrt(6) for one evaluation."""
    curve = [0.5, 0.5, 0.5, 0.54, 0.54, 0.54, 0.5, 0.5, 0.5]
    bends = np.diff(curve, n=2)
    training = float(np.sqrt(np.mean(bends**2) / 6))
    smooth = max(np.convolve(curve, np.ones(3) / 3, "valid"))
    loss = smooth - 0.2
    errors = loss / (training * np.sqrt(2 / 3))
    run = success(*curve, 0.2, 0.2, 0.2)
    assert success_halved(run, replace(LIMITS, halved_training_errors=errors * 0.999))
    assert not success_halved(run, replace(LIMITS, halved_training_errors=errors * 1.001))
    below = [0.2, *curve, 0.3, 0.3, 0.3]
    assert success_drawdown(success(*below), replace(LIMITS, halved_training_errors=1e9))
    assert not success_drawdown(success(*below), replace(LIMITS, drawdown_training_errors=1e9))
    assert not success_halved(success(*below[:-3], 0.2, 0.2, 0.2), replace(LIMITS, halved_training_errors=1e9))


def test_a_dead_run_stays_under_the_floor_for_five_evaluations() -> None:
    dead = success(0.3, 0.3, 0.3, 0.005, 0.0, 0.0, 0.0, 0.0)
    check(only("success-floor", dead), 30, 70, 0.001, 0.01, "success stayed at 0.1%, under 1.0%", "all")
    assert only("success-floor", success(0.3, 0.3, 0.3, 0.0, 0.0, 0.0, 0.0)) is None
    assert only("success-floor", success(0.3, 0.3, 0.3, *[0.01] * 5)) is None
    assert only("success-floor", success(0.3, 0.3, 0.3, 0.0, 0.0, 0.02, 0.0, 0.0, 0.0)) is None
    assert only("success-floor", success(*[0.0] * 9)) is None
    assert only("success-floor", RunCurves((SuccessCurve("all", (), (), ()),), (), {})) is None


def test_the_floor_asks_for_what_was_reached_before() -> None:
    assert only("success-floor", success(0.049, 0.049, 0.049, *[0.0] * 6)) is None
    assert only("success-floor", success(0.0625, 0.0625, 0.0625, *[0.0] * 6), replace(CALM, floor_reached=0.0625))
    assert only("success-floor", success(0.06, 0.06, 0.06, *[0.0] * 6)) is not None
    assert only("success-floor", success(0.06, 0.06, 0.06, *[0.0] * 6, puzzles=20)) is None
    restless = [0.3, 0.0, 0.4, 0.0, 0.5, 0.1, 0.4]
    assert success_floor(success(*restless, *[0.0] * 6), replace(LIMITS, halved_training_errors=0.5))
    assert not success_floor(success(*restless, *[0.0] * 6), replace(LIMITS, halved_training_errors=50.0))


def test_each_curve_has_its_own_losses() -> None:
    points = tuple(range(6))
    lost = SuccessCurve("T2", points, (0.6, 0.6, 0.6, 0.0, 0.0, 0.0), (MANY,) * 6)
    kept = SuccessCurve("T1", points, (0.6,) * 6, (MANY,) * 6)
    empty = SuccessCurve("T0", (), (), ())
    found = success_halved(RunCurves((empty, kept, lost, replace(lost, level="T3")), (), {}), LIMITS)
    assert [sighting.level for sighting in found] == ["T2", "T3"]
    dead = replace(lost, updates=tuple(range(9)), success=(0.6, 0.6, 0.6, *[0.0] * 6), puzzles=(MANY,) * 9)
    found = success_floor(RunCurves((kept, dead, replace(dead, level="T3")), (), {}), LIMITS)
    assert [(sighting.level, sighting.onset, sighting.update) for sighting in found] == [("T2", 3, 7), ("T3", 3, 7)]


SHARES = {
    "capped-share": ("capped_share", "share of replies at the token cap 45.0%, over 40.0%"),
    "invalid-share": ("invalid_share", "share of illegal actions 45.0%, over 40.0%"),
}


@pytest.mark.parametrize("name", SHARES)
def test_a_share_must_rise_over_its_early_mean_for_five_updates(name: str) -> None:
    metric, words = SHARES[name]
    early = [0.0, 0.2] * 5
    check(only(name, metrics(**{metric: [*early, 0.1, *[0.45] * 5]})), 23, 31, 0.45, 0.4, words)
    assert only(name, metrics(**{metric: [*early, 0.1, *[0.45] * 4]})) is None
    assert only(name, metrics(**{metric: [*early, 0.1, *[0.39] * 5]})) is None
    assert only(name, metrics(**{metric: [*early, 0.45, 0.45, 0.1, 0.45, 0.45, 0.45]})) is None
    assert only(name, metrics(**{metric: [0.25] * 10 + [0.75] * 5}), replace(LIMITS, share_rise=0.5)) is None
    assert only(name, metrics(other=[0.0] * 20)) is None
    assert only(name, metrics(**{metric: [*[0.0] * 5, *[0.9] * 5]}), replace(LIMITS, early_updates=10)) is None
    found = only(name, metrics(**{metric: [*[NAN] * 5, *[0.1] * 5, *[0.45] * 5]}))
    assert found is not None
    assert (found.onset, found.threshold) == (21, pytest.approx(0.4))
    assert only(name, metrics(**{metric: [*[NAN] * 10, *[0.9] * 9]})) is None


def test_rewards_of_a_group_must_be_alike_for_ten_updates() -> None:
    early = [0.2, 0.4] * 5
    low = metrics(group_reward_std=[*early, 0.3, *[0.02] * 10])
    check(only("group-spread", low), 23, 41, 0.02, 0.03, "deviation of rewards within groups at 0.02, under 0.03")
    assert only("group-spread", metrics(group_reward_std=[*early, 0.3, *[0.02] * 9])) is None
    assert only("group-spread", metrics(group_reward_std=[*early, *[0.031] * 12])) is None
    edge = metrics(group_reward_std=[*[0.25] * 10, *[0.03125] * 12])
    assert only("group-spread", edge, replace(LIMITS, spread_share=0.125)) is None
    assert only("group-spread", metrics(success=[0.1] * 30)) is None
    assert only("group-spread", metrics(group_reward_std=[0.0] * 10)) is None


def test_mastery_explains_rewards_that_are_alike() -> None:
    spread = [*[0.3] * 10, *[0.0] * 12]
    assert only("group-spread", metrics(group_reward_std=spread, success=[0.9] * 22)) is not None
    assert only("group-spread", metrics(group_reward_std=spread, success=[0.91] * 22)) is None
    half = [*[0.5] * 17, *[0.95] * 5]
    assert only("group-spread", metrics(group_reward_std=spread, success=half)) is None


def test_the_gradient_norm_is_held_against_the_median_of_the_twenty_before() -> None:
    norms = [*[1.0] * 11, 20.0, 20.0]
    check(only("gradient-norm", metrics(gradient_norm=norms)), 23, 25, 20.0, 10.0, "gradient norm 20, over 10")
    assert only("gradient-norm", metrics(gradient_norm=norms[:-1])) is None
    assert only("gradient-norm", metrics(gradient_norm=[*[1.0] * 11, 10.0, 10.0])) is None
    assert only("gradient-norm", metrics(gradient_norm=[*[1.0] * 9, 20.0, 20.0])) is None
    assert only("gradient-norm", metrics(gradient_norm=[*[1.0] * 10, 20.0, 20.0])) is not None
    assert only("gradient-norm", metrics(other=norms)) is None
    forgotten = [*[100.0] * 11, *[1.0] * 20, 20.0, 20.0]
    assert only("gradient-norm", metrics(gradient_norm=forgotten)) is not None
    remembered = [*[100.0] * 11, *[1.0] * 9, 20.0, 20.0]
    assert only("gradient-norm", metrics(gradient_norm=remembered)) is None
    assert only("gradient-norm", metrics(gradient_norm=forgotten), replace(LIMITS, gradient_window=40)) is not None


def test_norms_that_are_missing_or_not_finite_are_left_out_of_the_median() -> None:
    norms = [*[NAN] * 3, *[1.0] * 5, *[float("inf")] * 3, 20.0, 20.0]
    found = only("gradient-norm", metrics(gradient_norm=norms))
    assert found is not None
    assert (found.onset, found.threshold) == (23, 10.0)
    assert only("gradient-norm", metrics(gradient_norm=[*[NAN] * 11, 20.0, 20.0])) is None
    assert only("gradient-norm", metrics(gradient_norm=[*[1.0] * 11, float("inf"), float("inf")])) is None


STEADY = {
    "sample-size": ("effective_sample_size", 0.25, 0.3, 3, "effective sample size 25.0% of the samples, under 30.0%"),
    "masked-share": ("masked_share", 0.75, 0.5, 1, "share of masked replies 75.0%, over 50.0%"),
    "divergence": ("approximate_kl", -0.25, 0.1, 3, "divergence from the sampling policy -0.25 nats, over 0.1"),
}


@pytest.mark.parametrize("name", STEADY)
def test_a_measurement_beyond_its_bound_counts_from_the_first_update(name: str) -> None:
    metric, value, bound, length, words = STEADY[name]
    healthy = {"sample-size": 0.9, "masked-share": 0.1, "divergence": 0.0}[name]
    check(only(name, metrics(**{metric: [value] * length})), 1, 2 * length - 1, value, bound, words)
    check(only(name, metrics(**{metric: [healthy, *[value] * length]})), 3, 2 * length + 1, value, bound, words)
    assert only(name, metrics(**{metric: [*[value] * (length - 1), healthy, *[value] * (length - 1)]})) is None
    assert only(name, metrics(**{metric: [bound] * 9})) is None
    assert only(name, metrics(other=[value] * 9)) is None


ENTROPY = {"entropy-low": (0.04, 0.05, "under"), "entropy-high": (1.6, 1.5, "over")}


@pytest.mark.parametrize("name", ENTROPY)
def test_the_entropy_must_leave_its_band_for_ten_updates(name: str) -> None:
    value, bound, word = ENTROPY[name]
    early = [0.25, 0.75] * 5
    words = f"entropy {value} nats, {word} {bound}"
    check(only(name, metrics(entropy=[*early, 0.5, *[value] * 10])), 23, 41, value, bound, words)
    assert only(name, metrics(entropy=[*early, 0.5, *[value] * 9])) is None
    assert only(name, metrics(entropy=[*[0.5] * 10, *[1.5] * 10])) is None
    assert only(name, metrics(entropy=[*[value] * 10])) is None
    assert only(name, metrics(other=[value] * 30)) is None


@pytest.mark.parametrize("name", ["loss", "gradient_norm"])
def test_a_number_that_is_none_is_seen_at_once(name: str) -> None:
    given = metrics(**{f"{name}:given": [0.0, 1.0, float("inf"), NAN]})
    found = only("not-finite", given)
    words = f"{name.replace('_', ' ')} was inf, not a finite number"
    check(found, 5, 5, float("inf"), float("inf"), words)
    assert only("not-finite", metrics(**{f"{name}:given": [0.0, 1.0]})) is None
    assert only("not-finite", metrics(**{name: [NAN, NAN]})) is None


def test_thresholds_at_or_below_nothing_are_refused() -> None:
    assert CollapseThresholds(drawdown_share=0.001).drawdown_share == 0.001
    for wrong in (0, -1, NAN):
        with pytest.raises(ValueError, match=f"^collapse threshold kl must be above 0, not {wrong}$"):
            CollapseThresholds(kl=wrong)


def test_what_comes_after_a_loss_is_certain_changes_nothing() -> None:
    for name, lost in (
        ("success-drawdown", [0.2, 0.6, 0.6, 0.6, 0.3, 0.3, 0.3]),
        ("success-halved", [0.6, 0.6, 0.6, 0.25, 0.25, 0.25]),
        ("success-floor", [0.3, 0.3, 0.3, *[0.0] * 5]),
    ):
        before, after = only(name, success(*lost)), only(name, success(*lost, 0.9))
        assert before is not None
        assert before == after
    assert success_halved(success(0.4, 0.4, 0.4, 0.1, 0.1, 0.1, 0.4, puzzles=29), CALM)
    points, rates = tuple(range(7)), (0.4, 0.4, 0.4, 0.1, 0.1, 0.1, 0.1)
    later_few = SuccessCurve("all", points, rates, (100, 100, 100, 100, 100, 100, 1))
    assert success_halved(RunCurves((later_few,), (), {}), CALM)[0].update == 5
    once = only("not-finite", metrics(**{"loss:given": [0.0, 1.0, NAN, 1.0]}))
    assert once is not None
    assert (once.onset, once.update, once.level) == (5, 5, "rollout")
    assert np.isnan(once.value)


def test_without_puzzles_a_rate_has_the_error_of_a_lone_one() -> None:
    """Half of 1 for one puzzle: 0.9 * 0.5 * sqrt(2 / 3) = 0.37, of two puzzles 0.9 * sqrt(0.24 / 2) * 0.82 = 0.25."""
    for puzzles in (0, 1):
        assert not success_halved(
            success(0.4, 0.4, 0.4, 0.1, 0.1, 0.1, puzzles=puzzles), replace(CALM, drawdown_errors=0.9)
        )
    assert success_halved(success(0.4, 0.4, 0.4, 0.1, 0.1, 0.1, puzzles=2), replace(CALM, drawdown_errors=0.9))


def test_the_noise_of_training_needs_two_bends() -> None:
    assert success_halved(success(0.2, 0.6, 0.6, 0.1, 0.1, 0.1), LIMITS)
    strict = replace(LIMITS, halved_training_errors=5.0)
    assert not success_halved(success(0.2, 0.6, 0.6, 0.6, 0.2, 0.2, 0.2), strict)


def test_the_first_norms_count_in_the_median_until_twenty_have_passed() -> None:
    early = [9.0, *[1.0] * 5, *[9.0] * 4]
    assert only("gradient-norm", metrics(gradient_norm=[*early, 20.0, 20.0])) is None
    found = only("gradient-norm", metrics(gradient_norm=[*early, 60.0, 60.0]))
    assert found is None
    found = only("gradient-norm", metrics(gradient_norm=[*early, 60.0, 100.0]))
    assert found is not None
    assert found.threshold == 90.0


def test_an_entropy_at_the_edge_of_its_band_is_within_it() -> None:
    assert only("entropy-low", metrics(entropy=[*[0.5] * 10, *[0.05] * 10])) is None
    assert only("entropy-high", metrics(entropy=[*[0.5] * 10, *[1.5] * 10])) is None
