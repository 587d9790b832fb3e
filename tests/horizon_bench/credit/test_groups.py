"""Hand-computed values; the rows of public trainers are from verl, TRL and verl-agent (Apache-2.0), as noted."""

from __future__ import annotations

import numpy as np
import pytest

from horizon_bench.credit import CreditBatch
from horizon_bench.credit.groups import (
    best_of_group,
    group_relative,
    grpo,
    leave_one_out,
    reinforce_plus_plus,
    reinforce_plus_plus_baseline,
    rloo,
)

ONE_GROUP = np.zeros(4, dtype=np.int64)


def test_grpo_divides_by_the_sample_or_population_deviation() -> None:
    batch = CreditBatch.from_ragged([[0.0, 1.0], [0.0]])
    np.testing.assert_allclose(grpo(batch, epsilon=0.0), [np.sqrt(0.5)] * 2 + [-np.sqrt(0.5)], atol=1e-12)
    np.testing.assert_allclose(grpo(batch, epsilon=0.0, ddof=0), [1, 1, -1], atol=1e-12)
    np.testing.assert_allclose(grpo(batch, scale="none"), [0.5, 0.5, -0.5], atol=1e-12)


def test_grpo_statistics_over_decisions_weigh_long_episodes_more() -> None:
    batch = CreditBatch.from_ragged([[0.0, 0.0, 1.0], [0.0]])
    np.testing.assert_allclose(grpo(batch, scale="none", count="turns"), [0.25] * 3 + [-0.75], atol=1e-12)


def test_group_relative_reproduces_verl_rows() -> None:
    """Scores of verl's GRPO at commit b178a3c: binary rewards, one group of eight."""
    scores = np.array([1.0, 0, 1, 1, 1, 0, 1, 1])
    found = group_relative(scores, np.zeros(8, dtype=np.int64))
    np.testing.assert_allclose(found, np.where(scores > 0, 0.540060558203, -1.62018167461), rtol=1e-9)


def test_a_batch_scale_keeps_the_group_mean() -> None:
    """TRL 1.16's `scale_rewards="batch"`, one sample unscorable."""
    scores = np.array([-1.2031, np.nan, -1.4792, -0.0227])
    found = group_relative(scores, np.array([0, 0, 1, 1]), scale="batch", epsilon=1e-4)
    np.testing.assert_allclose(found, [0, 0, -0.941226703296, 0.941226703296], rtol=1e-9)


def test_a_group_of_one_gets_nothing_or_its_raw_score() -> None:
    batch = CreditBatch.from_ragged([[3.0], [1.0], [2.0]], group=["a", "b", "b"])
    assert grpo(batch)[0] == 0
    assert rloo(batch)[0] == 0
    assert grpo(batch, scale="none", single="raw")[0] == 3
    assert rloo(batch, single="raw")[0] == 3


def test_leave_one_out_subtracts_the_mean_of_the_others() -> None:
    np.testing.assert_allclose(leave_one_out(np.array([1.0, 0, 0, 1]), ONE_GROUP), [2 / 3, -2 / 3, -2 / 3, 2 / 3])


def test_leaving_out_one_decision_reproduces_the_verl_agent_fork() -> None:
    """verl-agent's RLOO at commit db9347f: scores 0, 10, 10 with 6, 2, 6 decisions."""
    batch = CreditBatch.from_ragged([[0.0] * 6, [0.0, 10.0], [0.0] * 5 + [10.0]])
    found = rloo(batch, count="turns")
    np.testing.assert_allclose(found, [-6.15384615385] * 6 + [4.61538461538] * 8, rtol=1e-9)


def test_the_best_of_a_group_earns_its_lead() -> None:
    found = best_of_group(np.array([0.2, 1.0, 0.4, 0.4]), ONE_GROUP, scale="none")
    np.testing.assert_allclose(found, [0, 0.6, 0, 0], atol=1e-12)
    assert not best_of_group(np.array([1.0, 1.0, 0, 0]), ONE_GROUP, scale="none").any()
    with pytest.raises(ValueError, match="has one sample"):
        best_of_group(np.array([1.0]), np.array([4]))


def test_reinforce_plus_plus_whitens_over_the_batch() -> None:
    batch = CreditBatch.from_ragged([[1.0], [-1.0]])
    np.testing.assert_allclose(reinforce_plus_plus(batch), [np.sqrt(0.5), -np.sqrt(0.5)], atol=1e-8)


def test_the_baseline_variant_whitens_over_tokens() -> None:
    """One of verl's rows at commit b178a3c: seven of eight solved, 17 tokens."""
    tokens = [3, 3, 2, 1, 1, 3, 3, 1]
    batch = CreditBatch.from_ragged([[1.0]] * 7 + [[0.0]])
    found = reinforce_plus_plus_baseline(batch, token_counts=np.array(tokens, dtype=np.float64))
    np.testing.assert_allclose(found, [0.242535604653] * 7 + [-3.88056967171], rtol=1e-6)


@pytest.mark.parametrize(("option", "value"), [("scale", "groups"), ("single", "keep"), ("count", "tokens")])
def test_an_unknown_choice_names_the_known_ones(option: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"unknown {option} '{value}'"):
        grpo(CreditBatch.from_ragged([[1.0]]), **{option: value})


def test_an_episode_that_could_not_be_scored_gets_nothing_and_is_left_out() -> None:
    batch = CreditBatch.from_ragged([[0, np.nan], [0, 1], [0, 0]])
    rest = CreditBatch.from_ragged([[0, 1], [0, 0]])
    for estimator in (grpo, rloo):
        assert not estimator(batch)[:2].any()
        np.testing.assert_allclose(estimator(batch)[2:], estimator(rest))
    with pytest.raises(ValueError, match="NaN"):
        reinforce_plus_plus(batch)
