from __future__ import annotations

import json
import pathlib
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
