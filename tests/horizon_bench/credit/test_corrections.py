from __future__ import annotations

import logging
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon_bench.credit import CORRECTIONS, correction_report, find_correction
from horizon_bench.credit.corrections import (
    compose,
    effective_sample_size,
    geometric_mask,
    geometric_ratio,
    log_ratios,
    sequence_ratio,
    sequence_truncation,
    token_mask,
    token_truncation,
)

RECIPE = "sequence-truncation+geometric-mask"
TRAINED, SAMPLED = np.log([[0.402, 0.501]]), np.log([[0.4, 0.5]])
BOTH = np.ones((1, 2), dtype=bool)


def test_ratios_of_a_reply_of_two_tokens() -> None:
    np.testing.assert_allclose(sequence_ratio(TRAINED, SAMPLED, BOTH), 1.00701, atol=1e-9)
    np.testing.assert_allclose(geometric_ratio(TRAINED, SAMPLED, BOTH), 1.003499, atol=1e-6)


def test_the_recipe_weighs_that_reply_with_its_ratio() -> None:
    np.testing.assert_allclose(find_correction(RECIPE)(TRAINED, SAMPLED, BOTH), [[1.00701, 1.00701]], atol=1e-9)


@pytest.mark.parametrize(("ratio", "kept"), [(0.9949, 0.0), (0.9951, 1.0), (1.0099, 1.0), (1.0101, 0.0)])
def test_the_band_applies_to_the_trained_over_the_sampled_probability(ratio: float, kept: float) -> None:
    sampled = np.full((1, 3), -1.0)
    found = geometric_mask(sampled + np.log(ratio), sampled, np.ones((1, 3), dtype=bool))
    np.testing.assert_array_equal(found, np.full((1, 3), kept))


def test_truncation_and_masking_of_single_tokens() -> None:
    sampled = np.zeros((1, 4))
    trained = np.log([[0.25, 1.0, 3.0, 9.0]])
    mask = np.array([[True, True, True, False]])
    np.testing.assert_allclose(token_truncation(trained, sampled, mask), [[0.25, 1, 2, 0]])
    np.testing.assert_allclose(token_mask(trained, sampled, mask), [[0, 1, 0, 0]])
    np.testing.assert_allclose(sequence_truncation(trained, sampled, mask, cap=0.5), [[0.5, 0.5, 0.5, 0]])


@given(seed=st.integers(0, 10**6))
@settings(deadline=None, max_examples=30)
def test_single_precision_noise_masks_nothing_on_policy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    exact = -rng.exponential(2.0, size=(16, 40))
    noisy = (exact + rng.normal(scale=1e-5, size=exact.shape)).astype(np.float32)
    mask = rng.random(exact.shape) < 0.8
    weights = find_correction(RECIPE)(noisy, exact.astype(np.float32), mask)
    assert ((weights > 0) == mask).all()
    np.testing.assert_allclose(weights[mask], 1, atol=1e-2)
    assert correction_report(noisy, exact.astype(np.float32), mask, weights)["masked_share"] == 0


def test_several_steps_at_a_high_rate_mask_a_lot_and_warn(caplog: pytest.LogCaptureFixture) -> None:
    rng = np.random.default_rng(1)
    sampled = -rng.exponential(1.0, size=(200, 12))
    trained = sampled + rng.normal(scale=0.2, size=sampled.shape)
    mask = np.ones(sampled.shape, dtype=bool)
    with caplog.at_level(logging.WARNING):
        report = correction_report(trained, sampled, mask, find_correction(RECIPE)(trained, sampled, mask))
    assert report["masked_share"] > 0.5
    assert report["effective_sample_size"] < 0.5
    assert "of the replies are masked out" in caplog.text


@pytest.mark.parametrize("name", [*CORRECTIONS, RECIPE])
@given(gap=st.lists(st.floats(-1e6, 1e6), min_size=6, max_size=6))
@settings(deadline=None, max_examples=30)
def test_weights_stay_finite_and_leave_masked_tokens_out(name: str, gap: list[float]) -> None:
    sampled = np.zeros((2, 3))
    mask = np.array([[True, True, False], [False, False, False]])
    weights = find_correction(name)(np.array(gap).reshape(2, 3), sampled, mask)
    assert np.isfinite(weights).all()
    assert (weights >= 0).all()
    assert not weights[~mask].any()


