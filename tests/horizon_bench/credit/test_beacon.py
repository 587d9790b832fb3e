from __future__ import annotations

import numpy as np
import pytest

from horizon_bench.credit import ESTIMATORS, CreditBatch
from horizon_bench.credit.beacon import (
    beacon,
    completed_segments,
    drop_subgoals,
    match_milestones,
    paper_segment_advantages,
    random_cuts,
    released_segment_advantages,
    segment_numbers,
    shaped_rewards,
)
from horizon_bench.credit.groups import group_relative
from horizon_bench.credit.states import pair_labels

# The first case of the shared tables (own evaluation of the article's formulas): gamma 0, reward 10.
MILESTONES = [[1, 0, 0, 0], [1, 1, 1], [0, 1, 0, 0], [1, 1, 0, 1, 0, 0]]
SCORES = [0.0, 1.0, 1.0, 1.0]
SEGMENT_ADVANTAGES = [1.25, 0, 0, 0, 1.25, 0, 2.5, -8.75, 1.25, 0, 0, 1.25, 0, -7.5, 2.5, 0, 0]


@pytest.fixture
def article() -> CreditBatch:
    rewards = [[0.0] * (len(row) - 1) + [score] for row, score in zip(MILESTONES, SCORES, strict=True)]
    return CreditBatch.from_ragged(rewards, subgoals_reached=MILESTONES)


def test_segments_end_at_subgoals(article: CreditBatch) -> None:
    assert segment_numbers(article).tolist() == [0, 1, 1, 1, 0, 1, 2, 0, 0, 1, 1, 0, 1, 2, 2, 3, 3]


def test_rewards_rise_towards_the_next_subgoal(article: CreditBatch) -> None:
    found = article.split(shaped_rewards(article, gamma=0.5, subgoal_reward=8.0))
    assert [row.tolist() for row in found] == [
        [8, 0, 0, 0],
        [8, 8, 8],
        [4, 8, 0, 0],
        [8, 8, 4, 8, 0, 0],
    ]


def test_the_article_example_is_reproduced(article: CreditBatch) -> None:
    found = beacon(article, gamma=0.0, subgoal_reward=10.0, part="segment")
    np.testing.assert_allclose(found, SEGMENT_ADVANTAGES, atol=1e-10)
    total = beacon(article, gamma=0.0, subgoal_reward=10.0, lam=0.5, ddof=0)
    trajectory = np.repeat([-1.73204680758, 0.577348935859, 0.577348935859, 0.577348935859], [4, 3, 4, 6])
    np.testing.assert_allclose(total, trajectory + 0.5 * np.array(SEGMENT_ADVANTAGES), rtol=1e-9)


def test_an_unfinished_segment_may_pay_the_baseline(article: CreditBatch) -> None:
    found = beacon(article, gamma=0.0, subgoal_reward=10.0, part="segment", unfinished="baseline")
    np.testing.assert_allclose(found[:4], [1.25, -10, -10, -10], atol=1e-10)


def test_the_released_code_differs_as_documented(article: CreditBatch) -> None:
    """Means over all decisions: the trajectory's 13/17, segment 0's (10 + 10 + 9.5 + 10 + 10) / 5."""
    trajectory = beacon(article, mode="released", part="trajectory")
    np.testing.assert_allclose(trajectory, np.repeat(np.array(SCORES) - 13 / 17, [4, 3, 4, 6]), atol=1e-12)
    segment = beacon(article, mode="released", part="segment")
    np.testing.assert_allclose(segment[[0, 4, 7, 8, 11]], np.array([10, 10, 9.5, 10, 10]) - 9.9, atol=1e-12)


def test_two_subgoals_at_once_skip_a_segment() -> None:
    batch = CreditBatch.from_ragged([[0.0, 0.0], [0.0, 0.0, 0.0]], subgoals_reached=[[2, 1], [1, 1, 1]])
    assert segment_numbers(batch).tolist() == [0, 2, 0, 1, 2]


def test_discount_one_spreads_a_subgoal_evenly(article: CreditBatch) -> None:
    assert not ESTIMATORS["beacon-segment"](article, gamma=1.0).any()


def test_milestones_are_matched_in_order_by_similar_text() -> None:
    reached, segments = match_milestones(["b", "a", "x", "b", "x"], ["a", "b"], 1.0)
    assert reached == [0, 1, 0, 1, 0]
    assert segments == [0, 0, 1, 1, -1]
    assert match_milestones(["a"], None, 1.0) == ([0], [0])


