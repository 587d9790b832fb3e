from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from horizon_bench.outside import Trail, View
from horizon_bench.outside.alfworld import ALFWorld
from horizon_bench.outside.alfworld_tasks import FOLDERS, TASK_TYPES, Task, holding, read_task

APPLE = [("objecttype", "apple_1", "appletype"), ("objecttype", "apple_2", "appletype")]
FRIDGE = [("receptacletype", "fridge_1", "fridgetype"), ("receptacletype", "fridge_2", "fridgetype")]
HELD, OTHER = ("holds", "agent1", "apple_1"), ("holds", "agent1", "egg_1")


def inside(thing: str, room: str = "fridge_1") -> tuple[str, ...]:
    return ("inreceptacle", thing, room)


@pytest.mark.parametrize(
    ("task_type", "facts", "expected"),
    [
        ("pick_and_place_simple", [OTHER, inside("egg_1")], (False, False)),
        ("pick_and_place_simple", [HELD], (True, False)),
        ("pick_and_place_simple", [inside("apple_2", "fridge_2")], (False, True)),
        ("pick_and_place_simple", [inside("apple_2", "cabinet_1")], (False, False)),
        ("pick_heat_then_place_in_recep", [HELD, ("iscool", "apple_1")], (True, False, False)),
        ("pick_heat_then_place_in_recep", [("ishot", "apple_1"), inside("apple_2")], (False, True, False)),
        ("pick_heat_then_place_in_recep", [("ishot", "apple_1"), inside("apple_1")], (False, True, True)),
        ("pick_clean_then_place_in_recep", [("isclean", "apple_2"), inside("apple_2")], (False, True, True)),
        ("pick_cool_then_place_in_recep", [("iscool", "egg_1"), inside("egg_1")], (False, False, False)),
        ("pick_two_obj_and_place", [HELD], (True, False, False, False)),
        ("pick_two_obj_and_place", [HELD, inside("apple_2")], (True, True, True, False)),
        ("pick_two_obj_and_place", [inside("apple_1"), inside("apple_2", "fridge_2")], (False, True, False, False)),
        ("pick_two_obj_and_place", [inside("apple_1"), inside("apple_2")], (False, True, False, True)),
    ],
)
def test_milestones_hold_as_the_facts_say(
    task_type: str, facts: list[tuple[str, ...]], expected: tuple[bool, ...]
) -> None:
    task = Task(task_type, "apple", "fridge")
    assert holding(task, [*APPLE, *FRIDGE, *facts]) == expected
    assert len(task.milestones) == len(expected)


@pytest.mark.parametrize("on", [False, True])
def test_the_lamp_is_the_state_that_changes_where_something_is_looked_at(on: bool) -> None:
    task = Task("look_at_obj_in_light", "apple", "desklamp")
    facts = [*APPLE, HELD, ("objecttype", "lamp_1", "desklamptype"), *([("istoggled", "lamp_1")] if on else [])]
    assert holding(task, facts) == (True, on)


def test_a_task_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="must be one of pick_and_place_simple"):
        read_task({"task_type": "pick_and_place_with_movable_recep", "pddl_params": {}})


def write(folder: Path, task_type: str, solvable: object = True) -> None:
    folder.mkdir(parents=True)
    parameters = {"object_target": "Apple", "parent_target": "Fridge", "toggle_target": "", "object_sliced": False}
    content = {"task_type": task_type, "pddl_params": parameters}
    (folder / "traj_data.json").write_text(json.dumps(content))
    (folder / "game.tw-pddl").write_text(json.dumps({"solvable": solvable}))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    games = tmp_path / "json_2.1.1"
    for split in FOLDERS.values():
        for task_type in TASK_TYPES:
            write(games / split / f"{task_type}-Apple" / "trial_1", task_type)
    write(games / "train" / "pick_and_place_simple-Apple" / "trial_0", TASK_TYPES[0], solvable=False)
    write(games / "train" / "pick_and_place_simple-AppleSliced" / "trial_1", TASK_TYPES[0])
    write(games / "train" / "pick_and_place_with_movable_recep-Apple" / "trial_1", "pick_and_place_with_movable_recep")
    return tmp_path


