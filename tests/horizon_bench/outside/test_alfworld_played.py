"""ALFWorld's own environment on games made here; needs the extra `outside` (`tox -e outside`)."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import first_block, replies_and_answers

from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.outside.alfworld import ALFWorld
from horizon_bench.outside.alfworld_games import make_games
from horizon_bench.outside.alfworld_tasks import TASK_TYPES
from horizon_bench.testing import LAWS, check_puzzle, limits

pytest.importorskip("alfworld", reason="the extra 'outside' is not installed; run tox -e outside")

TOLD = "train/pick_heat_then_place_in_recep-Plate-None-Drawer-1/trial_1"
"""The game of the page's transcript."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alfworld")
    assert make_games(folder, per_type=1, seed=3) == 3 * len(TASK_TYPES)
    return folder


@pytest.fixture(scope="module")
def world(data: Path) -> Iterator[ALFWorld]:
    made = ALFWorld(data)
    yield made
    made.close()


@pytest.mark.parametrize("task_type", TASK_TYPES)
def test_the_plan_reaches_the_goal_and_every_milestone_in_order(world: ALFWorld, task_type: str) -> None:
    task = world.starts(task_type, "train")[0]
    env = PuzzleEnv(puzzle=lambda: world, instance=task, interface="macro", reward="subgoal")
    _, info = env.reset(seed=0)
    assert not any(info["subgoals_done"])
    _, _, terminated, _, info = env.step("; ".join(world.gold(task)))
    assert (terminated, info["end_reason"], info["atomic_steps"]) == (True, "solved", info["distance"])
    assert info["subgoals_reached"] == tuple(range(len(world.subgoal_names(task))))


def test_a_command_out_of_place_is_refused_and_changes_nothing(world: ALFWorld) -> None:
    state = world.parse(world.starts(TASK_TYPES[0], "train")[0])
    assert "take apple 9 from desk 1" not in world.moves(state)
    with pytest.raises(ValueError, match="not possible here"):
        world.apply(state, "take apple 9 from desk 1")


def test_the_same_seed_makes_the_same_games(tmp_path: Path, data: Path) -> None:
    make_games(tmp_path, per_type=1, seed=3)
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    assert made == sorted(path.relative_to(data) for path in data.rglob("*") if path.is_file())
    assert all((tmp_path / path).read_bytes() == (data / path).read_bytes() for path in made)


def test_a_killed_interpreter_is_one_failed_episode(world: ALFWorld) -> None:
    task = world.starts(TASK_TYPES[0], "train")[0]
    env = PuzzleEnv(puzzle=lambda: world, instance=task, on_error="stay")
    env.reset(seed=0)
    world.stage._views.clear()
    env.puzzle.moves(env.state)
    simulator: Any = world.stage._live[0][1]
    os.kill(simulator.process, signal.SIGKILL)
    _, _, terminated, _, info = env.step(world.gold(task)[0])
    assert (terminated, info["end_reason"]) == (True, "crashed")
    env.reset(seed=0)
    for command in world.gold(task):
        _, _, _, _, info = env.step(command)
    assert info["end_reason"] == "solved"


@pytest.mark.parametrize("law", LAWS)
def test_the_laws_hold(world: ALFWorld, law: str) -> None:
    check_puzzle(world, max_examples=2, laws=[law])


def test_laws_that_are_held_in_part_are_listed(world: ALFWorld) -> None:
    assert set(limits(world)) == {"distance", "plan", "arrays"}


def test_the_page_tells_what_is_played(tmp_path: Path) -> None:
    make_games(tmp_path, per_type=2, seed=0)
    world = ALFWorld(tmp_path)
    env = PuzzleEnv(puzzle=world_of(world), instance=TOLD, reward="subgoal")
    env.reset(seed=0)
    names = world.subgoal_names(TOLD)
    (_, start), *told = replies_and_answers(first_block("alfworld.md"), "> ")
    assert world.view(env.state).text.splitlines() == start
    for reply, answers in told:
        info = env.step(reply)[4]
        reached = [names[index] for index in info["subgoals_reached"]] + ["solved"] * info["goal"]
        note = f"({', '.join(reached)})" if reached else ""
        answer = " ".join(world.view(env.state).text.splitlines()[1:])
        assert re.sub(" +", " ", " ".join(answers)) == f"{answer} {note}".strip()
    assert info["end_reason"] == "solved"
    env.close()


def world_of(world: ALFWorld) -> Callable[[], ALFWorld]:
    """Return a maker of the one world."""
    return lambda: world
