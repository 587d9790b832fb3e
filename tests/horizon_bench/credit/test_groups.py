"""Hand-computed values; the rows of public trainers are from verl, TRL and verl-agent (Apache-2.0), as noted."""

from __future__ import annotations

import numpy as np
import pytest

from horizon_bench.credit import CreditBatch
from horizon_bench.credit.groups import (
    best_of_group,
    count_weights,
    episode_scores,
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


def test_the_deviation_is_that_of_the_group_of_the_batch_or_none() -> None:
    scores, labels = np.array([0.0, 2.0, 10.0, 14.0]), np.array([3, 3, 8, 8])
    centred = np.array([-1.0, 1.0, -2.0, 2.0])
    root = np.sqrt(2.0)
    group = group_relative(scores, labels, epsilon=0.5)
    np.testing.assert_allclose(group, centred / np.array([root + 0.5] * 2 + [2 * root + 0.5] * 2), rtol=1e-12)
    population = group_relative(scores, labels, epsilon=0.5, ddof=0)
    np.testing.assert_allclose(population, centred / np.array([1.5] * 2 + [2.5] * 2), rtol=1e-12)
    batch = group_relative(scores, labels, epsilon=0.5, scale="batch")
    np.testing.assert_allclose(batch, centred / (np.std(scores, ddof=1) + 0.5), rtol=1e-12)
    batch = group_relative(scores, labels, epsilon=0.5, scale="batch", ddof=0)
    np.testing.assert_allclose(batch, centred / (np.std(scores) + 0.5), rtol=1e-12)
    np.testing.assert_array_equal(group_relative(scores, labels, epsilon=0.5, scale="none"), centred)


def test_a_small_variance_counts_as_the_floor() -> None:
    scores = np.array([0.0, 2.0])
    np.testing.assert_allclose(group_relative(scores, [0, 0], epsilon=0.0, variance_floor=16.0), [-0.25, 0.25])
    np.testing.assert_allclose(
        group_relative(scores, [0, 0], epsilon=0.0, variance_floor=1.0), np.array([-1, 1]) / np.sqrt(2)
    )
    assert group_relative([1.0, 1.0], [0, 0], variance_floor=16.0).tolist() == [0.0, 0.0]


def test_weights_count_a_sample_several_times() -> None:
    repeated = group_relative([0.0, 0.0, 0.0, 4.0], np.zeros(4))
    weighted = group_relative([0.0, 4.0, np.nan], np.zeros(3), weights=[3.0, 1.0, 9.0])
    np.testing.assert_allclose(weighted, [repeated[0], repeated[3], 0.0], rtol=1e-12)
    repeated = group_relative([0.0, 0.0, 0.0, 4.0], np.zeros(4), scale="batch")
    np.testing.assert_allclose(
        group_relative([0.0, 4.0], np.zeros(2), scale="batch", weights=[3.0, 1.0]), repeated[[0, 3]], rtol=1e-12
    )
    loners = leave_one_out([0.0, 4.0, np.nan], [1, 1, 1], weights=[3.0, 1.0, 5.0])
    np.testing.assert_allclose(loners, [4 / 3 * -1.0, 4 / 3 * 3.0, 0.0], rtol=1e-12)


def test_a_lone_sample_keeps_its_score_where_asked() -> None:
    scores, labels = np.array([3.0, 1.0, 2.0, np.nan]), np.array([0, 1, 1, 0])
    np.testing.assert_allclose(group_relative(scores, labels, single="raw", epsilon=0.5)[[0, 3]], [2.0, 0.0])
    np.testing.assert_allclose(group_relative(scores, labels, single="raw", scale="batch")[[0, 3]], [3.0, 0.0])
    np.testing.assert_allclose(group_relative(scores, labels, single="raw", scale="none"), [3.0, -0.5, 0.5, 0.0])
    np.testing.assert_allclose(group_relative(scores, labels, scale="none"), [0.0, -0.5, 0.5, 0.0])
    np.testing.assert_allclose(leave_one_out(scores, labels, single="raw"), [3.0, -1.0, 1.0, 0.0])
    np.testing.assert_allclose(leave_one_out(scores, labels), [0.0, -1.0, 1.0, 0.0])
    assert group_relative([np.nan, np.nan], [0, 0]).tolist() == [0.0, 0.0]


def test_the_best_of_each_group_leads_by_its_deviation() -> None:
    scores, labels = np.array([5.0, 1.0, 0.0, 3.0, 4.0]), np.array([7, 2, 7, 2, 7])
    np.testing.assert_allclose(best_of_group(scores, labels, scale="none"), [1.0, 0.0, 0.0, 2.0, 0.0])
    deviations = np.array([np.std([5.0, 0.0, 4.0], ddof=1), np.std([1.0, 3.0], ddof=1)])
    expected = [1 / (deviations[0] + 0.5), 0.0, 0.0, 2 / (deviations[1] + 0.5), 0.0]
    np.testing.assert_allclose(best_of_group(scores, labels, epsilon=0.5), expected, rtol=1e-12)
    np.testing.assert_allclose(best_of_group(scores, labels), best_of_group(scores, labels, epsilon=1e-6), rtol=0)
    with pytest.raises(ValueError, match=r"^group 4 has one sample, but a best needs a second best$"):
        best_of_group([1.0, 2.0, 3.0], np.array([1, 1, 4]))
    with pytest.raises(ValueError, match=r"scale .*'batch'.* group, none$"):
        best_of_group([1.0, 2.0], [0, 0], scale="batch")


def test_rloo_may_be_divided_by_its_deviation_over_the_batch() -> None:
    batch = CreditBatch.from_ragged([[0.0, 1.0], [0.0], [0.0], [2.0]], group=[0, 0, 1, 1])
    raw = np.array([1.0, -1.0, -2.0, 2.0])
    np.testing.assert_allclose(rloo(batch), np.repeat(raw, [2, 1, 1, 1]))
    scaled = raw / (np.std(raw, ddof=1) + 1e-4)
    np.testing.assert_allclose(rloo(batch, normalized=True), np.repeat(scaled, [2, 1, 1, 1]), rtol=1e-12)


@pytest.mark.parametrize("estimator", [grpo, rloo, reinforce_plus_plus, reinforce_plus_plus_baseline])
def test_the_step_reward_enters_with_its_weight_and_not_by_default(estimator) -> None:
    batch = CreditBatch.from_ragged([[1.0], [0.0], [0.0], [0.0]], step_rewards=[[0.0], [-1.0], [0.0], [0.0]])
    plain = CreditBatch.from_ragged([[1.0], [0.0], [0.0], [0.0]])
    step = np.array([1, -3, 1, 1]) / np.sqrt(3)
    np.testing.assert_array_equal(estimator(batch), estimator(plain))
    np.testing.assert_allclose(estimator(batch, alpha=0.5), estimator(plain) + 0.5 * step, rtol=1e-12)


def test_reinforce_plus_plus_discounts_and_adds_epsilon_to_the_variance() -> None:
    batch = CreditBatch.from_ragged([[0.0, 1.0], [0.0]])
    for gamma, options in ((1.0, {}), (0.5, {"gamma": 0.5})):
        returns = np.array([gamma, 1.0, 0.0])
        expected = (returns - returns.mean()) / np.sqrt(np.var(returns, ddof=1) + 1e-8)
        np.testing.assert_allclose(reinforce_plus_plus(batch, **options), expected, rtol=1e-12)
    expected = (returns - returns.mean()) / np.sqrt(np.var(returns, ddof=1) + 2.0)
    np.testing.assert_allclose(reinforce_plus_plus(batch, gamma=0.5, epsilon=2.0), expected, rtol=1e-12)


def test_the_baseline_variant_centres_by_group_then_whitens() -> None:
    batch = CreditBatch.from_ragged([[0.0, 2.0], [0.0], [5.0]], group=[0, 0, 1])
    centred = np.array([1.0, 1.0, -1.0, 0.0])
    expected = (centred - 0.25) / np.sqrt(np.var(centred, ddof=1) + 2.0)
    np.testing.assert_allclose(reinforce_plus_plus_baseline(batch, epsilon=2.0), expected, rtol=1e-12)
    raw = np.array([1.0, 1.0, -1.0, 5.0])
    expected = (raw - 1.5) / np.sqrt(np.var(raw, ddof=1) + 1e-8)
    np.testing.assert_allclose(reinforce_plus_plus_baseline(batch, single="raw"), expected, rtol=1e-12)
    turns = np.array([2 / 3, 2 / 3, -4 / 3, 0.0])
    expected = (turns - turns.mean()) / np.sqrt(np.var(turns, ddof=1) + 1e-8)
    np.testing.assert_allclose(reinforce_plus_plus_baseline(batch, count="turns"), expected, rtol=1e-12)


def test_scores_are_sums_and_weights_are_lengths_only_where_decisions_count() -> None:
    batch = CreditBatch.from_ragged([[0.5, 2.0], [], [5.0]])
    assert episode_scores(batch).tolist() == [2.5, 0.0, 5.0]
    assert count_weights(batch, "episodes") is None
    weights = count_weights(batch, "turns")
    assert weights is not None
    assert weights.dtype == np.float64
    assert weights.tolist() == [2.0, 0.0, 1.0]
    with pytest.raises(ValueError, match=r"count .*'tokens'.* episodes, turns$"):
        count_weights(batch, "tokens")
    for core in (group_relative, leave_one_out):
        with pytest.raises(ValueError, match=r"single .*'keep'.* zero, raw$"):
            core([1.0], [0], single="keep")
    with pytest.raises(ValueError, match=r"scale .*'all'.* group, batch, none$"):
        group_relative([1.0], [0], scale="all")


def test_group_options_reach_grpo() -> None:
    batch = CreditBatch.from_ragged([[1.0], [0.0], [0.0, 0.0], [4.0]], group=[0, 0, 0, 1])
    scores, rows = episode_scores(batch), batch.episode_of_turn
    for options in ({}, {"scale": "batch"}, {"ddof": 0}, {"epsilon": 1.0}, {"single": "raw"}):
        expected = group_relative(scores, batch.group, **options)[rows]
        np.testing.assert_array_equal(grpo(batch, **options), expected)
    counted = group_relative(scores, batch.group, weights=[1.0, 1.0, 2.0, 1.0])[rows]
    np.testing.assert_array_equal(grpo(batch, count="turns"), counted)
    np.testing.assert_array_equal(rloo(batch, single="raw")[rows == 3], [4.0])
