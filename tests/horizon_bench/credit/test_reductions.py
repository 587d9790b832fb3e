"""Where one estimator is a special case of another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from horizon_bench.credit import ESTIMATORS, CreditBatch
from horizon_bench.credit.arrays import episode_sums, normalize, return_to_go
from horizon_bench.credit.beacon import beacon
from horizon_bench.credit.corrections import find_correction, geometric_mask
from horizon_bench.credit.critics import ppo, vineppo
from horizon_bench.credit.groups import grpo, reinforce_plus_plus, rloo
from horizon_bench.credit.returns import reinforce, subgoal_next
from horizon_bench.credit.states import gigpo


@pytest.fixture
def batch() -> CreditBatch:
    rng = np.random.default_rng(11)
    lengths = rng.integers(1, 9, 24)
    turns = int(lengths.sum())
    return CreditBatch(
        offsets=np.append(0, np.cumsum(lengths)),
        group=np.repeat(np.arange(6), 4),
        rewards=rng.normal(size=turns),
        step_rewards=-rng.integers(0, 2, turns).astype(np.float64),
        subgoals_reached=rng.integers(0, 2, turns),
        own_subgoal_turn=np.full(turns, -1),
        states=rng.integers(0, 5, turns),
        actions=rng.integers(0, 3, turns),
        terminated=rng.random(24) < 0.5,
        values=rng.normal(size=turns),
        final_values=rng.normal(size=24),
    )


def test_subgoal_without_cuts_is_reinforce(batch: CreditBatch) -> None:
    plain = replace(batch, subgoals_reached=np.zeros_like(batch.subgoals_reached))
    np.testing.assert_array_equal(subgoal_next(plain), reinforce(plain))


def test_reinforce_without_normalisation_is_the_discounted_return(batch: CreditBatch) -> None:
    found = reinforce(batch, gamma=0.9, alpha=0.0, normalized=False)
    np.testing.assert_array_equal(found, return_to_go(batch.rewards, batch.offsets, 0.9))


def test_beacon_with_lambda_zero_is_grpo(batch: CreditBatch) -> None:
    np.testing.assert_array_equal(beacon(batch, lam=0.0), grpo(batch))
    np.testing.assert_array_equal(ESTIMATORS["beacon-trajectory"](batch), grpo(batch))


def test_beacon_is_the_sum_of_its_parts(batch: CreditBatch) -> None:
    parts = beacon(batch, part="trajectory") + 0.5 * beacon(batch, part="segment")
    np.testing.assert_allclose(beacon(batch, lam=0.5), parts, atol=1e-12)


def test_gigpo_with_all_states_different_is_grpo(batch: CreditBatch) -> None:
    apart = replace(batch, states=np.arange(batch.turns))
    np.testing.assert_array_equal(gigpo(apart), grpo(apart))


def test_rloo_is_the_centred_return_times_n_over_n_minus_one(batch: CreditBatch) -> None:
    np.testing.assert_allclose(rloo(batch), 4 / 3 * grpo(batch, scale="none"), atol=1e-12)


def test_one_group_of_all_decisions_is_batch_normalisation(batch: CreditBatch) -> None:
    together = replace(batch, group=np.zeros_like(batch.group))
    scores = episode_sums(batch.rewards, batch.offsets)[batch.episode_of_turn]
    np.testing.assert_allclose(grpo(together, count="turns", ddof=0, epsilon=0.0), normalize(scores), atol=1e-12)


def test_ppo_with_lambda_one_and_no_values_is_the_return(batch: CreditBatch) -> None:
    blank = replace(batch, values=np.zeros(batch.turns), final_values=np.zeros(batch.episodes))
    found = ppo(blank, gamma=0.97, lam=1.0)
    np.testing.assert_allclose(found, return_to_go(batch.rewards, batch.offsets, 0.97), atol=1e-12)


def test_ppo_with_lambda_zero_is_vineppo_on_the_same_values(batch: CreditBatch) -> None:
    np.testing.assert_allclose(ppo(batch, gamma=0.9, lam=0.0), vineppo(batch, gamma=0.9), atol=1e-12)


def test_reinforce_plus_plus_with_epsilon_zero_is_normalisation_with_n_minus_one(batch: CreditBatch) -> None:
    returns = return_to_go(batch.rewards, batch.offsets, 1.0)
    np.testing.assert_allclose(reinforce_plus_plus(batch, epsilon=0.0), normalize(returns, ddof=1), atol=1e-12)


def test_the_geometric_mask_with_infinite_bounds_is_no_correction() -> None:
    rng = np.random.default_rng(5)
    logprobs, sampling, mask = rng.normal(size=(6, 7)), rng.normal(size=(6, 7)), rng.random((6, 7)) < 0.7
    found = geometric_mask(logprobs, sampling, mask, low=0.0, high=np.inf)
    np.testing.assert_array_equal(found, find_correction("none")(logprobs, sampling, mask))
