from __future__ import annotations

import numpy as np
import pytest

from horizon_bench.credit import CreditBatch
from horizon_bench.credit.states import gigpo, hindsight, similar_states, step_advantages


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
