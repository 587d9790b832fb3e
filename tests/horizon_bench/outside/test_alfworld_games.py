"""Games in ALFWorld's form: what is drawn, and what is written beside a stand-in for the package's own texts.

`tox -e outside` plays them through the package.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from horizon_bench.outside.alfworld_games import Draw, draw_game, main, make_games, problem, trajectory
from horizon_bench.outside.alfworld_tasks import FOLDERS, GAMES, TASK_TYPES, read_task

CHANGES = {"pick_clean_then_place_in_recep", "pick_heat_then_place_in_recep", "pick_cool_then_place_in_recep"}


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Put a stand-in for the package in place: goals and templates by type, one file of grammar, one of the domain."""
    library, places = ModuleType("alfworld.gen.goal_library"), ModuleType("alfworld.info")
    goals = {
        kind: {
            "pddl": f"(:goal ({kind} # {{obj}} {{recep}} {{toggle}})))",
            "templates": [f"{kind}: {{obj}} {{recep}} {{toggle}}", "put {obj} on {recep} by {toggle}"],
        }
        for kind in TASK_TYPES
    }
    (tmp_path / "grammar.twl2").write_text("task: UNKNOWN GOAL.", encoding="utf8")
    (tmp_path / "domain.pddl").write_text("(define (domain alfred))", encoding="utf8")
    vars(library).update(gdict=goals)
    vars(places).update(ALFRED_TWL2_PATH=tmp_path / "grammar.twl2", ALFRED_PDDL_PATH=tmp_path / "domain.pddl")
    modules = {"alfworld": ModuleType("alfworld"), "alfworld.gen": ModuleType("alfworld.gen")}
    modules |= {"alfworld.gen.goal_library": library, "alfworld.info": places}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.parametrize("task_type", TASK_TYPES)
def test_no_game_is_solved_at_its_start(task_type: str) -> None:
    rng = np.random.default_rng(0)
    drawn = [draw_game(rng, task_type) for _ in range(60)]
    assert len({(one.wanted, one.target) for one in drawn}) > 4
    for one in drawn:
        kinds = [thing.split()[0] for thing, _ in one.places]
        assert kinds.count(one.wanted) == (2 if task_type == "pick_two_obj_and_place" else 1)
        assert all(kinds.count(kind) == 1 for kind in kinds if kind != one.wanted)
        assert len(set(one.places)) == len(one.places) == len({thing for thing, _ in one.places})
        if task_type == "look_at_obj_in_light":
            assert one.target == ""
        else:
            assert all(room.split()[0] != one.target for thing, room in one.places if thing.split()[0] == one.wanted)
        if task_type in CHANGES:
            assert one.wanted in {"Apple", "Egg", "Mug", "Potato", "Plate"}


def test_the_task_beside_a_game_is_read_back() -> None:
    rng = np.random.default_rng(1)
    for task_type in TASK_TYPES:
        one = draw_game(rng, task_type)
        task = read_task(trajectory(one))
        target = one.target.lower() or "desklamp"
        assert (task.task_type, task.wanted, task.target) == (task_type, one.wanted.lower(), target)


@pytest.mark.usefixtures("package")
def test_a_problem_names_what_it_speaks_of() -> None:
    places = (("Mug 0", "SinkBasin 0"), ("Mug 1", "Cabinet 2"), ("Book 0", "Desk 0"))
    text = problem(Draw("pick_two_obj_and_place", "Mug", "Drawer", places))
    assert text.count("(") == text.count(")")
    declared, rest = text.split(") (:init ")
    named = set(re.findall(r"\S*_bar_\S*|loc_\w+", declared))
    assert set(re.findall(r"[A-Za-z]+_bar_[\w]+|loc_\w+", rest)) == named
    assert "(inReceptacle Mug_bar__plus_00_dot_1 Cabinet_bar__plus_00_dot_2)" in rest
    assert "(inReceptacle Mug_bar__plus_00_dot_0 Sink_bar__plus_00_dot_0_bar_SinkBasin)" in rest
    assert "(objectAtLocation Mug_bar__plus_00_dot_1 loc_Cabinet_2)" in rest
    assert "(openable Cabinet_bar__plus_00_dot_2)" in rest
    assert "(openable Desk_bar__plus_00_dot_0)" not in rest
    assert "(heatable Mug_bar__plus_00_dot_0)" in rest
    assert "(heatable Book_bar__plus_00_dot_0)" not in rest
    assert "(toggleable DeskLamp_bar__plus_00_dot_0)" in rest
    assert "(pickupable DeskLamp_bar__plus_00_dot_0)" not in rest
    assert rest.endswith("(:goal (pick_two_obj_and_place - Mug Drawer DeskLamp)))")


@pytest.mark.usefixtures("package")
def test_a_folder_of_games_is_the_same_for_the_same_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    count = 2 * len(TASK_TYPES) * len(FOLDERS)
    assert main([str(tmp_path / "one"), "--per-type", "2", "--seed", "5"]) == 0
    assert capsys.readouterr().out == f"{count} games in {tmp_path / 'one'}\n"
    assert make_games(tmp_path / "two", per_type=2, seed=5) == count
    assert make_games(tmp_path / "three", per_type=2, seed=6) == count
    one, two, three = (
        {str(path.relative_to(folder)): path.read_text(encoding="utf8") for path in sorted(folder.rglob("*.*"))
         if path.is_file()}
        for folder in (tmp_path / "one", tmp_path / "two", tmp_path / "three")
    )  # fmt: skip
    assert one == two != three
    assert len(one) == 3 * count
    for folder in FOLDERS.values():
        games = sorted((tmp_path / "one" / GAMES / folder).glob("*/*/game.tw-pddl"))
        assert len(games) == 2 * len(TASK_TYPES)
        for path in games:
            game = json.loads(path.read_text(encoding="utf8"))
            kind = path.parent.parent.name.split("-")[0]
            assert game["pddl_domain"] == "(define (domain alfred))"
            assert game["pddl_problem"] == (path.parent / "initial_state.pddl").read_text(encoding="utf8")
            assert kind in game["pddl_problem"]
            assert game["grammar"].startswith("task: ")
            assert "UNKNOWN GOAL" not in game["grammar"]
            task = read_task(json.loads((path.parent / "traj_data.json").read_text(encoding="utf8")))
            assert task.task_type == kind
            assert task.wanted in game["grammar"]


def test_without_the_package_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "alfworld", None)
    with pytest.raises(ImportError, match=r'pip install "horizon-bench\[outside\]"'):
        make_games(tmp_path, per_type=1)
