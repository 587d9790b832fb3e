from __future__ import annotations

import numpy as np
import pytest

from horizon_bench.credit import CreditBatch
from horizon_bench.credit.critics import critic_targets, fill_values, ppo, snapshot_values, stream_advantages, vineppo


def two_decisions(terminated: bool, final_values: list[float] | None) -> CreditBatch:
    return CreditBatch.from_ragged(
        [[0.0, 1.0]], values=[[0.5, 0.25]], final_values=final_values, terminated=[terminated]
    )


def test_advantages_by_hand() -> None:
    """delta = -0.25 + 0.9 * 0.25 - ... : 0 + 0.9 * 0.25 - 0.5 = -0.275 and 1 - 0.25 = 0.75."""
    batch = two_decisions(True, None)
    np.testing.assert_allclose(ppo(batch, gamma=0.9, lam=0.5), [-0.275 + 0.45 * 0.75, 0.75], atol=1e-12)
    np.testing.assert_allclose(critic_targets(batch, gamma=0.9, lam=0.5), [0.225 + 0.45 * 0.75, 1.0], atol=1e-12)


def test_an_episode_cut_off_continues_with_its_final_value() -> None:
    batch = two_decisions(False, [2.0])
    np.testing.assert_allclose(ppo(batch, gamma=0.5, lam=0.0), [-0.375, 1.75], atol=1e-12)
    np.testing.assert_allclose(ppo(batch, gamma=0.5, lam=0.0, bootstrap=False), [-0.375, 0.75], atol=1e-12)


def test_an_episode_ended_by_the_rules_ignores_its_final_value() -> None:
    np.testing.assert_array_equal(ppo(two_decisions(True, [2.0])), ppo(two_decisions(True, None)))


def test_missing_values_are_named() -> None:
    with pytest.raises(ValueError, match="`values` are missing"):
        ppo(CreditBatch.from_ragged([[1.0]]))
    with pytest.raises(ValueError, match="episode 0 was cut off by a budget"):
        ppo(two_decisions(False, None))


def test_vineppo_is_the_change_of_value() -> None:
    np.testing.assert_allclose(vineppo(two_decisions(True, None)), [-0.25, 0.75], atol=1e-12)


def test_snapshot_values_average_independent_rollouts() -> None:
    draws: list[float] = []

    def simulate(snapshot: float, rng: np.random.Generator) -> float:
        draws.append(rng.random())
        return snapshot + draws[-1]

    values = snapshot_values([10.0, 20.0], simulate, rollouts=3, seed=4)
    np.testing.assert_allclose(values, [10 + np.mean(draws[:3]), 20 + np.mean(draws[3:])], atol=1e-12)
    assert len(set(draws)) == 6
    with pytest.raises(ValueError, match="rollouts is 0"):
        snapshot_values([1.0], simulate, rollouts=0, seed=4)


def test_values_without_rollouts_are_filled_from_the_end() -> None:
    """VinePPO's convention: a gap in the middle counts 0, a gap at the end is what is still earned."""
    found = fill_values(np.array([0.0, 0.5, 0.25, 1.0]), [[1.0, 0.0], [], [1.0], []], [[False, True], [], [False], []])
    np.testing.assert_allclose(found, [0.5, 0.0, 1.0, 1.0, 0.0])


def test_a_stream_of_episodes_equals_the_episodes_apart() -> None:
    rewards, values = np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3])
    starts = np.array([False, True, False])
    found = stream_advantages(rewards, values, starts, final_value=5.0, final_done=False, gamma=0.9, lam=0.8)
    batch = CreditBatch.from_ragged(
        [[1.0], [2.0, 3.0]], values=[[0.1], [0.2, 0.3]], final_values=[5.0, 5.0], terminated=[True, False]
    )
    np.testing.assert_allclose(found, ppo(batch, gamma=0.9, lam=0.8), atol=1e-12)
