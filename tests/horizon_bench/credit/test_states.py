from __future__ import annotations

import numpy as np
import pytest

from horizon_bench.credit import CreditBatch
from horizon_bench.credit.groups import group_relative, grpo
from horizon_bench.credit.states import gigpo, hindsight, pair_labels, similar_states, state_groups, step_advantages


def crossing(groups: tuple[str, str] = ("g", "g")) -> CreditBatch:
    """Two episodes that meet in state s: one succeeds from there, one does not."""
    return CreditBatch.from_ragged(
        [[0.0, 1.0], [0.0, 0.0]], group=groups, states=[["a", "s"], ["b", "s"]], actions=[["x", "y"], ["x", "z"]]
    )


def test_a_shared_state_compares_its_decisions() -> None:
    np.testing.assert_allclose(step_advantages(crossing(), scale="none"), [0, 0.5, 0, -0.5], atol=1e-12)
    np.testing.assert_allclose(gigpo(crossing(), scale="none", weight=2.0), [0.5, 1.5, -0.5, -1.5], atol=1e-12)


def test_states_of_different_groups_are_different() -> None:
    assert not step_advantages(crossing(("g", "h"))).any()


def test_repeated_visits_within_an_episode_are_compared() -> None:
    batch = CreditBatch.from_ragged([[0.0, 1.0]], states=[["s", "s"]])
    np.testing.assert_allclose(step_advantages(batch, gamma=0.5, scale="none"), [-0.25, 0.25], atol=1e-12)


def test_the_released_default_reproduces_a_row() -> None:
    """GiGPO's code at commit db9347f (verl-agent, Apache-2.0), mode mean_norm, weight 0, episodes of group g0."""
    batch = CreditBatch.from_ragged([[0.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0, 10.0], [1.0]])
    found = gigpo(batch, weight=0.0, scale="none", single="raw")
    np.testing.assert_allclose(found, [-3.0] * 2 + [6.0] * 6 + [-3.0], atol=1e-9)


def test_hindsight_praises_the_action_that_succeeds_more_often_than_its_state() -> None:
    """Success from s is 1/2; after y it is 1, after z 0; the first decisions' states are seen once."""
    np.testing.assert_allclose(hindsight(crossing(), scale="none"), [0.5, 1.0, -0.5, -1.0], atol=1e-12)


def test_similar_texts_share_a_state_within_their_group() -> None:
    texts = ["a red door", "a red door!", "a stove", "a red door"]
    assert similar_states(texts, [0, 0, 0, 1], 0.8).tolist() == [0, 0, 1, 2]


def test_the_discount_is_checked() -> None:
    with pytest.raises(ValueError, match="gamma is -1"):
        gigpo(crossing(), gamma=-1)


def test_similar_states_are_kept_apart_by_any_group_labels() -> None:
    assert similar_states(["a", "a", "a"], ["x", "y", "x"], 1.0).tolist() == [0, 1, 0]


def test_pairs_are_equal_where_both_labels_are() -> None:
    first, second = np.array([0, 0, 1, 1, 0, 3, 9]), np.array([5, 6, 5, 6, 5, 5, 5])
    labels = pair_labels(first, second)
    same = labels[:, None] == labels[None]
    assert same.tolist() == ((first[:, None] == first[None]) & (second[:, None] == second[None])).tolist()
    far = pair_labels(np.array([0, 10**12, 0]), np.array([10**12, 0, 10**12]))
    assert far[0] == far[2] != far[1]
    assert pair_labels(np.array([], dtype=int), np.array([], dtype=int)).tolist() == []
    assert len(set(state_groups(crossing()).tolist())) == 3


def test_the_step_term_discounts_by_0_95_and_divides_by_the_deviation() -> None:
    batch = CreditBatch.from_ragged([[0.0, 4.0], [1.0]], states=[["s", "t"], ["s"]], group=["g", "g"])
    returns = np.array([3.8, 1.0])
    expected = (returns - 2.4) / (np.std(returns, ddof=1) + 1e-6)
    np.testing.assert_allclose(step_advantages(batch), [expected[0], 0.0, expected[1]], rtol=1e-9)
    expected = (returns - 2.4) / (np.std(returns) + 0.5)
    np.testing.assert_allclose(step_advantages(batch, ddof=0, epsilon=0.5), [expected[0], 0.0, expected[1]], rtol=1e-9)


def test_gigpo_is_the_episode_term_plus_the_weighed_step_term() -> None:
    batch = CreditBatch.from_ragged(
        [[0.0, 4.0], [1.0], [2.0]], states=[["s", "t"], ["s"], ["s"]], group=["g", "g", "h"],
        step_rewards=[[0.0, -1.0], [0.0], [0.0]],
    )  # fmt: skip
    for options in ({}, {"ddof": 0}, {"epsilon": 0.5}, {"scale": "none"}):
        expected = grpo(batch, **options) + step_advantages(batch, **options)
        np.testing.assert_allclose(gigpo(batch, **options), expected, rtol=1e-12)
    for options in ({"single": "raw"}, {"count": "turns"}):
        expected = grpo(batch, **options) + 2 * step_advantages(batch, gamma=0.5)
        np.testing.assert_allclose(gigpo(batch, weight=2.0, gamma=0.5, **options), expected, rtol=1e-12)
    step = np.array([1, -3, 1, 1]) / np.sqrt(3)
    np.testing.assert_allclose(gigpo(batch, alpha=0.5), gigpo(batch) + 0.5 * step, rtol=1e-12)
    np.testing.assert_allclose(hindsight(batch, alpha=0.5), hindsight(batch) + 0.5 * step, rtol=1e-12)


def test_hindsight_weighs_what_an_action_adds_to_its_state() -> None:
    episode = group_relative([1.0, 0.0], [0, 0])[[0, 0, 1, 1]]
    np.testing.assert_allclose(hindsight(crossing()), episode + np.array([0, 0.5, 0, -0.5]), rtol=1e-12)
    np.testing.assert_allclose(hindsight(crossing(), weight=3.0), episode + np.array([0, 1.5, 0, -1.5]), rtol=1e-12)
    population = group_relative([1.0, 0.0], [0, 0], ddof=0)[[0, 0, 1, 1]]
    np.testing.assert_allclose(hindsight(crossing(), ddof=0), population + np.array([0, 0.5, 0, -0.5]), rtol=1e-12)


def test_a_text_as_similar_as_the_threshold_joins_the_first_cluster_like_it() -> None:
    """Two of four letters shared: a ratio of 2 * 2 / 8."""
    assert similar_states(["abcd", "abxy"], [0, 0], 0.5).tolist() == [0, 0]
    assert similar_states(["abcd", "abxy"], [0, 0], 0.51).tolist() == [0, 1]
    assert similar_states(["abcd", "wxyz", "abyz"], [0, 0, 0], 0.5).tolist() == [0, 1, 0]
    assert similar_states([], [], 0.5).dtype == np.int64
    with pytest.raises(ValueError, match="zip"):
        similar_states(["a"], [0, 1], 0.5)
