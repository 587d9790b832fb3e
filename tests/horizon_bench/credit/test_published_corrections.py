from __future__ import annotations

import json
import pathlib
import warnings
from typing import Any

import numpy as np
import pytest

from horizon_bench.credit.corrections import token_truncation
from horizon_bench.credit.published_corrections import (
    Rejection,
    trl_weights,
    verl_normalizer,
    verl_old_rejection_mask,
    verl_policy_metrics,
    verl_rejected_shares,
    verl_rejection_mask,
    verl_weight_metrics,
    verl_weights,
)

Case = dict[str, Any]


def test_every_shared_case_of_the_corrections_is_reproduced(shared_data: pathlib.Path) -> None:
    cases = json.loads((shared_data / "credit" / "is_weights.json").read_text(encoding="utf8"))
    failures = []
    for case in cases:
        inputs = case["inputs"]
        check = (
            check_trl if inputs["variant"] == "trl" else check_verl if inputs["variant"] == "verl" else check_verl_old
        )
        try:
            check(inputs, case["expected"], case["tol"])
        except AssertionError as error:
            failures.append(f"{case['id']}: {error}")
    assert not failures, "\n".join(failures)
    assert len(cases) >= 53


def close(found: Any, expected: Any, tol: Case) -> None:
    np.testing.assert_allclose(np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64), **tol)


def read(inputs: Case, name: str) -> np.ndarray:
    return np.array([[np.nan if x is None else x for x in row] for row in inputs[name]])


def check_verl(inputs: Case, expected: Case, tol: Case) -> None:
    arrays = [read(inputs, name) for name in ("log_prob_train", "log_prob_rollout", "response_mask")]
    mask, found = arrays[2], {}
    if inputs.get("rollout_is"):
        options = {"level": inputs["rollout_is"], "cap": inputs["rollout_is_threshold"]}
        normalized = bool(inputs.get("rollout_is_batch_normalize"))
        close(verl_weights(*arrays, batch_normalized=normalized, **options), expected["weights"], tol)
        found |= verl_weight_metrics(*arrays, **options)
        if normalized:
            found["batch_norm_factor"] = verl_normalizer(verl_weights(*arrays, **options), mask, level=options["level"])
    kept = mask
    if inputs.get("rollout_rs"):
        kept = verl_rejection_mask(*arrays, Rejection.parse(inputs["rollout_rs"], inputs["rollout_rs_threshold"]))
        found["rs_masked_fraction"], found["rs_seq_masked_fraction"] = verl_rejected_shares(mask, kept)
    close(kept, expected["mask"], tol)
    found |= verl_policy_metrics(*arrays)
    for name, value in expected.items():
        if name not in ("weights", "mask"):
            np.testing.assert_allclose(found[name], value, err_msg=name, **tol)


def check_verl_old(inputs: Case, expected: Case, tol: Case) -> None:
    arrays = [read(inputs, name) for name in ("log_prob_train", "log_prob_rollout", "response_mask")]
    level = inputs["variant"].removeprefix("verl_old_")
    kept = verl_old_rejection_mask(*arrays, level=level, low=inputs["lower"], high=inputs["upper"])
    close(kept, expected["mask"], tol)
    shares = verl_rejected_shares(arrays[2], kept)
    close(shares, [expected["rs_masked_fraction"], expected["rs_seq_masked_fraction"]], tol)
    if "token_weights_capped" in expected:
        found = token_truncation(arrays[0], arrays[1], arrays[2] > 0, cap=inputs["token_is_cap"])
        close(found, expected["token_weights_capped"], tol)


def check_trl(inputs: Case, expected: Case, tol: Case) -> None:
    mask = read(inputs, "completion_mask")
    if inputs["tool_mask"] is not None:
        mask = mask * read(inputs, "tool_mask")
    found = trl_weights(
        read(inputs, "log_prob_train"),
        read(inputs, "log_prob_rollout"),
        mask,
        mode=inputs["mode"],
        low=inputs["clip_min"],
        high=inputs["clip_max"],
    )
    close(found, expected["ratio"], tol)


