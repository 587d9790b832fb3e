"""Experts solve at the stated distance, noisy ones err as often as told, random ones stay legal."""

from __future__ import annotations

import numpy as np
import pytest

from curricula import load_bank
from horizon_bench.envs import Settings
from horizon_bench.policies import POLICIES, ExpertPolicy, NoisyExpertPolicy, RandomPolicy, make_policy, model_argument
from horizon_bench.rollout import rollout

STRICT = Settings(on_error="strict")


@pytest.mark.parametrize("level", ["T3", "T5", "L2", "R1", "R3"])
def test_the_expert_solves_at_exactly_the_stated_distance(level: str) -> None:
    for episode in rollout(ExpertPolicy(), load_bank(level, "test")[:6], STRICT, attempts=2):
        assert episode.solved
        assert episode.decisions == episode.atomic_steps == episode.distance


def test_an_expert_of_three_actions_takes_a_third_of_the_decisions() -> None:
    for episode in rollout(ExpertPolicy(actions=3), load_bank("T3", "test")[:6], Settings(interface="macro")):
        assert episode.solved
        assert episode.decisions == -(-episode.distance // 3)


def test_ties_are_broken_at_random() -> None:
    episodes = rollout(ExpertPolicy(), load_bank("T3", "test")[:1], STRICT, attempts=8)
    assert len({episode.turns[0].reply for episode in episodes}) > 2


def test_the_noisy_expert_succeeds_as_independent_errors_would() -> None:
    rate, episodes = 0.1, rollout(NoisyExpertPolicy(0.1), load_bank("T2", "test")[:40], STRICT, attempts=6)
    expected = float(np.mean([(1 - rate) ** episode.distance for episode in episodes]))
    assert abs(np.mean([episode.solved for episode in episodes]) - expected) < 4 * np.sqrt(0.25 / len(episodes))


@pytest.mark.parametrize(("rate", "share"), [(0.0, 0), (1.0, 1)])
def test_the_error_rate_is_kept_at_both_ends(rate: float, share: int) -> None:
    episodes = rollout(NoisyExpertPolicy(rate), load_bank("R1", "test")[:4], Settings(max_decisions=1))
    closer = [episode.turns[0].distance_after == episode.turns[0].distance_before - 1 for episode in episodes]
    assert sum(closer) == (1 - share) * len(closer)


def test_the_random_policy_is_always_legal() -> None:
    for episode in rollout(RandomPolicy(), load_bank("T3", "test")[:10], STRICT, attempts=2):
        assert all(turn.legal for turn in episode.turns)


def test_a_wrong_name_gets_the_nearest_one() -> None:
    with pytest.raises(ValueError, match="did you mean 'noisy-expert'"):
        make_policy("noisy_expert")
    with pytest.raises(ValueError, match="has no option 'rate'; known: error_rate, actions"):
        make_policy("noisy-expert", rate=0.1)


@pytest.mark.parametrize("name", sorted(name for name in POLICIES if not model_argument(name)))
def test_policies_without_tokens_have_no_temperature(name: str) -> None:
    policy = make_policy(name)
    assert policy.at_temperature(0.1) is policy


@pytest.mark.parametrize("options", [{"error_rate": 1.5}, {"actions": 0}])
def test_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"must be at least 1|from 0 to 1"):
        make_policy("noisy-expert", **options)
