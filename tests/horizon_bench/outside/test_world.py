from __future__ import annotations

import gc
import os
import pickle

import gymnasium
import pytest
from corridor import TASKS, Corridor, CorridorSimulator, FreeCorridor, Start

from horizon_bench.envs.instances import workshop
from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.envs.settings import Settings
from horizon_bench.evaluation import evaluate
from horizon_bench.outside import CrashError, Stage, Trail, View
from horizon_bench.policies.expert import ExpertPolicy, NoisyExpertPolicy
from horizon_bench.testing import LAWS, check_puzzle, limits
from puzzles.base import EXACT_DISTANCE, SNAPSHOTS


@pytest.mark.parametrize("world", [Corridor, FreeCorridor])
@pytest.mark.parametrize("law", LAWS)
def test_a_world_that_can_only_be_played_keeps_the_laws(world: type[Corridor], law: str) -> None:
    check_puzzle(world, max_examples=8, laws=[law])


def test_laws_that_a_world_keeps_in_part_are_listed_with_the_reason() -> None:
    assert set(limits(Corridor())) == {"distance", "plan", "arrays"}
    assert "gold commands" in limits(Corridor())["plan"]


@pytest.mark.parametrize("interface", ["atomic", "macro", "macro-stepwise", "macro-capped-2"])
def test_the_expert_solves_every_task_at_its_distance(interface: str) -> None:
    policy = ExpertPolicy(1 if interface == "atomic" else 2)
    episodes = evaluate(policy, [Start(task) for task in TASKS], Settings(interface=interface, max_decisions=40), 2)
    assert all(episode.solved and episode.atomic_steps == episode.distance for episode in episodes)


class Blind(Corridor):
    """States a way that is none."""

    def gold(self, task: str) -> tuple[str, ...]:
        return ("open door",)


def test_gold_commands_that_the_world_refuses_are_named() -> None:
    with pytest.raises(
        ValueError, match="oracle of corridor advises 'open door', which its rules refuse: not possible"
    ):
        evaluate(ExpertPolicy(), [Start("hall 2", f"{__name__}:Blind")], Settings())


def test_a_noisy_expert_errs_without_trying_every_command() -> None:
    before = CorridorSimulator.steps
    policy, settings = NoisyExpertPolicy(1.0), Settings(max_decisions=4, on_error="stay")
    episodes = evaluate(policy, [Start(task) for task in TASKS], settings, 4)
    assert not any(episode.solved for episode in episodes)
    assert "take brass key" not in {move for episode in episodes for move in episode.turns[0].moves}
    # Each episode replays what it shares with none.
    assert CorridorSimulator.steps - before <= sum(episode.decisions for episode in episodes)


def test_environments_of_all_error_rules_share_their_simulators() -> None:
    env = PuzzleEnv(puzzle="corridor:Corridor", instance="hall 2", on_error="stay")
    assert env.workshop is workshop("corridor:Corridor", None, False)


def test_commands_of_a_macro_stop_at_the_first_that_is_refused() -> None:
    env = PuzzleEnv(puzzle=Corridor, instance="hall 3", interface="macro", on_error="stay")
    env.reset(seed=0)
    _, _, _, _, info = env.step("I need the key.\nAction: Take brass key, go east and open door; go east")
    assert info["moves"] == ("take brass key", "go east")
    assert (info["illegal_actions"], info["actions_written"]) == (1, 4)


def test_macro_stepwise_carries_out_the_first_command_only() -> None:
    env = PuzzleEnv(puzzle=Corridor, instance="hall 3", interface="macro-stepwise")
    env.reset(seed=0)
    assert env.step("take brass key go east")[4]["moves"] == ("take brass key",)


def test_subgoals_pay_once() -> None:
    env = PuzzleEnv(puzzle=Corridor, instance="hall 2", interface="macro", reward="subgoal")
    env.reset(seed=0)
    _, reward, terminated, _, info = env.step("take brass key; go east; open door")
    assert (reward, terminated, info["subgoals_reached"]) == (2.0, True, (0, 1))


def test_the_worlds_score_is_paid_as_it_rises() -> None:
    env = PuzzleEnv(puzzle=Corridor, instance="hall 2", reward="score")
    env.reset(seed=0)
    assert [env.step(command)[1] for command in ("take brass key", "go east", "open door")] == [0.25, 0.0, 0.75]