def test_what_stands_at_masked_tokens_does_not_matter() -> None:
    trained, sampled, mask = np.array([[-1.0, -2.0]]), np.array([[-1.1, -2.0]]), np.array([[1.0, 0.0]])
    rubbish = np.where(mask > 0, trained, np.nan), np.where(mask > 0, sampled, -np.inf), mask
    rules = Rejection.parse("seq_mean_k1,token_k3,seq_max_k2", "0.5_2.0,0.1,0.1")
    for function, options in (
        (verl_weights, {"level": "sequence"}),
        (verl_weights, {"level": "token", "batch_normalized": True}),
        (verl_rejection_mask, {"rules": rules}),
        (verl_old_rejection_mask, {"level": "geometric", "low": None, "high": 1.2}),
        (trl_weights, {}),
    ):
        np.testing.assert_array_equal(function(*rubbish, **options), function(trained, sampled, mask, **options))
    assert verl_policy_metrics(*rubbish) == verl_policy_metrics(trained, sampled, mask)
    assert verl_weight_metrics(*rubbish, level="token") == verl_weight_metrics(trained, sampled, mask, level="token")


def test_lists_are_taken_and_other_shapes_refused() -> None:
    np.testing.assert_allclose(verl_weights([[0.0, 0.0]], [[0.0, 0.0]], [[1, 0]], level="token"), [[1, 0]])
    np.testing.assert_allclose(trl_weights([[0.0, 0.0]], [[0.0, 0.0]], [[1, 0]]), [[1]])
    with pytest.raises(ValueError, match="share one shape"):
        verl_weights(np.zeros((1, 2)), np.zeros((1, 3)), np.ones((1, 2)), level="token")
    with pytest.raises(ValueError, match="holds no token"):
        verl_weight_metrics(np.zeros((1, 2)), np.zeros((1, 2)), np.zeros((1, 2)), level="token")


# Two replies of two tokens, the last token masked; ratios pi / mu are 2, 4 and 0.5.
TRAINED, SAMPLED = np.log([[0.4, 0.8], [0.1, 0.9]]), np.log([[0.2, 0.2], [0.2, 0.3]])
MASK = np.array([[1.0, 1.0], [1.0, 0.0]])
CASE = (TRAINED, SAMPLED, MASK)


def test_verl_truncates_the_ratio_of_the_token_or_of_the_row() -> None:
    np.testing.assert_allclose(verl_weights(*CASE, level="token"), [[2, 2], [0.5, 0]], rtol=1e-12)
    np.testing.assert_allclose(verl_weights(*CASE, level="token", cap=3.0), [[2, 3], [0.5, 0]], rtol=1e-12)
    np.testing.assert_allclose(verl_weights(*CASE, level="sequence", cap=6.0), [[6, 6], [0.5, 0]], rtol=1e-12)
    np.testing.assert_allclose(verl_weights(*CASE, level="sequence"), [[2, 2], [0.5, 0]], rtol=1e-12)


def test_normalised_weights_have_a_mean_of_one_over_tokens_or_rows() -> None:
    found = verl_weights(*CASE, level="token", cap=9.0, batch_normalized=True)
    np.testing.assert_allclose(found, np.array([[2, 4], [0.5, 0]]) / (6.5 / 3), rtol=1e-7)
    found = verl_weights(*CASE, level="sequence", cap=9.0, batch_normalized=True)
    np.testing.assert_allclose(found, np.array([[8, 8], [0.5, 0]]) / 4.25, rtol=1e-7)
    empty_row = [np.vstack([array, [[0.0, 0.0]]]) for array in CASE]
    weights = verl_weights(*empty_row, level="sequence", cap=9.0)
    assert verl_normalizer(weights, empty_row[2], level="sequence") == pytest.approx(4.25)
    nothing = np.zeros((1, 2))
    assert verl_normalizer(nothing, nothing, level="sequence") == 0.0
    assert verl_weights(nothing, nothing, nothing, level="sequence", batch_normalized=True).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize(
    ("names", "bounds", "kept"),
    [
        ("token_k1", "0.3_1.0", [[1, 0], [0, 0]]),
        ("token_k1", "0.3_3.0", [[1, 0], [1, 0]]),
        ("token_k1", "0.2_3.0", [[1, 1], [1, 0]]),
        ("token_k1", "3", [[1, 0], [1, 0]]),
        ("token_k1", "4.001", [[1, 1], [1, 0]]),
        ("seq_sum_k1", "0.1_3.0", [[1, 1], [1, 0]]),
        ("seq_sum_k1", "0.13_3.0", [[0, 0], [1, 0]]),
        ("seq_mean_k1", "0.3_3.0", [[1, 1], [1, 0]]),
        ("seq_mean_k1", "0.36_3.0", [[0, 0], [1, 0]]),
        ("seq_max_k1", "0.4_1.9", [[1, 1], [0, 0]]),
        ("token_k2", "0.25", [[1, 0], [1, 0]]),
        ("token_k2", "0.23", [[0, 0], [0, 0]]),
        ("seq_sum_k2", "1.21", [[1, 1], [1, 0]]),
        ("seq_sum_k2", "1.19", [[0, 0], [1, 0]]),
        ("seq_mean_k2", "0.601", [[1, 1], [1, 0]]),
        ("seq_mean_k2", "0.599", [[0, 0], [1, 0]]),
        ("seq_max_k2", "0.97", [[1, 1], [1, 0]]),
        ("seq_max_k2", "0.95", [[0, 0], [1, 0]]),
        ("token_k3", "0.2", [[0, 0], [1, 0]]),
        ("token_k3", "0.31", [[1, 0], [1, 0]]),
        ("token_k3", "1.62", [[1, 1], [1, 0]]),
        ("token_k3,seq_sum_k1", "0.31,0.1_1.9", [[1, 0], [0, 0]]),
    ],
)
def test_rejection_keeps_what_lies_within_the_bounds(names: str, bounds: str, kept: list[list[float]]) -> None:
    """k1 of the tokens: -log 2, -log 4, log 2; k2: 0.24, 0.96, 0.24; k3: 0.307, 1.614, 0.193."""
    assert verl_rejection_mask(*CASE, Rejection.parse(names, bounds)).tolist() == kept