@pytest.mark.parametrize("name", [*CORRECTIONS, RECIPE])
def test_equal_policies_weigh_every_token_once(name: str) -> None:
    rng = np.random.default_rng(3)
    logprobs, mask = rng.normal(size=(5, 6)), rng.random((5, 6)) < 0.5
    np.testing.assert_array_equal(find_correction(name)(logprobs, logprobs, mask), mask)


def test_composition_multiplies() -> None:
    product = compose(sequence_truncation, sequence_truncation)(TRAINED, SAMPLED, BOTH)
    np.testing.assert_allclose(product, 1.00701**2, atol=1e-9)


def test_a_missing_sampling_log_probability_counts_as_equal() -> None:
    np.testing.assert_allclose(sequence_ratio(TRAINED, np.array([[np.nan, np.log(0.5)]]), BOTH), 1.002)


def test_the_report_by_hand() -> None:
    trained, sampled = np.log([[2.0, 2.0], [0.5, 1.0]]), np.zeros((2, 2))
    mask = np.array([[True, True], [True, False]])
    report = correction_report(trained, sampled, mask, np.array([[3.0, 3.0], [0.0, 0.0]]))
    assert report["rho_sequence_max"] == pytest.approx(4)
    assert report["rho_sequence_mean"] == pytest.approx(2.25)
    assert report["rho_geometric_max"] == pytest.approx(2)
    assert report["rho_token_min"] == pytest.approx(0.5)
    assert report["approximate_kl"] == pytest.approx(-np.log(2) / 3)
    assert report["masked_share"] == 0.5
    assert report["masked_token_share"] == pytest.approx(1 / 3)
    assert report["effective_sample_size"] == pytest.approx(0.5)


def test_effective_sample_size_of_equal_lone_and_no_weights() -> None:
    assert effective_sample_size(np.full(4, 1e300)) == pytest.approx(1)
    assert effective_sample_size(np.array([0.0, 5.0, 0.0, 0.0])) == pytest.approx(0.25)
    assert effective_sample_size(np.zeros(3)) == 0


def test_a_wrong_name_or_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown correction 'geometric-maks'; did you mean 'geometric-mask'"):
        find_correction("sequence-truncation+geometric-maks")
    with pytest.raises(ValueError, match=r"must share one shape \[replies, tokens\]"):
        sequence_ratio(np.zeros((2, 3)), np.zeros((2, 2)), np.ones((2, 3), dtype=bool))


@pytest.mark.parametrize("name", [*CORRECTIONS, "sequence-truncation+geometric-mask"])
def test_impossible_tokens_give_numbers(name: str) -> None:
    impossible = -np.inf
    trained = np.array([[impossible, -1.0], [impossible, impossible], [-1.0, np.nan]])
    sampled = np.array([[-1.0, impossible], [impossible, -1.0], [impossible, -1.0]])
    mask = np.ones((3, 2), dtype=bool)
    weights = find_correction(name)(trained, sampled, mask)
    assert np.isfinite(weights).all()
    assert np.isfinite(list(correction_report(trained, sampled, mask, weights).values())).all()


def test_differences_of_single_precision_are_taken_in_double() -> None:
    trained, sampled = np.array([[-10.0]], dtype=np.float32), np.array([[-0.1]], dtype=np.float32)
    assert float(trained[0, 0] - sampled[0, 0]) != float(trained[0, 0]) - float(sampled[0, 0])
    found = log_ratios(trained, sampled, np.ones((1, 1), dtype=bool))
    assert found[0, 0] == float(trained[0, 0]) - float(sampled[0, 0])