@pytest.mark.parametrize("on_error", ["end", "stay"])
def test_a_crash_fails_the_episode_with_a_reason_and_the_next_one_goes_on(on_error: str) -> None:
    env = PuzzleEnv(puzzle=Corridor, instance="hall 2", on_error=on_error)
    env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step("smash mirror")
    assert (reward, terminated, truncated, info["end_reason"], info["goal"]) == (0.0, True, False, "crashed", False)
    assert "OSError: broken pipe" in observation
    observation, _ = env.reset()
    assert "Room 1 of 2" in observation
    for command in env.oracle.plan(env.state):
        info = env.step(command)[4]
    assert info["end_reason"] == "solved"


def test_a_world_that_is_lost_ends_the_episode() -> None:
    env = PuzzleEnv(puzzle=Corridor, instance="hall 2", on_error="stay")
    env.reset(seed=0)
    _, _, terminated, _, info = env.step("jump")
    assert (terminated, info["end_reason"], info["distance_to_go"]) == (True, "lost", None)


def test_a_simulator_that_dies_between_decisions_is_one_failed_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fresh(Corridor):
        pass

    env = PuzzleEnv(puzzle=Fresh, instance="hall 3")
    env.reset(seed=0)
    env.step("take brass key")

    def dead(self: CorridorSimulator, command: str) -> View:
        raise ConnectionError("the process is gone")

    with monkeypatch.context() as patch:
        patch.setattr(CorridorSimulator, "step", dead)
        assert env.step("go east")[4]["end_reason"] == "crashed"
    env.reset()
    for command in env.oracle.plan(env.state):
        info = env.step(command)[4]
    assert info["end_reason"] == "solved"


def test_simulators_that_all_died_do_not_keep_the_next_episode_from_starting() -> None:
    class Mortal(CorridorSimulator):
        dead = False

        def reset(self, task: str) -> View:
            if self.dead:
                raise BrokenPipeError("the process is gone")
            return super().reset(task)

    stage = Stage(Mortal, most_live=3)
    for task in ("hall 2", "hall 3", "hall 5"):
        stage.view(Trail(task, ()))
    assert len(stage._live) == 3
    for _, simulator in stage._live:
        simulator.dead = True  # type: ignore[attr-defined]
    assert stage.view(Trail("hall 4", ())).text == "Room 1 of 4."
    stage.close()


def test_a_world_that_cannot_start_is_an_error_that_says_why() -> None:
    def broken() -> CorridorSimulator:
        raise OSError("no such program")

    with pytest.raises(CrashError, match="no such program"):
        Stage(broken).view(Trail("hall 2", ()))


def test_a_world_that_does_not_repeat_itself_is_found_out() -> None:
    class Fickle(CorridorSimulator):
        def view(self) -> View:
            return View(f"Visitor {CorridorSimulator.steps}", ("go east", "go west"))

    stage = Stage(lambda: Fickle(length=9))
    stage.step(Trail("hall 9", ()), "go east")
    stage._live.clear()
    assert "did not repeat itself" in stage.step(Trail("hall 9", ("go east",)), "go east").crash


def test_lanes_share_simulators_and_nothing_is_left_running() -> None:
    world = FreeCorridor()
    world.close()
    running = list(CorridorSimulator.running)
    envs = [PuzzleEnv(puzzle=lambda: world, instance="hall 5", max_decisions=99) for _ in range(4)]
    for env in envs:
        env.reset(seed=0)
    for command in world.gold("hall 5"):
        for env in envs:
            info = env.step(command)[4]
    assert info["end_reason"] == "solved"
    assert len(CorridorSimulator.running) - len(running) <= FreeCorridor.most_live
    world.close()
    assert CorridorSimulator.running == running


def test_closing_an_environment_ends_what_runs_and_others_play_on() -> None:
    world = FreeCorridor()
    first, second = (PuzzleEnv(puzzle=lambda: world, instance="hall 3") for _ in range(2))
    vector = gymnasium.make_vec(
        "horizon_bench/Puzzle-v0",
        num_envs=2,
        vectorization_mode="vector_entry_point",
        puzzle=lambda: world,
        instance="hall 3",
    )
    for env in (first, second, vector):
        env.reset(seed=0)
    second.step("take brass key")
    for _ in range(2):
        first.close()
        assert not world.stage._live
    for command in world.gold("hall 3")[1:]:
        info = second.step(command)[4]
    assert info["end_reason"] == "solved"
    vector.close()
    assert not world.stage._live