def test_random_cuts_repeat_with_their_seed(article: CreditBatch) -> None:
    cut = ESTIMATORS["beacon-random-cuts"]
    np.testing.assert_array_equal(cut(article), cut(article))
    assert any(not np.array_equal(cut(article, seed=seed), cut(article)) for seed in range(1, 5))
    np.testing.assert_array_equal(beacon(article, cuts="dropped", dropped=0.0), beacon(article))
    np.testing.assert_array_equal(beacon(article, cuts="dropped", dropped=1.0), beacon(article, lam=0.0))


@pytest.mark.parametrize("option", ["mode", "part", "cuts", "unfinished"])
def test_an_unknown_choice_is_refused(article: CreditBatch, option: str) -> None:
    with pytest.raises(ValueError, match=f"{option} .*'other'"):
        beacon(article, **{option: "other"})


def test_segments_are_counted_within_each_episode_empty_ones_included() -> None:
    batch = CreditBatch.from_ragged([[], [0.0, 0.0], [], [0.0], []], subgoals_reached=[[], [1, 0], [], [1], []])
    assert segment_numbers(batch).tolist() == [0, 1, 0]
    assert segment_numbers(batch).dtype == np.int64
    assert completed_segments(batch).tolist() == [True, False, True]
    assert segment_numbers(CreditBatch.from_ragged([])).tolist() == []


def test_shaped_rewards_are_worth_one_a_subgoal_unless_said(article: CreditBatch) -> None:
    np.testing.assert_allclose(
        shaped_rewards(article, gamma=0.5) * 8, shaped_rewards(article, gamma=0.5, subgoal_reward=8)
    )
    with pytest.raises(ValueError, match=r"^gamma is 1\.5, but must lie between 0 and 1$"):
        beacon(article, gamma=1.5)


def test_a_baseline_is_the_mean_over_those_that_completed_the_segment(article: CreditBatch) -> None:
    """Gamma 0, 12 a subgoal: segment 0 took 1, 1, 2 and 1 decisions, segment 1 one of two, segment 2 one and two."""
    shaped = shaped_rewards(article, gamma=0.0, subgoal_reward=12.0)
    numbers = segment_numbers(article)
    found = article.split(paper_segment_advantages(article, shaped, numbers, unfinished="baseline"))
    assert found[1].tolist() == [12 - (12 + 12 + 6 + 12) / 4, 12 - (12 + 12) / 2, 12 - (12 + 6) / 2]
    assert found[0].tolist() == [1.5, -12.0, -12.0, -12.0]
    assert found[3].tolist() == [1.5, 0.0, -9.0, 3.0, 0.0, 0.0]


def test_the_released_code_may_divide_by_the_deviation(article: CreditBatch) -> None:
    options = {"scale": "group", "ddof": 0, "epsilon": 0.5}
    scores, lengths = np.array(SCORES), article.lengths.astype(np.float64)
    whole = group_relative(scores, np.zeros(4), weights=lengths, single="raw", **options)[article.episode_of_turn]
    shaped = shaped_rewards(article, gamma=0.95, subgoal_reward=10.0)
    labels = pair_labels(article.group_of_turn, segment_numbers(article))
    step = group_relative(shaped, labels, **options)
    np.testing.assert_allclose(beacon(article, mode="released", **options), whole + step, rtol=1e-12)
    np.testing.assert_allclose(beacon(article, mode="released", lam=0.5, **options), whole + 0.5 * step, rtol=1e-12)
    found = released_segment_advantages(article, shaped, segment_numbers(article))
    np.testing.assert_allclose(found, group_relative(shaped, labels, scale="none"), rtol=1e-12)
    scaled = released_segment_advantages(article, shaped, segment_numbers(article), scale="group")
    np.testing.assert_allclose(scaled, group_relative(shaped, labels, ddof=1, epsilon=1e-6), rtol=1e-12)


def test_the_paper_divides_only_the_trajectory_term(article: CreditBatch) -> None:
    segment = beacon(article, part="segment")
    for options in ({"scale": "none"}, {"ddof": 0}, {"epsilon": 0.5}, {"scale": "batch"}):
        whole = group_relative(SCORES, np.zeros(4), **options)[article.episode_of_turn]
        np.testing.assert_allclose(beacon(article, **options), whole + segment, rtol=1e-12)
        np.testing.assert_allclose(beacon(article, part="trajectory", **options), whole, rtol=1e-12)
    np.testing.assert_allclose(beacon(article, part="segment", subgoal_reward=7.0), 7 * segment, rtol=1e-12)


