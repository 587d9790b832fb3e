"""Rows of verl (b178a3c, Apache-2.0), RAGEN (20daedc, Apache-2.0) and verl-agent, as noted; the rest by hand."""

from __future__ import annotations

import numpy as np
import pytest

from horizon_bench.credit.arrays import whiten
from horizon_bench.credit.tokens import (
    bi_level_gae,
    token_gae,
    token_grpo,
    token_grpo_best,
    token_reinforce_plus_plus,
    token_reinforce_plus_plus_baseline,
    token_returns,
    token_rloo,
)


def test_scores_stand_on_every_generated_token() -> None:
    rewards, mask = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[1.0, 1.0], [1.0, 0.0]])
    groups = np.array([0, 0])
    np.testing.assert_allclose(token_grpo(rewards, mask, groups, scale="none"), [[0.5, 0.5], [-0.5, 0]])
    np.testing.assert_allclose(token_rloo(rewards, mask, groups), [[1, 1], [-1, 0]])
    np.testing.assert_allclose(token_grpo_best(rewards, mask, groups, scale="none"), [[1, 1], [0, 0]])
    baseline = token_reinforce_plus_plus_baseline(rewards, mask, groups)
    np.testing.assert_allclose(baseline, whiten(np.array([[0.5, 0.5], [-0.5, -0.5]]), weights=mask) * mask)


def test_a_floor_under_the_variance_damps_tiny_spreads() -> None:
    rewards = np.array([[0.5], [0.5 + 1e-5]])
    loop = token_grpo(rewards, np.ones((2, 1)), np.array([0, 0]))
    floored = token_grpo(rewards, np.ones((2, 1)), np.array([0, 0]), variance_floor=1e-6)
    assert abs(floored[1, 0]) < 0.01 < abs(loop[1, 0])


def test_a_masked_token_cuts_the_return() -> None:
    returns = token_returns(np.array([[0.0, 0.0, 2.0]]), np.array([[1.0, 0.0, 1.0]]), gamma=0.5)
    np.testing.assert_allclose(returns, [[0, 1, 2]])
    whole = token_returns(np.array([[0.0, 0.0, 2.0]]), np.ones((1, 3)), gamma=0.5)
    np.testing.assert_allclose(whole, [[0.5, 1, 2]])


def test_reinforce_plus_plus_reproduces_a_verl_row() -> None:
    rewards = np.array([[0, 0, -0.4285, 0, 0], [0, 0, 0, 0, -0.6071], [0, 0, 0, 0, 0.1476]])
    mask = np.array([[1.0, 1, 1, 0, 0], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1]])
    found = token_reinforce_plus_plus(rewards, mask)
    expected = np.array([-0.430264493696, -0.932900015748, 1.19105871041])[:, None] * mask
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_gae_reproduces_a_verl_row() -> None:
    rewards, values = np.array([[-1.0259, 0, 0, 0, 0]]), np.array([[0.1641, -0.0188, -0.7359, -0.505, -0.2829]])
    mask = np.array([[1.0, 1, 0, 0, 0]])
    found = token_gae(rewards, values, mask, gamma=0.95, lam=0.0)
    np.testing.assert_allclose(found, [[-1.20786, 0.0188, 0, 0, 0]], atol=1e-9)
    np.testing.assert_allclose(whiten(found, weights=mask)[0, :2], [-0.707106781682, 0.707106774828], rtol=1e-7)


def test_the_older_form_lets_padded_values_leak() -> None:
    """verl-agent at commit db9347f."""
    rewards, values = np.zeros((1, 5)), np.array([[-0.254, 0.394, -0.087, 1.106, 0.388]])
    mask = np.array([[1.0, 1, 1, 1, 0]])
    found = token_gae(rewards, values, mask, gamma=1.0, lam=1.0, masked_tokens="ignore-mask")
    np.testing.assert_allclose(found, [[0.254, -0.394, 0.087, -1.106, -0.388]], atol=1e-12)


def test_bi_level_estimates_reproduce_a_row_of_ragen() -> None:
    rewards = np.array([[-1.102, 0, 0, 0.79, 0, 0, 0, 0]])
    values = np.array([[0.529, -0.279, 0.204, 0.474, -0.147, 0.723, 0.552, -0.597]])
    mask = np.array([[1.0, 0, 1, 1, 0, 0, 0, 0]])
    found = bi_level_gae(rewards, values, mask, gamma=0.95, lam=1.0, turn_gamma=1.0)
    np.testing.assert_allclose(found, [[-0.841, 0, 0.5465, 0.316, 0, 0, 0, 0]], atol=1e-9)


def test_tokens_behind_the_last_turn_are_refused() -> None:
    with pytest.raises(ValueError, match="row 0 has generated tokens behind its last non-zero reward"):
        bi_level_gae(np.zeros((1, 2)), np.zeros((1, 2)), np.ones((1, 2)), gamma=1.0, lam=1.0, turn_gamma=1.0)


def test_integers_and_lists_lose_no_fraction() -> None:
    rewards, mask, nothing = [[0, 0, 1]], [[1, 1, 1]], [[0, 0, 0]]
    for kind in (list, np.array):
        np.testing.assert_allclose(token_returns(kind(rewards), kind(mask), gamma=0.5), [[0.25, 0.5, 1]])
        found = token_gae(kind(rewards), kind(nothing), kind(mask), gamma=0.5, lam=0.5)
        np.testing.assert_allclose(found, [[0.0625, 0.25, 1]])
        found = bi_level_gae(kind(rewards), kind(nothing), kind(mask), gamma=0.5, lam=0.5, turn_gamma=1.0)
        np.testing.assert_allclose(found, [[0.0625, 0.25, 1]])


def test_groups_carry_any_labels() -> None:
    rewards, mask = [[3], [1], [0], [4]], [[1]] * 4
    named, numbered = ["b", "b", "a", "a"], [7, 7, 2, 2]
    for function in (token_grpo, token_grpo_best, token_rloo, token_reinforce_plus_plus_baseline):
        np.testing.assert_array_equal(function(rewards, mask, named), function(rewards, mask, numbered))


def test_arrays_of_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="share one shape"):
        token_grpo(np.ones((2, 3)), np.ones((2, 2)), [0, 0])
    with pytest.raises(ValueError, match="share one shape"):
        token_returns(np.ones(3), np.ones(3))
