"""ScienceWorld through its own package; needs the extra `outside` and Java (`tox -e outside`)."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import first_block, replies_and_answers

from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.outside import Trail
from horizon_bench.outside.scienceworld import ScienceWorld
from horizon_bench.outside.scienceworld_jvm import ScienceWorldSimulator
from horizon_bench.testing import LAWS, check_puzzle

pytest.importorskip("scienceworld", reason="the extra 'outside' is not installed; run tox -e outside")

PATIENCE = 120.0
"""Seconds until a process that shall end must have ended."""


@pytest.fixture(scope="module")
def world() -> Iterator[ScienceWorld]:
    made = ScienceWorld()
    yield made
    made.close()


def shortest(world: ScienceWorld, most: int = 12) -> list[str]:
    """Return the task of each name with the shortest gold path, where that is short."""
    best: dict[str, str] = {}
    for text, measured in world.bank.measured.items():
        name = text.partition("/")[0]
        if not measured.problem and len(measured.gold) <= most:
            best[name] = min(best.get(name, text), text, key=lambda one: len(world.gold(one)))
    return sorted(best.values(), key=lambda one: len(world.gold(one)))


def machine_of(world: ScienceWorld) -> int:
    """Return the number of the running machine's process."""
    simulator: Any = world.stage._live[0][1]
    assert isinstance(simulator, ScienceWorldSimulator)
    return int(simulator.process.pid)


def ends(process: int) -> bool:
    """Return whether a process ends soon."""
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False


def test_the_expert_solves_short_tasks_at_their_distance_and_reaches_every_subgoal(world: ScienceWorld) -> None:
    tasks = shortest(world)[:6]
    assert len(tasks) == 6
    for task in tasks:
        env = PuzzleEnv(puzzle=lambda: world, instance=task, interface="macro", reward="subgoal")
        env.reset(seed=0)
        _, _, terminated, _, info = env.step("; ".join(world.gold(task)))
        assert (terminated, info["end_reason"], info["atomic_steps"]) == (True, "solved", info["distance"])
        assert info["subgoals_done"] == (True,) * len(world.subgoal_names(task))


def test_asking_for_the_moves_changes_nothing(world: ScienceWorld) -> None:
    task, stories = "mendelian-genetics-unknown-plant/291", []
    for asks in (0, 2):
        state, story = world.parse(task), []
        world.close()
        for command in world.gold(task)[:30]:
            listed = [world.moves(state) for _ in range(asks)]
            assert listed[1:] == listed[:-1]
            state = world.apply(state, command)
            story.append(world.view(state).text)
        stories.append(story)
    assert stories[0] == stories[1]


@pytest.mark.parametrize("task", ["power-component/1", "inclined-plane-determine-angle/99"])
def test_tasks_with_hidden_things_and_unnamed_goals_keep_the_laws(world: ScienceWorld, task: str) -> None:
    assert all(world.subgoal_names(task))
    laws = ["values", "legal moves", "subgoals", "observation in its space", "twins agree"]
    check_puzzle(lambda: world, starts=[task], max_examples=2, laws=laws)


def test_a_fresh_machine_tells_the_same_story(world: ScienceWorld) -> None:
    task = shortest(world)[-1]
    gold = world.gold(task)
    other = ScienceWorld()
    try:
        for length in range(len(gold) + 1):
            trail = Trail(task, gold[:length])
            assert other.view(trail) == world.view(trail)
            if length == 2:
                assert other.moves(trail) == world.moves(trail)
    finally:
        other.close()


def test_a_task_beyond_the_bank_is_measured_on_the_spot(world: ScienceWorld) -> None:
    task = next(
        f"find-non-living-thing/{number}"
        for number in range(300)
        if f"find-non-living-thing/{number}" not in world.bank.measured
    )
    start = world.parse(task)
    state = start
    for command in world.make_oracle(start).plan(start):
        state = world.apply(state, command)
    assert world.solved(state)


