"""A very small policy that learned a little, and instances that are nearly solved."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from curricula import Instance, load_bank
from horizon_bench.envs import Settings
from horizon_bench.episodes import Episode
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.rollout import rollout
from horizon_bench.training.configs import SftConfig
from horizon_bench.training.sft import train_sft
from puzzles.sudoku import Sudoku

SETTINGS = Settings(observation="compact", on_error="semi")


@pytest.fixture(scope="session")
def late(nearly_solved: Callable[..., list[Instance]]) -> list[Instance]:
    return nearly_solved(load_bank("T1")[:60], 3)


@pytest.fixture(scope="session")
def learned(late: list[Instance]) -> TinyPolicy:
    policy = TinyPolicy.create(Sudoku(4), 16, hidden_size=32, layers=2, seed=1)
    config = SftConfig(
        steps=220, boards=32, modes=("atomic",), learning_rate=1e-2, warmup_steps=10, accuracy_states=0, seed=1
    )
    train_sft(policy, Sudoku(4), late, config)
    return policy


@pytest.fixture
def fresh(learned: TinyPolicy) -> Callable[[], TinyPolicy]:
    """Return a maker of policies that all start from the same learned weights."""
    return lambda: TinyPolicy(copy.deepcopy(learned.model), learned.tokenizer)


@pytest.fixture(scope="session")
def played(learned: TinyPolicy, late: list[Instance]) -> list[Episode]:
    """Return episodes of the policy, solved and failed ones."""
    episodes = rollout(learned, late[:24], SETTINGS, 2, 3)
    assert {episode.solved for episode in episodes} == {True, False}
    return episodes
