from __future__ import annotations

import numpy as np

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
