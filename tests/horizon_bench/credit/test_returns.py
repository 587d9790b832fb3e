from __future__ import annotations

import numpy as np
import pytest

from horizon_bench.credit import CreditBatch
from horizon_bench.credit.returns import reinforce, subgoal_next, subgoal_own

RAW = {"normalized": False, "alpha": 0.0}
FILLS = [[0.0, 0.0, 0.0, 1.0]]
"""Four fills of a 4x4 Sudoku, solved at the last one."""


def test_returns_of_a_solved_puzzle_without_subgoals() -> None:
    found = reinforce(CreditBatch.from_ragged(FILLS), **RAW)
    np.testing.assert_allclose(found, [0.985075, 0.990025, 0.995, 1], atol=1e-6)


def test_returns_end_at_each_completed_subgoal() -> None:
    batch = CreditBatch.from_ragged(FILLS, subgoals_reached=[[0, 1, 0, 1]])
    np.testing.assert_allclose(subgoal_next(batch, **RAW), [0.995, 1, 0.995, 1], atol=1e-12)


def test_a_failed_second_segment_leaves_the_first_its_credit() -> None:
    batch = CreditBatch.from_ragged([[0.0] * 4], subgoals_reached=[[0, 1, 0, 0]])
    np.testing.assert_allclose(subgoal_next(batch, **RAW), [0.995, 1, 0, 0], atol=1e-12)


def test_a_subgoal_paid_by_the_environment_keeps_its_own_reward() -> None:
    batch = CreditBatch.from_ragged([[0.0, 0.25, 0.0, 1.0]], subgoals_reached=[[0, 1, 0, 1]])
    np.testing.assert_allclose(subgoal_next(batch, **RAW), [0.995 * 0.25, 0.25, 0.995, 1], atol=1e-12)


def test_own_credit_follows_the_box_each_fill_works_on() -> None:
    """Boxes are filled in turn: the first fill's box is completed at the third, the second fill's never."""
    batch = CreditBatch.from_ragged([[0.0] * 3], own_subgoal_turn=[[2, -1, 2]], subgoals_reached=[[0, 0, 1]])
    np.testing.assert_allclose(subgoal_own(batch, **RAW), [0.995**2, 0, 1], atol=1e-12)


def test_trajectory_and_step_rewards_are_normalised_apart() -> None:
    batch = CreditBatch.from_ragged([[1.0], [1.0], [0.0], [0.0]], step_rewards=[[0.0], [0.0], [-1.0], [-1.0]])
    np.testing.assert_allclose(reinforce(batch, alpha=0.2), [1.2, 1.2, -1.2, -1.2], atol=1e-12)


@pytest.mark.parametrize("estimator", [reinforce, subgoal_next, subgoal_own])
def test_episodes_of_one_decision_get_their_normalised_reward_and_a_fifth_of_their_step_reward(estimator) -> None:
    batch = CreditBatch.from_ragged(
        [[1.0], [1.0], [0.0], [0.0]],
        step_rewards=[[-1.0], [0.0], [0.0], [0.0]],
        subgoals_reached=[[1], [1], [0], [0]],
        own_subgoal_turn=[[0], [0], [-1], [-1]],
    )
    step = np.array([-np.sqrt(3), np.sqrt(1 / 3), np.sqrt(1 / 3), np.sqrt(1 / 3)])
    np.testing.assert_allclose(estimator(batch), np.array([1, 1, -1, -1]) + 0.2 * step, atol=1e-12)
    np.testing.assert_allclose(estimator(batch, alpha=3.0, normalized=False), [1, 1, 0, 0] + 3 * step, atol=1e-12)


@pytest.mark.parametrize("estimator", [reinforce, subgoal_next, subgoal_own])
def test_a_discount_outside_0_to_1_is_refused(estimator) -> None:
    for gamma in (1.5, -0.1):
        with pytest.raises(ValueError, match=rf"^gamma is {gamma}, but must lie between 0 and 1$"):
            estimator(CreditBatch.from_ragged(FILLS), gamma=gamma)
