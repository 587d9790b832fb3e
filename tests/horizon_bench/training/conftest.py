"""A small policy that really learned a little, shared by the tests of training."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from curricula import Instance, load_bank
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.configs import SftConfig
from horizon_bench.training.sft import SftReport, train_sft
from puzzles.sudoku import Sudoku

SFT = SftConfig(
    steps=220,
    boards=32,
    modes=("atomic", "macro", "fixed"),
    learning_rate=1e-2,
    warmup_steps=10,
    accuracy_states=100,
    seed=1,
)


@pytest.fixture(scope="session")
def instances() -> tuple[Instance, ...]:
    return load_bank("T1")[:100] + load_bank("T2")[:100]


@pytest.fixture(scope="session")
def learned(instances: tuple[Instance, ...]) -> tuple[TinyPolicy, SftReport]:
    policy = TinyPolicy.create(Sudoku(4), 16, layers=2, value_head=True, seed=1)
    return policy, train_sft(policy, Sudoku(4), instances, SFT)


@pytest.fixture(scope="session")
def late(instances: tuple[Instance, ...], nearly_solved: Callable[..., list[Instance]]) -> list[Instance]:
    return nearly_solved(instances, 2)


@pytest.fixture
def fresh(learned: tuple[TinyPolicy, SftReport]) -> Callable[[], TinyPolicy]:
    """Return a maker of policies that all start from the same learned weights."""
    return lambda: TinyPolicy(copy.deepcopy(learned[0].model), learned[0].tokenizer)
