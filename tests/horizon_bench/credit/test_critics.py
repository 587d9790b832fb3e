from __future__ import annotations

import numpy as np
import pytest

from horizon_bench.credit import CreditBatch
from horizon_bench.credit.critics import (
    critic_targets,
    fill_values,
    generalised_advantages,
    ppo,
    snapshot_values,
    stream_advantages,
    temporal_differences,
    vineppo,
)


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


THREE = CreditBatch.from_ragged(
    [[1.0], [2.0, 3.0], [], [4.0]],
    values=[[0.5], [0.25, 0.125], [], [1.0]],
    final_values=[8.0, 16.0, 32.0, 64.0],
    terminated=[True, False, False, True],
)
"""An episode that ended by the rules, one that was cut off, one without a decision, and one that ended."""


def test_differences_end_with_nothing_or_with_the_final_value_of_their_own_episode() -> None:
    found = temporal_differences(THREE, gamma=0.5)
    np.testing.assert_allclose(found, [0.5, 2 + 0.0625 - 0.25, 3 + 8 - 0.125, 3.0], rtol=1e-12)
    ended = temporal_differences(THREE, gamma=0.5, bootstrap=False)
    np.testing.assert_allclose(ended, [0.5, 2 + 0.0625 - 0.25, 3 - 0.125, 3.0], rtol=1e-12)
    np.testing.assert_allclose(vineppo(THREE), temporal_differences(THREE, gamma=1.0), rtol=1e-12)
    without = CreditBatch.from_ragged([[1.0]], values=[[0.5]], terminated=[False])
    np.testing.assert_allclose(vineppo(without), [0.5])


def test_the_defaults_are_a_discount_of_0_995_and_a_trust_of_0_95() -> None:
    for estimate in (ppo(THREE), critic_targets(THREE) - THREE.values):
        np.testing.assert_allclose(estimate, generalised_advantages(THREE, gamma=0.995, lam=0.95), rtol=1e-12)
    differences = temporal_differences(THREE, gamma=0.995)
    expected = [differences[0], differences[1] + 0.995 * 0.95 * differences[2], differences[2], differences[3]]
    np.testing.assert_allclose(ppo(THREE), expected, rtol=1e-12)
    apart = critic_targets(THREE, bootstrap=False) - THREE.values
    np.testing.assert_allclose(apart, ppo(THREE, bootstrap=False), rtol=1e-12)
    assert not np.allclose(ppo(THREE), ppo(THREE, bootstrap=False))


def test_advantages_may_be_normalised_and_step_rewards_added() -> None:
    plain = ppo(THREE)
    np.testing.assert_allclose(ppo(THREE, normalized=True), (plain - plain.mean()) / plain.std(), rtol=1e-12)
    stepped = CreditBatch.from_ragged(
        [[1.0], [2.0, 3.0]], values=[[0.0], [0.0, 0.0]], step_rewards=[[0.0], [0.0, -1.0]], terminated=[True, True]
    )
    step = np.array([1.0, 1.0, -2.0]) / np.sqrt(2)
    np.testing.assert_allclose(ppo(stepped, gamma=0.0, alpha=0.5), np.array([1, 2, 3]) + 0.5 * step, rtol=1e-12)
    np.testing.assert_allclose(vineppo(stepped, gamma=0.0, alpha=0.5), np.array([1, 2, 3]) + 0.5 * step, rtol=1e-12)
    np.testing.assert_allclose(vineppo(stepped, gamma=0.0), [1, 2, 3], rtol=1e-12)


def test_what_is_missing_or_out_of_range_is_named() -> None:
    bare = CreditBatch.from_ragged([[1.0]])
    with pytest.raises(
        ValueError, match=r"^critic_targets needs the value of every state, but .* `values` are missing$"
    ):
        critic_targets(bare)
    with pytest.raises(ValueError, match=r"^this estimator needs the value of every state"):
        vineppo(bare)
    unended = CreditBatch.from_ragged([[1.0], [1.0]], values=[[0.0], [0.0]], terminated=[True, False])
    with pytest.raises(ValueError) as caught:
        ppo(unended)
    assert str(caught.value) == (
        "episode 1 was cut off by a budget, but the batch's `final_values` are missing; give them, or say "
        "bootstrap=False to let it end with 0"
    )
    for options, name in (({"gamma": 1.5}, "gamma"), ({"lam": -0.5}, "lam")):
        with pytest.raises(ValueError, match=f"^{name} is"):
            ppo(THREE, **options)
    with pytest.raises(ValueError, match=r"^gamma is 2"):
        vineppo(THREE, gamma=2)
    unscored = CreditBatch.from_ragged([[1.0, np.nan]], values=[[0.0, 0.0]], terminated=[True])
    with pytest.raises(ValueError, match=r"^rewards hold NaN at entry 1"):
        ppo(unscored)


def test_one_rollout_is_enough_and_a_seed_may_be_a_sequence() -> None:
    def simulate(snapshot: float, rng: np.random.Generator) -> float:
        return snapshot + rng.random()

    found = snapshot_values([10.0, 20.0], simulate, rollouts=1, seed=4)
    streams = np.random.SeedSequence(4).spawn(2)
    expected = [10 + np.random.default_rng(streams[0]).random(), 20 + np.random.default_rng(streams[1]).random()]
    np.testing.assert_array_equal(found, expected)
    again = snapshot_values([10.0, 20.0], simulate, rollouts=1, seed=np.random.SeedSequence(4))
    np.testing.assert_array_equal(again, expected)
    assert snapshot_values([], simulate, rollouts=2, seed=4).dtype == np.float64
    with pytest.raises(ValueError, match=r"^rollouts is 0, but a mean needs at least 1$"):
        snapshot_values([1.0], simulate, rollouts=0, seed=4)


def test_rollouts_cut_off_count_what_is_said() -> None:
    rewards = np.array([1.0, 2.0])
    assert fill_values(rewards, [[3.0, 5.0], [7.0]]).tolist() == [4.0, 7.0, 0.0]
    cut = [[True, False], [True]]
    assert fill_values(rewards, [[3.0, 5.0], [7.0]], cut).tolist() == [2.5, 0.0, 0.0]
    assert fill_values(rewards, [[3.0, 5.0], [7.0]], cut, truncated_return=-1.0).tolist() == [2.0, -1.0, 0.0]
    assert fill_values(rewards, [[], []]).tolist() == [3.0, 2.0, 0.0]
    assert fill_values(rewards[:0], []).tolist() == [0.0]
    for flags in ([[False, False]], [[False], [False]], [[False, False], [False, True]]):
        with pytest.raises(ValueError, match="zip"):
            fill_values(rewards, [[3.0, 5.0], [7.0]], flags)


def test_a_stream_may_end_with_its_episode() -> None:
    rewards, values = np.array([1.0, 2.0]), np.array([0.5, 0.25])
    options = {"final_value": 4.0, "gamma": 0.5, "lam": 1.0}
    for starts in ([True, False], [False, False]):
        ended = stream_advantages(rewards, values, np.array(starts), final_done=True, **options)
        np.testing.assert_allclose(ended, [1 + 1.0 - 0.5, 1.75], rtol=1e-12)
        open_end = stream_advantages(rewards, values, np.array(starts), final_done=False, **options)
        np.testing.assert_allclose(open_end, [1 + 2.0 - 0.5, 2 + 2 - 0.25], rtol=1e-12)
    apart = stream_advantages(rewards, values, np.array([True, True]), final_done=False, **options)
    np.testing.assert_allclose(apart, [0.5, 2 + 2 - 0.25], rtol=1e-12)