def test_the_step_reward_enters_with_its_weight() -> None:
    batch = CreditBatch.from_ragged(
        [[1.0], [0.0], [0.0], [0.0]], step_rewards=[[0.0], [-1.0], [0.0], [0.0]], subgoals_reached=[[1], [0], [1], [0]]
    )
    step = np.array([1, -3, 1, 1]) / np.sqrt(3)
    np.testing.assert_allclose(beacon(batch, alpha=0.5), beacon(batch) + 0.5 * step, rtol=1e-12)


def test_a_lone_trajectory_keeps_its_score_in_the_released_code() -> None:
    batch = CreditBatch.from_ragged([[3.0]], subgoals_reached=[[0]])
    assert beacon(batch, mode="released", part="trajectory").tolist() == [3.0]
    assert beacon(batch, part="trajectory").tolist() == [0.0]


def test_a_milestone_is_reached_at_the_threshold_and_looked_for_in_order() -> None:
    """Two of four letters shared: a ratio of 2 * 2 / 8."""
    assert match_milestones(["abxy"], ["abcd"], 0.5) == ([1], [0])
    assert match_milestones(["abxy"], ["abcd"], 0.51) == ([0], [0])
    assert match_milestones(["b", "c"], ["a", "b"], 1.0) == ([0, 0], [0, 0])
    assert match_milestones(["a", "a", "b", "c"], ["a", "b"], 1.0) == ([1, 0, 1, 0], [0, 1, 1, -1])
    assert match_milestones(["a", "b"], [], 1.0) == ([0, 0], [0, 0])
    assert match_milestones([], ["a"], 1.0) == ([], [])


def test_random_cuts_move_subgoals_within_their_episode(article: CreditBatch) -> None:
    moved = [random_cuts(article, np.random.default_rng(seed)) for seed in range(40)]
    for cut in moved:
        rows = [row.tolist() for row in article.split(cut.subgoals_reached)]
        assert [sorted(row) for row in rows] == [sorted(row) for row in MILESTONES]
    places = {tuple(cut.subgoals_reached[:4].tolist()) for cut in moved}
    assert places == {(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)}
    double = CreditBatch.from_ragged([[0.0] * 3], subgoals_reached=[[0, 2, 1]])
    assert sorted(random_cuts(double, np.random.default_rng(1)).subgoals_reached.tolist()) == [0, 1, 2]


def test_each_subgoal_is_forgotten_with_the_probability_said() -> None:
    batch = CreditBatch.from_ragged([[0.0] * 4000], subgoals_reached=[[2] * 4000])
    kept = drop_subgoals(batch, 0.25, np.random.default_rng(3)).subgoals_reached
    assert kept.dtype == np.int64
    assert kept.mean() == pytest.approx(1.5, abs=0.05)
    assert set(kept.tolist()) == {0, 1, 2}
    with pytest.raises(ValueError, match=r"^share is 2, but must lie between 0 and 1$"):
        drop_subgoals(batch, 2, np.random.default_rng(3))


def test_cuts_depend_on_the_seed_and_on_what_the_batch_holds() -> None:
    def batch(states: int) -> CreditBatch:
        seen = [turn % states for turn in range(30)]
        return CreditBatch.from_ragged([[0.0] * 30], states=[seen], subgoals_reached=[[1] * 15 + [0] * 15])

    one = beacon(batch(1), cuts="random", part="segment")
    np.testing.assert_array_equal(one, beacon(batch(1), cuts="random", part="segment", seed=0))
    assert not np.array_equal(one, beacon(batch(1), cuts="random", part="segment", seed=1))
    assert not np.array_equal(one, beacon(batch(2), cuts="random", part="segment"))
    np.testing.assert_array_equal(one, beacon(batch(1), cuts="random", dropped=1.0, part="segment"))
    half = beacon(batch(1), cuts="dropped", part="segment")
    np.testing.assert_array_equal(half, beacon(batch(1), cuts="dropped", dropped=0.5, part="segment"))
    assert not np.array_equal(half, beacon(batch(1), part="segment"))
