"""Rollouts are the environment's own episodes, whatever else is played beside them."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

import horizon_bench  # noqa: F401
from curricula import load_bank
from horizon_bench.envs import Settings
from horizon_bench.episodes import Episode
from horizon_bench.evaluation import evaluate
from horizon_bench.policies import ExpertPolicy, NoisyExpertPolicy, RandomPolicy
from horizon_bench.rollout import rollout

INSTANCES = load_bank("T3", "test")[:5]


def test_episodes_stand_in_the_order_of_instances_then_attempts() -> None:
    episodes = rollout(ExpertPolicy(), INSTANCES, Settings(), attempts=3)
    assert [(episode.group, episode.attempt) for episode in episodes] == [(g, a) for g in range(5) for a in range(3)]
    assert [episode.start for episode in episodes[::3]] == [instance.start for instance in INSTANCES]
    assert {episode.level for episode in episodes} == {"T3"}


def facts(episode: Episode) -> list[tuple[str, tuple[str, ...], int | None]]:
    return [(turn.reply, turn.moves, turn.distance_after) for turn in episode.turns]


def test_an_instances_episodes_do_not_depend_on_the_others() -> None:
    policy, settings = NoisyExpertPolicy(0.3), Settings(on_error="stay", failure_probability=0.2)
    together = rollout(policy, INSTANCES, settings, attempts=2, seed=4)
    for index, instance in enumerate(INSTANCES):
        alone = rollout(policy, [instance], settings, attempts=2, seed=4)
        beside = together[2 * index : 2 * index + 2]
        assert [facts(episode) for episode in alone] == [facts(episode) for episode in beside]


def test_seeds_and_repeats_give_other_chances() -> None:
    def replies(seed: int, instances: object) -> list[list[str]]:
        episodes = rollout(RandomPolicy(), instances, Settings(), seed=seed)  # type: ignore[arg-type]
        return [[turn.reply for turn in episode.turns] for episode in episodes]

    assert replies(1, INSTANCES) == replies(1, INSTANCES)
    assert replies(1, INSTANCES) != replies(2, INSTANCES)
    twice = replies(1, [INSTANCES[0], INSTANCES[0]])
    assert twice[0] != twice[1]


def test_global_generators_stay_untouched() -> None:
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    rollout(RandomPolicy(), INSTANCES, Settings())
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


@pytest.mark.parametrize("interface", ["atomic", "macro", "macro-stepwise"])
def test_a_replay_through_gymnasium_gives_the_same_facts(interface: str) -> None:
    settings = Settings(interface=interface, on_error="stay", reward="subgoal")
    for episode in rollout(NoisyExpertPolicy(0.2, actions=1 if interface == "atomic" else 3), INSTANCES, settings):
        env = gymnasium.make(
            "horizon_bench/Sudoku-v0",
            size=4,
            instance=episode.start,
            interface=interface,
            on_error="stay",
            reward="subgoal",
        )
        observation, info = env.reset(seed=0)
        for turn in episode.turns:
            assert (turn.observation, turn.state_hash) == (observation, info["state_hash"])
            assert turn.distance_before == info["distance_to_go"]
            observation, reward, terminated, truncated, info = env.step(turn.reply)
            assert (turn.reward, turn.moves, turn.legal) == (reward, info["moves"], info["legal"])
        assert (episode.terminated, episode.truncated) == (terminated, truncated)
        assert (episode.end_reason, episode.solved) == (info["end_reason"], info["goal"])


def test_a_cut_off_episode_keeps_what_came_next() -> None:
    episode = rollout(ExpertPolicy(), INSTANCES[:1], Settings(max_decisions=2, observation="compact"))[0]
    assert episode.truncated
    assert episode.final_observation.endswith("<ok> <atomic>")
    assert episode.final_observation != episode.turns[-1].observation
    assert rollout(ExpertPolicy(), INSTANCES[:1], Settings())[0].final_observation == ""


def test_no_attempts_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        rollout(ExpertPolicy(), INSTANCES, Settings(), attempts=0)


def test_evaluation_plays_four_attempts_at_the_asked_temperature() -> None:
    asked: list[float] = []

    class Listening(RandomPolicy):
        def at_temperature(self, temperature: float) -> RandomPolicy:
            asked.append(temperature)
            return self

    assert len(evaluate(Listening(), INSTANCES, Settings())) == 20
    assert asked == [0.8]


def test_processes_that_share_the_work_play_the_same_episodes() -> None:
    policy, instances = NoisyExpertPolicy(0.3), [*INSTANCES, *INSTANCES[:2]]
    whole = rollout(policy, instances, Settings(on_error="stay"), attempts=2, seed=4)
    shares = [rollout(policy, instances, Settings(on_error="stay"), 2, 4, only=range(rank, 7, 3)) for rank in range(3)]
    merged = sorted((one for share in shares for one in share), key=lambda one: (one.group, one.attempt))
    assert [(one.group, one.attempt, facts(one)) for one in merged] == [
        (one.group, one.attempt, facts(one)) for one in whole
    ]
