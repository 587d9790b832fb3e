"""The exact gradient, and the known facts about bias that the probe must show."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from horizon_bench.credit import ESTIMATORS
from horizon_bench.credit.critics import snapshot_values
from horizon_bench.credit.probe import (
    ProbeResult,
    batch_gradient,
    format_table,
    main,
    probe,
    probe_gradients,
    probe_isolation,
    rollout_values,
    summarize,
)
from horizon_bench.credit.probe_chain import Chain
from horizon_bench.credit.reference import REFERENCES

CHAIN = Chain()
ATTEMPTS = 2


@cache
def measured(name: str) -> ProbeResult:
    """Groups of two, 64 to a batch, 250 batches: 32,000 episodes."""
    gradients = probe_gradients(ESTIMATORS[name], CHAIN, batches=250, groups=64, attempts=ATTEMPTS, seed=5)
    return summarize(name, gradients, CHAIN.exact_gradient().ravel())


def error_of_scale(result: ProbeResult) -> float:
    return result.tilt_error * abs(result.scale)


def test_the_exact_gradient_is_the_slope_of_the_exact_value() -> None:
    exact, size = CHAIN.exact_gradient(), 1e-6
    for place in range(CHAIN.places):
        for action in range(3):
            moved = CHAIN.logits.copy()
            moved[place, action] += size
            slope = (Chain(logits=moved).state_values()[0, 0] - CHAIN.state_values()[0, 0]) / size
            assert slope == pytest.approx(exact[place, action], abs=1e-5)


def test_sampled_episodes_earn_their_exact_value() -> None:
    batch = CHAIN.sample(2000, 4, np.random.default_rng(1))
    mean = batch.rewards.sum() / batch.episodes
    assert mean == pytest.approx(CHAIN.state_values()[0, 0], abs=0.02)
    assert batch.values is not None
    assert batch.values[0] == CHAIN.state_values()[0, 0]


def test_simulated_continuations_average_to_the_exact_values() -> None:
    batch = CHAIN.sample(40, 4, np.random.default_rng(1))
    found = rollout_values(batch, CHAIN, 300, np.random.default_rng(2))
    assert batch.values is not None
    np.testing.assert_allclose(found, batch.values, atol=0.15)
    start = snapshot_values(
        [0], lambda place, rng: float(CHAIN.simulate(np.array([place]), np.array([0]), rng)[0]), rollouts=800, seed=3
    )
    assert start[0] == pytest.approx(CHAIN.state_values()[0, 0], abs=0.08)


def test_a_batch_gradient_is_the_sum_over_its_decisions() -> None:
    batch = CHAIN.sample(2, 3, np.random.default_rng(4))
    advantages = np.arange(batch.turns, dtype=np.float64)
    expected = np.zeros((CHAIN.places, 3))
    for place, action, advantage in zip(batch.states, batch.actions, advantages, strict=True):
        expected[place] += advantage * (np.eye(3)[action] - CHAIN.probabilities[place])
    np.testing.assert_allclose(batch_gradient(batch, advantages, CHAIN), expected.ravel(), atol=1e-12)


@pytest.mark.parametrize("name", ["rloo", "rloo-decision"])
def test_leaving_one_out_is_unbiased(name: str) -> None:
    result = measured(name)
    assert abs(result.scale - 1) < 3 * error_of_scale(result)
    assert result.tilt < 2 * result.tilt_error


def test_a_group_mean_with_the_episode_itself_shrinks_by_one_minus_one_over_n() -> None:
    result = measured("grpo-no-std")
    assert abs(result.scale - (1 - 1 / ATTEMPTS)) < 3 * error_of_scale(result)
    assert result.tilt < 2 * result.tilt_error


def test_summed_centred_turns_point_elsewhere() -> None:
    result = measured("centred-turns")
    assert result.tilt > 6 * result.tilt_error
    assert result.tilt > 6 * measured("rloo-decision").tilt
    assert abs(result.scale - (1 - 1 / ATTEMPTS)) > 6 * error_of_scale(result)


def test_values_lower_the_noise() -> None:
    exact = probe_gradients(ESTIMATORS["ppo"], CHAIN, batches=60, groups=2, attempts=4, seed=1)
    plain = probe_gradients(ESTIMATORS["rloo"], CHAIN, batches=60, groups=2, attempts=4, seed=1)
    assert exact.var(axis=0).sum() < 0.8 * plain.var(axis=0).sum()


def test_the_probe_covers_every_estimator_and_repeats(capsys: pytest.CaptureFixture[str]) -> None:
    results = probe(batches=3, groups=2, attempts=2)
    assert [result.name for result in results] == list(ESTIMATORS)
    assert set(REFERENCES) <= {result.name for result in results}
    main(["grpo", "--batches", "3", "--groups", "2", "--attempts", "2"])
    printed = capsys.readouterr().out.strip()
    assert printed == format_table([result for result in results if result.name == "grpo"])


def test_only_segment_credit_is_isolated_from_later_luck(capsys: pytest.CaptureFixture[str]) -> None:
    found = probe_isolation(["grpo", "beacon-segment", "subgoal"], groups=300)
    assert found["grpo"] > 0.5
    assert abs(found["beacon-segment"]) < 0.1
    assert abs(found["subgoal"]) < 0.1
    main(["grpo", "--isolation"])
    assert capsys.readouterr().out.startswith("grpo ")


def test_logits_must_fit_the_places() -> None:
    with pytest.raises(ValueError, match="5 places need"):
        Chain(places=5)