def test_rules_are_read_with_one_bound_or_two() -> None:
    assert Rejection.parse("token_k1, seq_mean_k3", "0.5_2.0,0.1") == (
        Rejection("token", "k1", 0.5, 2.0),
        Rejection("seq_mean", "k3", None, 0.1),
    )
    with pytest.raises(ValueError, match=r"^'token_k1' are 1 rules, but '1,2' bounds 2; give as many$"):
        Rejection.parse("token_k1", "1,2")
    for bounds in ("1_2_3", "a", "", "1_b"):
        with pytest.raises(ValueError) as caught:
            Rejection.parse("token_k1", bounds)
        assert str(caught.value) == f"bounds {bounds!r} of 'token_k1' should read HIGH or LOW_HIGH, in numbers"
    with pytest.raises(ValueError, match=r"rejection level.*'row'.*token, seq_sum, seq_mean, seq_max$"):
        Rejection.parse("row_k1", "1")
    with pytest.raises(ValueError, match=r"rejection statistic.*'k4'.*k1, k2, k3$"):
        Rejection.parse("token_k4", "1")


def test_log_ratios_are_bounded_before_they_are_summed() -> None:
    far = np.array([[30.0, -30.0]]), np.zeros((1, 2)), np.ones((1, 2))
    assert verl_rejection_mask(*far, Rejection.parse("seq_sum_k1", "0.99_1.01")).tolist() == [[1, 1]]
    assert verl_rejection_mask(*far, Rejection.parse("token_k2", "200.1")).tolist() == [[1, 1]]
    assert verl_rejection_mask(*far, Rejection.parse("token_k2", "199.9")).tolist() == [[0, 0]]
    assert verl_rejection_mask(*far, Rejection.parse("token_k1", "1e-8_1e9")).tolist() == [[0, 1]]
    empty = np.zeros((1, 2)), np.zeros((1, 2)), np.zeros((1, 2))
    assert verl_rejection_mask(*empty, Rejection.parse("seq_max_k1", "0.9_1.1")).tolist() == [[0, 0]]


@pytest.mark.parametrize(
    ("level", "low", "high", "kept"),
    [
        ("token", 1.0, 3.0, [[1, 0], [0, 0]]),
        ("token", 0.4, 4.1, [[1, 1], [1, 0]]),
        ("token", None, 3.0, [[1, 0], [1, 0]]),
        ("token", None, 1.9, [[0, 0], [0, 0]]),
        ("sequence", 0.4, 7.9, [[0, 0], [1, 0]]),
        ("sequence", 0.6, 8.1, [[1, 1], [0, 0]]),
        ("geometric", 0.4, 2.9, [[1, 1], [1, 0]]),
        ("geometric", 0.4, 2.8, [[0, 0], [1, 0]]),
        ("geometric", None, 2.9, [[1, 1], [1, 0]]),
    ],
)
def test_the_older_mask_bounds_the_ratio_itself(level, low, high, kept) -> None:
    assert verl_old_rejection_mask(*CASE, level=level, low=low, high=high).tolist() == kept


