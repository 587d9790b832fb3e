"""The environment for verifiers among stand-ins; `tox -e verifiers` holds it to the real package."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from curricula import load_bank
from puzzles.sudoku import Sudoku
from solvers import oracle
from tests.horizon_bench.adapters.stand_ins import VERIFIERS, loaded

ADAPTER = "horizon_bench.adapters.verifiers_env"


@pytest.fixture
def adapter() -> Iterator[Any]:
    with loaded(ADAPTER, VERIFIERS) as module:
        yield module


class Player:
    """Stands for a model: answers with as many expert's actions as it may at a time, until its patience ends."""

    def __init__(self, patience: int = 99, most: int = 1) -> None:
        self.patience, self.most, self.prompts = patience, most, []  # type: ignore[var-annotated]
        self.rewards, self.metrics = {}, {}  # type: ignore[var-annotated]
        self.trace = SimpleNamespace(record_reward=self.rewards.__setitem__, record_metric=self.metrics.__setitem__)

    @asynccontextmanager
    async def interaction(self, task: Any) -> Any:
        yield self

    async def turn(self, prompt: str) -> Any:
        self.prompts.append(prompt)
        if len(self.prompts) > self.patience:
            return SimpleNamespace(terminated=True, last_reply="")
        puzzle = Sudoku(4)
        board = "".join(letter for letter in prompt.rpartition("Board:")[2] if letter in "1234.")
        state = puzzle.parse(board)
        moves = oracle(puzzle, state).expert_moves(state)[: self.most]
        return SimpleNamespace(
            terminated=False, last_reply="Action: " + "; ".join(puzzle.format_action(move) for move in moves)
        )


def play(adapter: Any, player: Player, **rules: str) -> Any:
    """Play the first task of a level and return it."""
    task = next(adapter.PuzzleTaskset(adapter.PuzzleTasksetConfig(level="T3")).load())
    conversation = adapter.PuzzleConversation(adapter.PuzzleEnvConfig(**rules))
    asyncio.run(conversation.run(task, SimpleNamespace(player=player)))
    return task


def test_the_taskset_holds_the_puzzles_of_the_level(adapter: Any) -> None:
    tasks = list(adapter.PuzzleTaskset(adapter.PuzzleTasksetConfig(level="T1", split="validation")).load())
    bank = load_bank("T1", "validation")
    assert [(task.data.id, task.data.start, task.data.distance) for task in tasks] == [
        (one.key, one.start, one.distance) for one in bank
    ]
    assert {(task.data.puzzle, task.data.size, task.config) for task in tasks} == {("sudoku", 4, "task")}


def test_an_episode_is_a_conversation_and_its_return_is_the_reward(adapter: Any) -> None:
    solver = Player()
    task = play(adapter, solver)
    assert len(solver.prompts) == len(set(solver.prompts)) == task.data.distance
    assert solver.rewards == {"return": 1.0}
    assert solver.metrics == {"solved": 1.0, "decisions": float(task.data.distance)}


def test_a_model_that_stops_has_what_it_reached(adapter: Any) -> None:
    quitter = Player(patience=2)
    play(adapter, quitter)
    assert (quitter.rewards, quitter.metrics) == ({"return": 0.0}, {"solved": 0.0, "decisions": 2.0})


def test_the_interface_is_the_one_asked_for(adapter: Any) -> None:
    hasty = Player(most=3)
    task = play(adapter, hasty, interface="macro")
    assert hasty.metrics["solved"] == 1.0
    assert hasty.metrics["decisions"] < task.data.distance


def test_without_the_package_the_error_names_the_command() -> None:
    with (
        pytest.raises(ImportError, match=r'pip install "horizon-bench\[verifiers\]"'),
        loaded(ADAPTER, {"verifiers": None}),
    ):
        pass
