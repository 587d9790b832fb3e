from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

from curricula import load_bank
from horizon_bench.credit import CreditBatch, find_estimator
from horizon_bench.credit.snapshots import rollout_values
from horizon_bench.envs import Settings
from horizon_bench.policies import ExpertPolicy, NoisyExpertPolicy, Reply, Seat
from horizon_bench.rollout import rollout
from puzzles.sudoku import Sudoku

INSTANCES = load_bank("T1", "test")[:3]


class Thinker(ExpertPolicy):
    """An expert whose replies cost ten tokens more than they show; remembers how many boards it saw at a time."""

    rounds: ClassVar[list[int]] = []

    def reply(
        self, observations: Sequence[str], seats: Sequence[Seat], generators: Sequence[np.random.Generator]
    ) -> list[Reply]:
        self.rounds.append(len(observations))
        return [replace(reply, extra_tokens=10) for reply in super().reply(observations, seats, generators)]


def test_the_expert_succeeds_from_every_state() -> None:
    episodes = rollout(ExpertPolicy(), INSTANCES, Settings())
    values = rollout_values(ExpertPolicy(), episodes, INSTANCES, Settings(), rollouts=2, gamma=0.9)
    to_go = [episode.decisions - index - 1 for episode in episodes for index in range(episode.decisions)]
    np.testing.assert_allclose(values, 0.9 ** np.array(to_go), atol=1e-12)
    advantages = find_estimator("vineppo")(CreditBatch.from_episodes(episodes, values=values), gamma=0.9)
    np.testing.assert_allclose(advantages, 0, atol=1e-12)


def test_values_are_chances_of_success_of_the_policy_that_plays_on() -> None:
    """A policy that errs once in five decisions, where any error ends it: 0.8 to the power of the blanks."""
    policy, settings = NoisyExpertPolicy(0.2), Settings(on_error="strict")
    episodes = rollout(policy, INSTANCES, settings, attempts=2, seed=3)
    values = rollout_values(policy, episodes, INSTANCES, settings, rollouts=60, seed=1)
    distances = np.array([turn.distance_before for episode in episodes for turn in episode.turns])
    assert np.mean(values - 0.8**distances) == pytest.approx(0, abs=0.05)
    np.testing.assert_array_equal(values, rollout_values(policy, episodes, INSTANCES, settings, rollouts=60, seed=1))


def test_attempts_share_the_continuations_of_a_shared_state() -> None:
    policy, settings = NoisyExpertPolicy(0.3), Settings(on_error="stay")
    episodes = rollout(policy, INSTANCES, settings, attempts=3, seed=3)
    values = rollout_values(policy, episodes, INSTANCES, settings, rollouts=2)
    batch = CreditBatch.from_episodes(episodes)
    starts = values[batch.offsets[:-1]].reshape(len(INSTANCES), 3)
    assert (starts == starts[:, :1]).all()


def test_a_continuation_has_no_more_tokens_left_than_the_episode_had() -> None:
    """The budget lacks one token for the whole way, so that no state of an episode is worth anything."""
    instance = INSTANCES[0]
    settings = Settings(max_tokens=10 * instance.distance - 1)
    (episode,) = rollout(Thinker(), [instance], settings)
    assert episode.decisions == instance.distance > 1
    values = rollout_values(Thinker(), [episode], [instance], settings, rollouts=1)
    assert values.tolist() == [0.0] * episode.decisions


def test_no_more_episodes_are_in_play_than_the_puzzle_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sudoku, "most_at_once", 2)
    monkeypatch.setattr(Thinker, "rounds", [])
    episodes = rollout(Thinker(), INSTANCES, Settings())
    rollout_values(Thinker(), episodes, INSTANCES, Settings(), rollouts=3)
    assert max(Thinker.rounds) == 2


def test_chance_in_the_environment_is_refused() -> None:
    with pytest.raises(ValueError, match=r"failure_probability is 0\.1"):
        rollout_values(ExpertPolicy(), [], INSTANCES, Settings(failure_probability=0.1), rollouts=2)
    with pytest.raises(ValueError, match="rollouts is 0"):
        rollout_values(ExpertPolicy(), [], INSTANCES, Settings(), rollouts=0)