def test_the_bounds_of_the_older_mask_belong_to_it() -> None:
    equal = np.zeros((1, 1)), np.zeros((1, 1)), np.ones((1, 1))
    for level in ("token", "sequence", "geometric"):
        assert verl_old_rejection_mask(*equal, level=level, low=1.0, high=2.0).tolist() == [[1]]
        assert verl_old_rejection_mask(*equal, level=level, low=0.5, high=1.0).tolist() == [[1]]
    with pytest.raises(ValueError, match=r"level.*'row'"):
        verl_old_rejection_mask(*equal, level="row", low=1.0, high=2.0)
    with pytest.raises(ValueError, match=r"level.*'row'.*token, sequence$"):
        verl_weights(*equal, level="row")


def test_shares_of_rejected_tokens_and_rows() -> None:
    kept = np.array([[1.0, 0.0], [1.0, 0.0]])
    tokens, rows = verl_rejected_shares(MASK, kept)
    assert tokens == pytest.approx(1 / 3)
    assert rows == 0.5


def test_figures_of_weights_over_tokens() -> None:
    bounded = np.array([2.0, 3.0, 0.5])
    found = verl_weight_metrics(*CASE, level="token", cap=3.0)
    assert found == pytest.approx(
        {
            "is_mean": 6.5 / 3, "is_std": bounded.std(), "ess_fraction": bounded.mean() ** 2 / (bounded**2).mean(),
            "is_max": 4.0, "is_min": 0.5, "is_fraction_high": 1 / 3, "is_fraction_low": 0.0,
        }, rel=1e-6,
    )  # fmt: skip
    assert verl_weight_metrics(*CASE, level="token", cap=1.5)["is_fraction_low"] == pytest.approx(1 / 3)
    default = verl_weight_metrics(*CASE, level="token")
    assert default == verl_weight_metrics(*CASE, level="token", cap=2.0)
    with pytest.raises(ValueError, match=r"^the mask holds no token, so there are no weights to describe$"):
        verl_weight_metrics(TRAINED, SAMPLED, np.zeros((2, 2)), level="token")


def test_figures_of_weights_over_rows() -> None:
    bounded = np.array([3.0, 3.0, 0.5])
    found = verl_weight_metrics(*CASE, level="sequence", cap=3.0)
    assert found == pytest.approx(
        {
            "is_mean": 16.5 / 3, "is_std": bounded.std(), "ess_fraction": bounded.mean() ** 2 / (bounded**2).mean(),
            "is_max": 8.0, "is_min": 0.5, "is_fraction_high": 0.5, "is_fraction_low": 0.0,
        }, rel=1e-6,
    )  # fmt: skip
    assert verl_weight_metrics(*CASE, level="sequence", cap=1.5)["is_fraction_low"] == 0.5
    far = np.array([[30.0], [-30.0]]), np.zeros((2, 1)), np.ones((2, 1))
    found = verl_weight_metrics(*far, level="sequence")
    assert found["is_max"] == pytest.approx(np.exp(20))
    assert found["is_min"] == pytest.approx(np.exp(-30))
    equal = np.zeros((1, 1)), np.zeros((1, 1)), np.ones((1, 1))
    assert verl_weight_metrics(*equal, level="token")["is_std"] == pytest.approx(0.0, abs=1e-3)


