"""Experts under the interface `split`, which takes an action in two replies: what, then where."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from curricula import load_bank
from horizon_bench.envs import PuzzleEnv, Settings
from horizon_bench.policies import ExpertPolicy, NoisyExpertPolicy, RandomPolicy
from horizon_bench.rollout import rollout

SPLIT = Settings(interface="split", on_error="strict")


@pytest.mark.parametrize("level", ["T3", "L1", "R2", "S1"])
def test_the_expert_takes_two_decisions_for_each_step_of_the_distance(level: str) -> None:
    for episode in rollout(ExpertPolicy(), load_bank(level, "test")[:4], SPLIT, attempts=2):
        assert episode.solved
        assert episode.decisions == 2 * episode.distance
        assert [turn.reply.partition("(")[0] for turn in episode.turns] == ["what", "where"] * episode.distance


def test_the_second_half_goes_on_from_the_first_whoever_chose_it() -> None:
    env, generator = PuzzleEnv(puzzle="rush-hour", level="R2", interface="split"), np.random.default_rng(0)
    env.reset(seed=0)
    right = {env.puzzle.format_action(move) for move in env.oracle.expert_moves(env.state)}
    for move in env.puzzle.moves(env.state):
        text = env.puzzle.format_action(move)
        what = text[text.index("(") + 1 :].partition(",")[0]
        kept = env.get_state()
        env.step(f"what({what})")
        before = env.game.distance_to_go
        reply = ExpertPolicy().reply([""], [env], [generator])[0].text
        info: Any = env.step(reply)[4]
        assert (info["legal"], info["format_ok"]) == (True, True)
        if any(expert.startswith(f"move({what},") for expert in right):
            assert info["distance_to_go"] == before - 1
        env.set_state(kept)


@pytest.mark.parametrize("level", ["T3", "R2", "S1"])
def test_a_random_policy_stays_legal(level: str) -> None:
    settings = Settings(interface="split", on_error="strict", max_decisions=30)
    for episode in rollout(RandomPolicy(), load_bank(level, "test")[:4], settings, attempts=2):
        assert all(turn.legal for turn in episode.turns)


@pytest.mark.parametrize(("rate", "solved"), [(0.0, 1.0), (1.0, 0.0)])
def test_the_error_rate_is_kept_at_both_ends(rate: float, solved: float) -> None:
    episodes = rollout(NoisyExpertPolicy(rate), load_bank("T3", "test")[:6], SPLIT, attempts=2)
    assert np.mean([episode.solved for episode in episodes]) == solved
