from __future__ import annotations

import numpy as np
import pytest

from horizon_bench.credit.groups import group_relative
from horizon_bench.credit.multi_objective import combined_advantages

GROUPS = np.arange(9) // 3
REWARDS = np.array([[0.0, 1], [1, 0], [0, 0], [1, 1], [0, 0], [1, 0], [0, 0], [0, 0], [1, 1]])
WEIGHTS = np.array([1.0, 0.5])


def test_normalising_first_reproduces_trl() -> None:
    """TRL 1.16 (Apache-2.0), aggregation normalize_then_sum."""
    found = combined_advantages(REWARDS, WEIGHTS, GROUPS, aggregation="normalize_then_sum")
    expected = [0, 0.794646479846, -0.794646479846, 1.0595286398, -1.32441079974, 0.264882159949]
    expected += [-0.794646479846, -0.794646479846, 1.58929295969]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_summing_first_normalises_the_total() -> None:
    found = combined_advantages(REWARDS, WEIGHTS, GROUPS, scale="none")
    total = REWARDS @ WEIGHTS
    np.testing.assert_allclose(found, total - np.repeat(total.reshape(3, 3).mean(axis=1), 3), atol=1e-12)


def test_a_sample_without_any_reward_is_left_out() -> None:
    rewards = np.array([[1.0, np.nan], [np.nan, np.nan], [0.0, 0.0]])
    for aggregation in ("sum_then_normalize", "normalize_then_sum"):
        found = combined_advantages(rewards, WEIGHTS, np.zeros(3, dtype=int), aggregation=aggregation)
        assert found[1] == 0
        assert found[0] == pytest.approx(-found[2])


def test_the_defaults_sum_first_and_divide_by_the_groups_deviation_plus_1e_4() -> None:
    total = REWARDS @ WEIGHTS
    np.testing.assert_allclose(
        combined_advantages(REWARDS, WEIGHTS, GROUPS), group_relative(total, GROUPS, epsilon=1e-4)
    )
    coarse = combined_advantages(REWARDS, WEIGHTS, GROUPS, epsilon=0.5)
    np.testing.assert_allclose(coarse, group_relative(total, GROUPS, epsilon=0.5))
    lists = combined_advantages([[0, 1], [1, 0]], [1, 3], [0, 0], scale="none")
    assert lists.tolist() == [1.0, -1.0]


def test_normalising_first_adds_epsilon_each_time() -> None:
    found = combined_advantages(REWARDS, WEIGHTS, GROUPS, aggregation="normalize_then_sum", epsilon=0.5)
    columns = [group_relative(column, GROUPS, epsilon=0.5) for column in REWARDS.T]
    total = columns[0] + 0.5 * columns[1]
    np.testing.assert_allclose(found, group_relative(total, np.zeros(9), epsilon=0.5), rtol=1e-12)


def test_another_order_is_refused() -> None:
    with pytest.raises(ValueError, match=r"aggregation .*'mean'.* sum_then_normalize, normalize_then_sum$"):
        combined_advantages(REWARDS, WEIGHTS, GROUPS, aggregation="mean")