def test_distances_of_the_policies() -> None:
    logs = np.log([2.0, 4.0, 0.5])
    training = np.array([np.log(0.4 * 0.8) / 2, np.log(0.1)])
    rollout = np.array([np.log(0.2 * 0.2) / 2, np.log(0.2)])
    gap = rollout - training
    assert verl_policy_metrics(*CASE) == pytest.approx(
        {
            "kl": -logs.mean(), "k3_kl": (6.5 - logs.sum()) / 3 - 1, "training_log_ppl": -training.mean(),
            "rollout_log_ppl": -rollout.mean(), "log_ppl_diff": gap.mean(), "log_ppl_abs_diff": np.abs(gap).mean(),
            "ppl_ratio": np.exp(gap).mean(), "chi2_token": (4 + 16 + 0.25) / 3 - 1, "chi2_seq": (64 + 0.25) / 2 - 1,
        }, rel=1e-6,
    )  # fmt: skip
    far = np.array([[30.0, 30.0]]), np.zeros((1, 2)), np.ones((1, 2))
    found = verl_policy_metrics(*far)
    assert found["chi2_token"] == pytest.approx(np.exp(40.0))
    assert found["chi2_seq"] == pytest.approx(np.exp(40.0))
    assert found["k3_kl"] == pytest.approx(np.exp(30.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert verl_policy_metrics(np.array([[1e4]]), np.zeros((1, 1)), np.ones((1, 1)))["k3_kl"] == np.inf


@pytest.mark.parametrize(
    ("mode", "found"),
    [
        ("token_truncate", [[2, 3], [0.75, 1]]),
        ("token_mask", [[2, 0], [0, 1]]),
        ("sequence_truncate", [[3], [0.75]]),
        ("sequence_mask", [[0], [0]]),
    ],
)
def test_trl_truncates_or_masks_tokens_or_rows(mode, found) -> None:
    np.testing.assert_allclose(trl_weights(*CASE, mode=mode, low=0.75, high=3.0), found, rtol=1e-12)


def test_trl_bounds_nothing_unless_asked() -> None:
    np.testing.assert_allclose(trl_weights(*CASE), [[0], [0.5]], rtol=1e-12)
    np.testing.assert_allclose(trl_weights(*CASE, high=None), [[8], [0.5]], rtol=1e-12)
    np.testing.assert_allclose(trl_weights(*CASE, high=8.001), [[8], [0.5]], rtol=1e-12)
    equal = np.zeros((1, 1)), np.zeros((1, 1)), np.ones((1, 1))
    assert trl_weights(*equal, low=1.0, high=1.0) == 1.0
    far = np.array([[800.0], [np.nan], [-np.inf], [0.0]]), np.array([[0.0], [0.0], [0.0], [-np.inf]]), np.ones((4, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        truncated = trl_weights(*far, mode="sequence_truncate", high=5.0)
    assert truncated.tolist() == [[5.0], [1.0], [0.0], [5.0]]
    assert trl_weights(*far, high=None).tolist() == [[np.inf], [1.0], [0.0], [np.inf]]
    with pytest.raises(ValueError, match=r"mode.*'row'.*sequence_mask$"):
        trl_weights(*equal, mode="row")


def test_masked_tokens_are_no_extremes() -> None:
    """One token of ratio 2 beside a masked one, which would count with ratio 1 and k1 0."""
    case = np.log([[0.4, 0.5]]), np.log([[0.2, 0.1]]), np.array([[1.0, 0.0]])
    assert verl_rejection_mask(*case, Rejection.parse("seq_max_k1", "0.4_0.9")).tolist() == [[1.0, 0.0]]
    assert verl_weight_metrics(*case, level="token")["is_min"] == pytest.approx(2.0)
    halved = np.log([[0.1, 0.5]]), np.log([[0.2, 0.1]]), np.array([[1.0, 0.0]])
    assert verl_weight_metrics(*halved, level="token")["is_max"] == pytest.approx(0.5)


def test_trl_masks_rows_beyond_three_by_default() -> None:
    pairs = np.log([[2.9], [3.5]]), np.zeros((2, 1)), np.ones((2, 1))
    np.testing.assert_allclose(trl_weights(*pairs), [[2.9], [0.0]], rtol=1e-12)


def test_names_of_what_is_unknown_stand_in_the_error() -> None:
    equal = np.zeros((1, 1)), np.zeros((1, 1)), np.ones((1, 1))
    for call, words in (
        (lambda: Rejection.parse("row_k1", "1"), r"unknown rejection level 'row'"),
        (lambda: Rejection.parse("token_k4", "1"), r"unknown rejection statistic 'k4'"),
        (lambda: trl_weights(*equal, mode="row"), r"unknown mode 'row'"),
        (lambda: verl_weights(*equal, level="row"), r"unknown level 'row'"),
        (lambda: verl_old_rejection_mask(*equal, level="row", low=1.0, high=2.0), r"unknown level 'row'"),
    ):
        with pytest.raises(ValueError, match=f"^{words}"):
            call()
