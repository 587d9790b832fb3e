"""Our rules and games against the package itself and its interpreter: `tox -e outside`."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("textworld", reason="needs the extra `outside`")

from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.outside.textworld import TextWorld
from horizon_bench.outside.textworld_games import _arguments, _fact, make_game, package_rules
from horizon_bench.outside.textworld_make import graded
from horizon_bench.outside.textworld_played import Interpreter, TextWorldPlayed, package_game
from horizon_bench.testing import LAWS, check_puzzle, limits

WORLD = TextWorld()
PLAYED = "horizon_bench.outside.textworld_played:TextWorldPlayed"
SHORT = WORLD.starts("W1", "test")[0]
EPISODES = 300


def test_the_bank_holds_the_rules_and_the_games_of_the_package() -> None:
    assert package_rules() == WORLD.bank.rules
    banked = WORLD.bank.games[0]
    game = make_game(banked.game.seed)
    assert game is not None
    assert graded(game, WORLD.bank.rules) == banked


@pytest.mark.parametrize("level", WORLD.levels())
def test_every_step_is_the_packages_own(level: str) -> None:
    from textworld.generator.game import GameProgression

    rng = np.random.default_rng(0)
    for text in WORLD.starts(level, "test")[:3]:
        house, state = WORLD.house(text), WORLD.parse(text)
        oracle = WORLD.make_oracle(state)
        progress = GameProgression(package_game(house))
        for _ in range(25):
            ours = {action.key: action for action in house.mechanics.legal(state.facts)}
            theirs = _changing(progress)
            assert _turned(house.names, set(ours)) == set(theirs)
            if WORLD.solved(state):
                break
            move = oracle.expert_moves(state)[0] if rng.random() < 0.6 else str(rng.choice(WORLD.moves(state)))
            action = house.action(state.facts, move)
            assert action is not None
            state = WORLD.apply(state, move)
            progress.update(theirs[_turned(house.names, {action.key}).pop()])
            assert [bool(quest.completed) for quest in progress.quest_progressions] == list(
                WORLD.subgoals_done(state, state)
            )
            facts = {fact for fact in map(_fact, progress.state.facts) if not fact[0].endswith("_of")}
            held = {*house.fixed, *house.mechanics.holding(state.facts)}
            assert facts == {fact for fact in held if not fact[0].endswith("_of")}
        assert progress.completed == WORLD.solved(state)


def _changing(progress: Any) -> dict[tuple[str, ...], Any]:
    known = {rule.name for rule in WORLD.bank.rules}
    return {_arguments(action): action for action in progress.valid_actions if action.name in known}


def _turned(names: dict[str, str], keys: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Return actions with the compass points of the names."""
    return {(f"go/{names[key[0][3:]]}" if key[0].startswith("go/") else key[0], *key[1:]) for key in keys}


def test_the_interpreter_agrees_and_ends_at_the_distance() -> None:
    interpreter, state = Interpreter(), WORLD.parse(SHORT)
    view = interpreter.reset(SHORT)
    for move in WORLD.make_oracle(state).plan(state) or ():
        listed = {command for command in view.commands if command.split()[0] not in ("look", "inventory", "examine")}
        assert listed == set(WORLD.moves(state))
        view, state = interpreter.step(move), WORLD.apply(state, move)
        assert view.subgoals == WORLD.subgoals_done(state, state)
    assert view.won
    interpreter.close()


@pytest.fixture(scope="module")
def played() -> Iterator[TextWorldPlayed]:
    made = TextWorldPlayed()
    yield made
    made.close()


@pytest.mark.parametrize("law", LAWS)
def test_the_played_world_keeps_the_laws(played: TextWorldPlayed, law: str) -> None:
    check_puzzle(played, starts=[SHORT], max_examples=3, laws=[law])


def test_laws_that_the_played_world_keeps_in_part_are_listed_with_the_reason(played: TextWorldPlayed) -> None:
    found = limits(played)
    assert set(found) == {"distance", "plan", "arrays"}
    assert all(found.values())


def test_many_episodes_leak_nothing_and_a_kill_is_one_failed_episode() -> None:
    env = PuzzleEnv(puzzle=PLAYED, instance=SHORT, interface="atomic")
    stage = env.puzzle.stage  # type: ignore[attr-defined]
    sizes, files = [], []
    for episode in range(EPISODES):
        env.reset(seed=episode)
        stage._views.clear()
        for move in env.oracle.plan(env.state):
            info = env.step(move)[4]
        assert (info["end_reason"], info["atomic_steps"]) == ("solved", info["distance"])
        if episode % 100 == 99:
            processes = [simulator.process for _, simulator in stage._live]
            sizes.append(sum(map(_memory, (os.getpid(), *processes))))
            files.append(sum(len(list(Path(f"/proc/{process}/fd").iterdir())) for process in (os.getpid(), *processes)))
    assert len(processes) <= env.puzzle.most_live  # type: ignore[attr-defined]
    assert sizes[-1] < 1.1 * sizes[1]
    assert files[-1] == files[1]
    env.reset(seed=0)
    stage._views.clear()
    first, second = env.oracle.plan(env.state)[:2]
    env.step(first)
    for _, simulator in stage._live:
        os.kill(simulator.process, signal.SIGKILL)
    info = env.step(second)[4]
    assert info["end_reason"] == "crashed"
    stage._views.clear()
    env.reset(seed=0)
    for move in env.oracle.plan(env.state):
        info = env.step(move)[4]
    assert info["end_reason"] == "solved"
    processes = [simulator.process for _, simulator in stage._live]
    env.puzzle.close()  # type: ignore[attr-defined]
    assert not any(Path(f"/proc/{process}").exists() for process in processes)


def _memory(process: int) -> int:
    """Return the resident kilobytes of a process."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