def test_refused_commands_leave_the_world_as_it_was(world: ScienceWorld) -> None:
    task = shortest(world)[2]
    state = world.parse(task)
    for command in world.gold(task):
        with pytest.raises(ValueError, match="does not know this command"):
            world.apply(state, "dunk agent in nowhere")
        state = world.apply(state, command)
    assert world.solved(state)


def test_a_killed_machine_is_one_failed_episode(world: ScienceWorld) -> None:
    task = shortest(world)[1]
    env = PuzzleEnv(puzzle=lambda: world, instance=task, on_error="stay")
    env.reset(seed=0)
    world.view(Trail(task, ()))
    world.stage._views.clear()
    world.view(Trail(task, ()))
    os.kill(machine_of(world), signal.SIGKILL)
    _, _, terminated, _, info = env.step(world.gold(task)[0])
    assert (terminated, info["end_reason"]) == (True, "crashed")
    env.reset(seed=0)
    for command in world.gold(task):
        _, _, _, _, info = env.step(command)
    assert info["end_reason"] == "solved"


@pytest.mark.parametrize("law", LAWS)
def test_the_laws_hold(world: ScienceWorld, law: str) -> None:
    check_puzzle(world, starts=shortest(world)[:1], max_examples=2, laws=[law])


def test_the_page_tells_what_is_played(world: ScienceWorld) -> None:
    env = PuzzleEnv(puzzle=lambda: world, instance="find-non-living-thing/237", interface="macro", reward="subgoal")
    env.reset(seed=0)
    env.step("open door to hallway")
    _, (first, whole), (second, part) = replies_and_answers(first_block("scienceworld.md"), ">> ")
    _, reward, _, _, info = env.step(first)
    done, refused, togo = "; ".join(info["moves"]), info["illegal_actions"], info["distance_to_go"]
    note = f"(reward {reward:g}, carried out: {done}; refused: {refused}; {togo} gold commands left)"
    assert [*told(env), note] == whole
    _, reward, _, _, info = env.step(second)
    assert all(line in told(env) for line in part[:-1])
    assert part[-1].startswith(f"(reward {reward:g}, both subgoals, {info['end_reason']};")
    assert info["subgoals_done"] == (True, True)


def told(env: PuzzleEnv) -> list[str]:
    """Return the lines of what the world tells, as a page holds them: without blanks at their ends."""
    return [line.rstrip() for line in env.puzzle.render(env.state).splitlines()]


def test_a_forked_process_leaves_the_machine_of_its_parent_alone(world: ScienceWorld) -> None:
    task = shortest(world)[0]
    trail = Trail(task, ())
    world.view(trail)
    machine = machine_of(world)
    child = os.fork()
    if child == 0:
        world.stage._forget_parents()
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    world.stage._views.clear()
    assert not world.view(trail).crash
    assert world.moves(trail)
    assert machine_of(world) == machine


def test_closing_ends_the_machine_and_leaves_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    world = ScienceWorld()
    world.view(Trail(shortest(world)[0], ()))
    process = machine_of(world)
    world.close()
    assert ends(process)
    assert not list(tmp_path.iterdir())


PARENT = """
import signal, sys, time
# Where the tests run in the background, what they start would not hear it.
signal.signal(signal.SIGINT, signal.default_int_handler)
from horizon_bench.outside import Trail
from horizon_bench.outside.scienceworld import ScienceWorld
world = ScienceWorld()
world.view(Trail(sys.argv[1], ()))
print(world.stage._live[0][1].process.pid, flush=True)
time.sleep(1000)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_machine_outlives_its_parent(world: ScienceWorld, how: signal.Signals) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, shortest(world)[0]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert parent.stdout is not None
    process = int(parent.stdout.readline())
    assert Path(f"/proc/{process}").exists()
    parent.send_signal(how)
    try:
        parent.wait(PATIENCE)
    finally:
        parent.kill()
        parent.stdout.close()
    assert ends(process)
