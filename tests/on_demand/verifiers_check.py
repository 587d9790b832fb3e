"""The environment for verifiers against the real package: `tox -e verifiers`."""

from __future__ import annotations

import asyncio
import pathlib
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import verifiers.v1 as vf
from verifiers.v1.utils.loaders import taskset_class

from horizon_bench.adapters.verifiers_env import (
    PuzzleConversation,
    PuzzleEnvConfig,
    PuzzleTask,
    PuzzleTaskset,
    PuzzleTasksetConfig,
)
from puzzles.sudoku import Sudoku
from solvers import oracle

NAME = "horizon_puzzles"
PLUGIN = """from horizon_bench.adapters.verifiers_env import PuzzleConversation, PuzzleTaskset
__all__ = ["PuzzleConversation", "PuzzleTaskset"]
"""


@pytest.fixture(autouse=True)
def plugin(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the module of two lines that the documentation shows."""
    (tmp_path / f"{NAME}.py").write_text(PLUGIN, encoding="utf8")
    monkeypatch.syspath_prepend(str(tmp_path))


class Player:
    """Stands for a model: reads the board in the prompt and answers with an expert's action."""

    def __init__(self, patience: int = 99) -> None:
        self.patience, self.rewards, self.metrics = patience, {}, {}  # type: ignore[var-annotated]
        self.trace = SimpleNamespace(record_reward=self.rewards.__setitem__, record_metric=self.metrics.__setitem__)

    @asynccontextmanager
    async def interaction(self, task: Any) -> Any:
        yield self

    async def turn(self, prompt: str) -> Any:
        if not self.patience:
            return vf.Segment(messages=[], terminated=True)
        self.patience -= 1
        puzzle = Sudoku(4)
        board = "".join(letter for letter in prompt.rpartition("Board:")[2] if letter in "1234.")
        state = puzzle.parse(board)
        move = oracle(puzzle, state).expert_moves(state)[0]
        return vf.Segment(messages=[], root_reply=f"Action: {puzzle.format_action(move)}")


def environment() -> PuzzleConversation:
    return PuzzleConversation(PuzzleEnvConfig(taskset=PuzzleTasksetConfig(id=NAME)))


def test_the_package_finds_taskset_and_environment() -> None:
    assert taskset_class(NAME) is PuzzleTaskset
    made = environment()
    assert isinstance(made, vf.Env)
    tasks = list(made.taskset.take(3))
    assert [type(task) for task in tasks] == [PuzzleTask] * 3
    assert [task.data.idx for task in tasks] == [0, 1, 2]
    assert len({task.data.start for task in tasks}) == 3


def test_an_episode_is_a_conversation_with_the_puzzle() -> None:
    made = environment()
    (task,) = made.taskset.take(1)
    solver, quitter = Player(), Player(patience=1)
    for player in (solver, quitter):
        asyncio.run(made.run(task, SimpleNamespace(player=player)))
    assert solver.rewards == {"return": 1.0}
    assert solver.metrics == {"solved": 1.0, "decisions": float(task.data.distance)}
    assert quitter.metrics["solved"] == 0.0
    assert quitter.rewards == {"return": 0.0}
