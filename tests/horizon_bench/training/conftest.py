"""A small policy that really learned a little, shared by the tests of training."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

import pytest

from curricula import Instance, load_bank
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.configs import SftConfig
from horizon_bench.training.sft import SftReport, train_sft
from puzzles.sudoku import Sudoku
from solvers import oracle

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
def late(instances: tuple[Instance, ...]) -> list[Instance]:
    """Return instances with two blanks left: short enough for a policy that has learned for seconds."""
    ending = []
    for instance in instances:
        puzzle = Sudoku(4)
        state = puzzle.parse(instance.start)
        for move in (oracle(puzzle, state).plan(state) or ())[:-2]:
            state = puzzle.apply(state, move)
        ending.append(replace(instance, start=puzzle.format(state), distance=2))
    return ending


@pytest.fixture
def fresh(learned: tuple[TinyPolicy, SftReport]) -> Callable[[], TinyPolicy]:
    """Return a maker of policies that all start from the same learned weights."""
    return lambda: TinyPolicy(copy.deepcopy(learned[0].model), learned[0].tokenizer)
