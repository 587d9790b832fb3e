"""The OpenEnv server among stand-ins; `tox -e openenv` holds it to the real package."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from horizon_bench.policies.expert import write_reply
from solvers import oracle
from tests.horizon_bench.adapters.stand_ins import OPENENV, Environment, loaded

ADAPTER = "horizon_bench.adapters.openenv_server"


@pytest.fixture
def server() -> Iterator[Any]:
    with loaded(ADAPTER, OPENENV) as module:
        yield module


def expert(environment: Any) -> str:
    env = environment._episode.env
    return write_reply(env.puzzle, oracle(env.puzzle, env.state).expert_moves(env.state)[:1]).text


def test_an_episode_is_scored_step_by_step(server: Any) -> None:
    environment = server.PuzzleEnvironment("T1")
    assert isinstance(environment, Environment)
    assert environment.SUPPORTS_CONCURRENT_SESSIONS
    seen = environment.reset(seed=3, episode_id="mine")
    assert (seen.done, seen.reward, environment.state.episode_id) == (False, None, "mine")
    distance = seen.distance_to_go
    bad = environment.step(server.PuzzleAction(reply="nonsense"))
    assert (bad.format_ok, bad.legal, bad.done, bad.distance_to_go) == (False, False, False, distance)
    rewards = []
    for left in range(distance, 0, -1):
        assert seen.prompt.startswith("Sudoku")
        seen = environment.step(server.PuzzleAction(reply=expert(environment)))
        rewards.append(seen.reward)
        assert seen.distance_to_go == left - 1
    assert (seen.done, seen.solved, seen.end_reason, seen.prompt) == (True, True, "solved", "")
    assert rewards == [0.0] * (distance - 1) + [1.0]
    assert environment.state.step_count == distance + 1


def test_the_seed_draws_the_puzzle_and_a_start_of_ones_own_takes_its_place(server: Any) -> None:
    environment = server.PuzzleEnvironment("T1")
    prompts = [environment.reset(seed=seed).prompt for seed in range(8)]
    assert prompts == [environment.reset(seed=seed).prompt for seed in range(8)]
    assert len(set(prompts)) > 4
    own = environment.reset(seed=1, start="1234341221434.2.")
    assert own.distance_to_go == 2
    board = "..B.CC..B...AAB...DDD..E.....E.....E"
    assert environment.reset(puzzle="rush-hour", size=6, start=board).distance_to_go == 21
    first, second = (environment.reset() and environment.state.episode_id for _ in range(2))
    assert first != second


def test_without_an_episode_there_is_no_step(server: Any) -> None:
    with pytest.raises(RuntimeError, match="call reset first"):
        server.PuzzleEnvironment("T1").step(server.PuzzleAction(reply="x"))


def test_the_command_line_serves_what_it_was_told(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[Any] = []
    run = SimpleNamespace(run=lambda app, host, port: served.extend((app, host, port)))
    monkeypatch.setitem(sys.modules, "uvicorn", run)
    words = ["--level", "T3", "--split", "test", "--interface", "macro", "--host", "::1", "--port", "99"]
    monkeypatch.setattr(sys, "argv", ["openenv_server", *words])
    server.main()
    app, host, port = served
    assert (host, port) == ("::1", 99)
    assert (app.action, app.observation) == (server.PuzzleAction, server.PuzzleObservation)
    first, second = app.make(), app.make()
    assert first is not second  # a session each
    first.reset(seed=0)
    assert (first._episode.env.settings.interface, first._instances[0].level) == ("macro", "T3")
    assert first._instances == server.load_bank("T3", "test")


def test_without_the_package_the_error_names_the_command() -> None:
    with (
        pytest.raises(ImportError, match=r'pip install "horizon-bench\[openenv\]"'),
        loaded(ADAPTER, {"openenv": None}),
    ):
        pass