def test_an_interrupted_simulator_is_closed_and_the_episode_goes_on() -> None:
    world = Corridor()
    running = len(CorridorSimulator.running)
    state = world.apply(world.parse("hall 3"), "take brass key")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CorridorSimulator, "step", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            world.apply(state, "go east")
    assert len(CorridorSimulator.running) == running
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CorridorSimulator, "step", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            world.apply(state, "go east")
    assert len(CorridorSimulator.running) == running
    assert world.apply(state, "go east").commands == ("take brass key", "go east")
    world.close()


def _interrupted(self: CorridorSimulator, command: str) -> View:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "\x00",
        "go \ud800",
        "go " * 40_000,
        "open " + "x" * 100_000,
        "\N{FIRE}" * 25_000,
        "take {0} %s \\",
        "<think>",
        "jump" * 9,
    ],
)
@pytest.mark.parametrize("interface", ["atomic", "macro"])
def test_a_bad_reply_is_data(reply: str, interface: str) -> None:
    env = PuzzleEnv(puzzle=FreeCorridor, instance="hall 3", interface=interface, on_error="stay")
    env.reset(seed=0)
    observation, _, terminated, _, info = env.step(reply)
    assert (terminated, info["goal"], info["moves"], info["decisions"]) == (False, False, (), 1)
    observation.encode()


def test_a_world_that_is_forgotten_takes_its_simulators_along() -> None:
    gc.collect()
    before = len(CorridorSimulator.running)
    world = Corridor()
    world.moves(world.parse("hall 2"))
    assert len(CorridorSimulator.running) == before + 1
    del world
    gc.collect()
    assert len(CorridorSimulator.running) == before


def test_a_forked_process_starts_its_own_simulators_and_leaves_those_of_its_parent_alone() -> None:
    world = Corridor()
    state = world.apply(world.parse("hall 3"), "take brass key")
    before, ((_, simulator),) = CorridorSimulator.started, world.stage._live
    child = os.fork()
    if child == 0:
        world.apply(state, "go east")
        ((_, own),) = world.stage._live
        world.close()
        sound = CorridorSimulator.started == before + 1 and own is not simulator
        os._exit(0 if sound and simulator in CorridorSimulator.running else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert world.stage._live == [(state, simulator)]
    world.close()


def test_a_world_travels_between_processes_without_its_simulators() -> None:
    world = Corridor()
    state = world.apply(world.parse("hall 3"), "take brass key")
    copy = pickle.loads(pickle.dumps(world))
    assert copy.moves(state) == world.moves(state)


def test_a_thousand_episodes_keep_the_number_of_views_and_simulators_bounded() -> None:
    env = PuzzleEnv(puzzle=Corridor, instance="hall 5", on_error="stay")
    gc.collect()
    before = len(CorridorSimulator.running)
    for seed in range(1000):
        env.reset(seed=seed)
        moves = [move for move in env.puzzle.moves(env.state) if move != "smash mirror"]
        env.step(moves[seed % len(moves)])
    assert len(CorridorSimulator.running) <= before + 1
    assert len(env.puzzle.stage._views) <= 4096  # type: ignore[attr-defined]


def test_what_a_world_lacks_is_refused_where_it_is_needed() -> None:
    with pytest.raises(ValueError, match=r"reward 'potential' needs exact distance, which corridor lacks: .*gold"):
        PuzzleEnv(puzzle=Corridor, instance="hall 2", reward="potential")

    class Stale(Corridor):
        lacks = {**Corridor.lacks, SNAPSHOTS: "it never repeats itself"}  # noqa: RUF012

    env = PuzzleEnv(puzzle=Stale, instance="hall 2")
    env.reset(seed=0)
    with pytest.raises(ValueError, match="a snapshot needs snapshots, which corridor lacks: it never repeats"):
        env.get_state()
    assert "snapshot and replay" in limits(Stale())
    assert EXACT_DISTANCE in Stale.lacks


def test_a_world_without_verbs_is_refused_rather_than_never_understood() -> None:
    class Mute(Corridor):
        verbs = ()

    with pytest.raises(ValueError, match="names no `verbs`; give it the first words"):
        PuzzleEnv(puzzle=Mute, instance="hall 2")


def test_an_unknown_task_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="corridor has no task 'hall 7'"):
        gymnasium.make("horizon_bench/Puzzle-v0", puzzle=Corridor, instance="hall 7")