def test_a_token_impossible_for_one_policy_gives_the_bound_without_a_warning() -> None:
    trained, sampled = np.array([[-np.inf], [0.0], [-np.inf]]), np.array([[0.0], [-np.inf], [-np.inf]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = sequence_ratio(trained, sampled, np.ones((3, 1), dtype=bool))
    np.testing.assert_allclose(found, [np.exp(-20), np.exp(20), 1.0], rtol=1e-12)


def test_each_reply_has_the_ratio_of_its_own_tokens() -> None:
    trained = np.log([[2.0, 8.0, 1.0], [0.5, 7.0, 7.0]])
    mask = np.array([[True, True, True], [True, False, False]])
    np.testing.assert_allclose(geometric_ratio(trained, np.zeros((2, 3)), mask), [16 ** (1 / 3), 0.5], rtol=1e-12)
    np.testing.assert_allclose(sequence_ratio(trained, np.zeros((2, 3)), mask), [16.0, 0.5], rtol=1e-12)
    np.testing.assert_array_equal(geometric_ratio(trained, np.zeros((2, 3)), ~mask), geometric_ratio(
        trained, np.zeros((2, 3)), (~mask).astype(np.int64)
    ))  # fmt: skip


def test_the_bounds_of_both_masks_belong_to_what_is_kept() -> None:
    equal, one = np.full((1, 1), -2.0), np.ones((1, 1), dtype=bool)
    for masking in (geometric_mask, token_mask):
        assert masking(equal, equal, one, low=1.0, high=1.0) == 1.0
        assert masking(equal, equal, one, low=1.0, high=9.0) == masking(equal, equal, one, low=0.0, high=1.0) == 1.0
        assert masking(equal, equal, one, low=1.001, high=9.0) == masking(equal, equal, one, low=0, high=0.999) == 0.0


@pytest.mark.parametrize(("ratio", "kept"), [(0.49, 0.0), (0.51, 0.51), (1.99, 1.99), (2.01, 0.0)])
def test_single_tokens_are_kept_between_a_half_and_two(ratio: float, kept: float) -> None:
    found = token_mask(np.log([[ratio]]), np.zeros((1, 1)), np.ones((1, 1), dtype=bool))
    np.testing.assert_allclose(found, [[kept]], rtol=1e-12)


def test_a_lone_name_is_that_correction_and_none_composed_is_the_mask() -> None:
    assert find_correction("geometric-mask") is geometric_mask
    found = compose()(TRAINED, SAMPLED, np.array([[True, False]]))
    assert found.dtype == np.float64
    assert found.tolist() == [[1.0, 0.0]]


def test_a_name_like_no_other_gets_the_list_alone() -> None:
    with pytest.raises(ValueError) as caught:
        find_correction("zzz")
    assert str(caught.value).startswith("unknown correction 'zzz'")
    assert "did you mean" not in str(caught.value)
    assert str(caught.value).endswith(f": {', '.join(CORRECTIONS)}")
    with pytest.raises(
        ValueError, match=r"^logprobs, sampling_logprobs and mask must .* got \(2,\), \(2,\) and \(2,\)$"
    ):
        sequence_ratio(np.zeros(2), np.zeros(2), np.ones(2, dtype=bool))


def test_a_report_without_tokens_says_that_nothing_differs() -> None:
    empty = np.zeros((2, 3))
    report = correction_report(empty, empty, empty.astype(bool), empty)
    ratios = {
        f"rho_{name}_{part}": 1.0 for name in ("sequence", "geometric", "token") for part in ("mean", "min", "max")
    }
    rest = {"effective_sample_size": 0.0, "masked_share": 0.0, "masked_token_share": 0.0, "approximate_kl": 0.0}
    assert report == ratios | rest


def test_the_report_takes_numbers_for_a_mask_and_weighs_replies_of_any_length_alike() -> None:
    trained, sampled = np.log([[0.5, 0.25], [0.5, 1.0]]), np.zeros((2, 2))
    mask = np.array([[1, 1], [1, 0]])
    report = correction_report(trained, sampled, mask, mask.astype(np.float64))
    assert report == correction_report(trained, sampled, mask.astype(bool), mask.astype(np.float64))
    assert report["effective_sample_size"] == pytest.approx(1.0)
    assert [report[f"rho_token_{part}"] for part in ("min", "mean", "max")] == pytest.approx([0.25, 1.25 / 3, 0.5])
    assert [report[f"rho_sequence_{part}"] for part in ("min", "mean", "max")] == pytest.approx([0.125, 0.3125, 0.5])


def test_more_than_half_of_the_replies_masked_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    equal, mask = np.zeros((5, 1)), np.ones((5, 1), dtype=bool)
    with caplog.at_level(logging.WARNING):
        correction_report(equal[:4], equal[:4], mask[:4], np.array([[1.0], [1.0], [0.0], [0.0]]))
        assert caplog.messages == []
        correction_report(equal, equal, mask, np.array([[1.0], [1.0], [0.0], [0.0], [0.0]]))
    assert caplog.messages == [
        "60 % of the replies are masked out; lower the learning rate or take fewer steps for each batch"
    ]


def test_effective_sample_size_of_unequal_and_of_no_replies() -> None:
    assert effective_sample_size(np.array([1.0, 0.5])) == pytest.approx(0.9)
    assert effective_sample_size(np.array([])) == 0.0
