from __future__ import annotations

import numpy as np
import pytest

from horizon_bench.credit import ESTIMATORS, CreditBatch
from horizon_bench.credit.beacon import beacon, match_milestones, segment_numbers, shaped_rewards

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
    with pytest.raises(ValueError, match=f"{option} is 'other'"):
        beacon(article, **{option: "other"})
