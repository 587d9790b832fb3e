"""The OpenEnv server against the real package: `tox -e openenv`."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from openenv.core.env_server.interfaces import Environment

from horizon_bench.adapters.openenv_server import PuzzleAction, PuzzleEnvironment, make_app
from horizon_bench.policies.expert import write_reply
from solvers import oracle


def expert(environment: PuzzleEnvironment) -> str:
    env = environment._episode.env  # type: ignore[union-attr]
    return write_reply(env.puzzle, oracle(env.puzzle, env.state).expert_moves(env.state)[:1]).text


def test_an_episode_is_played_through_the_packages_interface() -> None:
    environment = PuzzleEnvironment("T1")
    assert isinstance(environment, Environment)
    seen = environment.reset(seed=3)
    assert seen.prompt.startswith("Sudoku")
    assert environment.reset(seed=3).prompt == seen.prompt
    distance = seen.distance_to_go
    assert distance is not None
    bad = environment.step(PuzzleAction(reply="nonsense"))
    assert (bad.format_ok, bad.done) == (False, False)
    for left in range(distance, 0, -1):
        seen = environment.step(PuzzleAction(reply=expert(environment)))
        assert seen.distance_to_go == left - 1
    assert (seen.done, seen.solved, seen.reward, seen.end_reason) == (True, True, 1.0, "solved")
    assert environment.state.step_count == distance + 1


def test_the_server_speaks_http() -> None:
    with TestClient(make_app("T1")) as client:
        assert client.get("/health").status_code == 200
        schema = client.get("/schema").json()
        assert "reply" in str(schema["action"])
        begun = client.post("/reset", json={"seed": 3}).json()
        assert begun["observation"]["prompt"].startswith("Sudoku")
        assert begun["done"] is False


def test_without_an_episode_there_is_no_step() -> None:
    with pytest.raises(RuntimeError, match="call reset first"):
        PuzzleEnvironment("T1").step(PuzzleAction(reply="x"))