class Kitchen:
    """Answers like a game in which taking and moving the apple is the goal."""

    def reset(self, task: str) -> View:
        self.taken = False
        if task.startswith("plan of "):
            return View("", ("take apple 1 from desk 1", "move apple 1 to fridge 1"))
        return self.view()

    def view(self, won: bool = False) -> View:
        commands = ("move apple 1 to fridge 1",) if self.taken else ("take apple 1 from desk 1",)
        return View("Your task is to: put an apple in fridge.", () if won else commands, won, False, (self.taken, won))

    def step(self, command: str) -> View:
        won = self.taken
        self.taken = True
        return self.view(won)

    def close(self) -> None:
        pass


class Played(ALFWorld):
    def start_simulator(self) -> Kitchen:
        return Kitchen()


def test_games_are_found_by_type_and_split_as_the_package_collects_them(data: Path) -> None:
    world = ALFWorld(data)
    assert world.levels() == TASK_TYPES
    for level in TASK_TYPES:
        for split, folder in FOLDERS.items():
            assert world.starts(level, split) == (f"{folder}/{level}-Apple/trial_1",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "train",
        "train/pick_and_place_simple-Apple/trial_0",
        "train/pick_and_place_simple-AppleSliced/trial_1",
        "train/pick_and_place_with_movable_recep-Apple/trial_1",
        "train/../valid_seen/pick_and_place_simple-Apple/trial_1",
        "elsewhere/pick_and_place_simple-Apple/trial_1",
        f"train/{'x' * 5000}/trial_1",
        "train/\x00/trial_1",
        "train/\ud800/trial_1",
    ],
)
def test_what_the_package_would_not_play_is_no_task(data: Path, text: str) -> None:
    with pytest.raises(ValueError, match="such as train/pick_and_place_simple-Apple/trial_1"):
        ALFWorld(data).parse(text)


def test_the_name_of_the_data_folder_hides_no_game(data: Path) -> None:
    elsewhere = data / "immovable" / "Sliced"
    elsewhere.mkdir(parents=True)
    (data / "json_2.1.1").rename(elsewhere / "json_2.1.1")
    assert all(ALFWorld(elsewhere).starts(level, "test") for level in TASK_TYPES)


def test_the_planner_gives_the_way_and_the_task_its_milestones(data: Path) -> None:
    world = Played(data)
    start = world.parse("train/pick_and_place_simple-Apple/trial_1")
    oracle = world.make_oracle(start)
    assert (oracle.distance, oracle.subgoals) == (2, ("object taken", "object placed"))
    state = start
    for command in oracle.plan(start):
        state = world.apply(state, command)
    assert world.solved(state)
    assert oracle.subgoals_done(state) == (True, True)


@pytest.mark.parametrize(
    "command",
    ["go to cabinet 1", "take apple 1 from cabinet 1", "move apple 1 to sinkbasin 1", "heat egg 2 with microwave 1"],
)
def test_commands_read_back_as_they_are(command: str) -> None:
    world = ALFWorld()
    assert world.parse_action(command) == (command,)
    assert [match[0] for match in world.action_pattern.finditer(f"{command}, then look")] == [f"{command}", "look"]


def test_missing_games_are_named_with_the_command_that_fetches_them(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"alfworld-download --data-dir .*alfworld_games"):
        ALFWorld(tmp_path).parse("train/x/y")


def test_a_missing_package_is_named_with_its_installation(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "alfworld", None)
    monkeypatch.setitem(sys.modules, "alfworld.info", None)
    with pytest.raises(ImportError, match=r'pip install "horizon-bench\[outside\]"'):
        ALFWorld().parse("train/x/y")
    world = ALFWorld(data)
    with pytest.raises(ImportError, match=r'pip install "horizon-bench\[outside\]"'):
        world.view(world.parse("train/pick_and_place_simple-Apple/trial_1"))


def test_a_damaged_file_of_a_game_is_named(data: Path) -> None:
    path = data / "json_2.1.1" / "train" / "pick_and_place_simple-Apple" / "trial_1" / "game.tw-pddl"
    path.write_text("[]")
    with pytest.raises(ValueError, match="is no file of a game of ALFWorld"):
        ALFWorld(data).parse("train/pick_and_place_simple-Apple/trial_1")


def test_states_are_trails() -> None:
    assert Played("nowhere").format(Trail("train/a/b", ("look",))) == "train/a/b > look"
