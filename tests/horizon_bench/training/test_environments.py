"""An episode in TRL's form is the environment's own; TRL finds in it what it looks for."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from transformers.utils import get_json_schema

from curricula import load_bank
from horizon_bench.envs import Settings
from horizon_bench.policies.expert import write_reply
from horizon_bench.training.environments import Episode, TrlEnvironment, environment_factory, first_prompt
from solvers import oracle

INSTANCE = load_bank("T1")[0]
ROW: dict[str, Any] = {"puzzle": "sudoku", "size": 4, "start": INSTANCE.start, "prompt": [], "level": "T1"}


def expert(env: Any) -> str:
    return write_reply(env.puzzle, oracle(env.puzzle, env.state).expert_moves(env.state)[:1]).text


def test_an_expert_earns_the_task_reward() -> None:
    environment = environment_factory(Settings())()
    assert environment.reset(**ROW) == first_prompt(INSTANCE, Settings())
    assert "unreadable" in environment.act("nonsense") or "Feedback" in environment.act("nonsense")
    environment.reset(**ROW)
    for _ in range(INSTANCE.distance):
        assert environment.get_reward() == 0.0
        last = environment.act(expert(environment._running().env))
    assert last == environment.act("value(1, r1c1)") == "The episode is over: solved."
    assert environment.get_reward() == 1.0


def test_trl_sees_one_tool_with_a_schema() -> None:
    members = [name for name, _ in inspect.getmembers(TrlEnvironment, predicate=inspect.isfunction)]
    tools = [name for name in members if not name.startswith("_") and name not in ("reset", "get_reward")]
    assert tools == ["act"]
    schema = get_json_schema(TrlEnvironment(Settings()).act)["function"]
    assert schema["parameters"]["required"] == ["action"]


def test_what_is_missing_is_named() -> None:
    with pytest.raises(ValueError, match="lacks start"):
        environment_factory(Settings())().reset(puzzle="sudoku")
    with pytest.raises(ValueError, match="speak in text"):
        environment_factory(Settings(observation="compact"))
    with pytest.raises(RuntimeError, match="call reset first"):
        environment_factory(Settings())().act("x")
    assert not Episode(INSTANCE, Settings()).solved
