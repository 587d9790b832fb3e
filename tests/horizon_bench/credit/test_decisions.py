from __future__ import annotations

import numpy as np
import pytest

from horizon_bench.credit import CreditBatch
from horizon_bench.credit.decisions import group_mean_decisions, leave_one_out_decisions, summed_centred_turns

BATCH = CreditBatch.from_ragged([[-1.0, -1.0, 3.0], [-1.0], [-1.0, 0.0]])
"""Returns to go: 1, 2, 3; -1; -1, 0."""


def test_the_others_mean_at_the_same_decision_is_subtracted() -> None:
    found = leave_one_out_decisions(BATCH)
    np.testing.assert_allclose(found, [1 - (-1), 2 - 0, 3, -1 - 0, -1 - 0, 0 - 2], atol=1e-12)


def test_the_mean_with_the_episode_itself_shrinks() -> None:
    np.testing.assert_allclose(group_mean_decisions(BATCH), [4 / 3, 1, 0, -2 / 3, -2 / 3, -1], atol=1e-12)


def test_a_cost_of_every_turn_vanishes_from_summed_centred_turns() -> None:
    costly = CreditBatch.from_ragged([[-1.0] * 3, [-1.0], [-1.0] * 2])
    assert not summed_centred_turns(costly).any()
    assert leave_one_out_decisions(costly).any()


@pytest.mark.parametrize("estimator", [leave_one_out_decisions, group_mean_decisions, summed_centred_turns])
def test_the_return_is_discounted_and_the_step_reward_added_only_where_asked(estimator) -> None:
    batch = CreditBatch.from_ragged([[0.0, 4.0], [2.0]], step_rewards=[[0.0, -1.0], [0.0]])
    found = estimator(batch, gamma=0.5)
    alone = {leave_one_out_decisions: 4.0}.get(estimator, 0.0)
    first = {leave_one_out_decisions: 0.0, group_mean_decisions: 0.0, summed_centred_turns: -1.0}[estimator]
    np.testing.assert_allclose(found, [first, alone, -first], atol=1e-12)
    step = np.array([1.0, -2.0, 1.0]) / np.sqrt(2)
    np.testing.assert_allclose(estimator(batch, gamma=0.5, alpha=0.5), found + 0.5 * step, rtol=1e-12)


def test_attempts_at_other_instances_are_not_compared() -> None:
    batch = CreditBatch.from_ragged([[1.0], [5.0]], group=["a", "b"])
    assert leave_one_out_decisions(batch).tolist() == [1.0, 5.0]
    assert group_mean_decisions(batch).tolist() == [0.0, 0.0]
