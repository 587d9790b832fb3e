"""Small games in ALFWorld's form, made through the package's own domain, grammar and goals.

They are no replacement for ALFWorld's games, whose rooms come from recorded scenes: one kitchen with a desk, drawn
anew for each game. They exercise everything that plays the real ones where those cannot be downloaded.

`python -m horizon_bench.outside.alfworld_games FOLDER` writes a folder that can stand in for the downloaded data.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from horizon_bench.outside.alfworld_tasks import FOLDERS, GAMES, TASK_TYPES
from horizon_bench.outside.extras import need

_FURNITURE = (
    *(("CounterTop", 2, False), ("Cabinet", 3, True), ("Drawer", 2, True), ("Fridge", 1, True), ("Microwave", 1, True)),
    *(("SinkBasin", 1, False), ("GarbageCan", 1, False), ("DiningTable", 1, False), ("Desk", 1, False)),
)
"""Kinds of receptacle, how many, and whether they open."""
_OBJECTS = {
    "Apple": ("cleanable", "heatable", "coolable"),
    "Egg": ("cleanable", "heatable", "coolable"),
    "Mug": ("cleanable", "heatable", "coolable"),
    "Potato": ("cleanable", "heatable", "coolable"),
    "Plate": ("cleanable", "heatable", "coolable"),
    "Book": (),
    "CD": (),
}
_LAMP = "DeskLamp"
_CHANGE = {
    "pick_clean_then_place_in_recep": "cleanable",
    "pick_heat_then_place_in_recep": "heatable",
    "pick_cool_then_place_in_recep": "coolable",
}
_TARGETS = ("CounterTop", "Cabinet", "Drawer", "GarbageCan", "DiningTable")


@dataclass(frozen=True)
class Draw:
    """What a game is about."""

    task_type: str
    wanted: str
    """Kind of the object."""
    target: str
    """Kind of the receptacle; empty where the lamp is the goal."""
    places: tuple[tuple[str, str], ...]
    """Each object and where it lies: `Apple 0` in `Cabinet 2`."""


def draw_game(rng: np.random.Generator, task_type: str) -> Draw:
    """Return a game of one type that is not solved at its start."""
    change = _CHANGE.get(task_type)
    kinds = [kind for kind, can in _OBJECTS.items() if change is None or change in can]
    wanted = kinds[rng.integers(len(kinds))]
    look = task_type == "look_at_obj_in_light"
    target = "" if look else _TARGETS[rng.integers(len(_TARGETS))]
    rooms = [f"{kind} {number}" for kind, count, _ in _FURNITURE for number in range(count)]
    places = []
    for kind in _OBJECTS:
        count = 2 if kind == wanted and task_type == "pick_two_obj_and_place" else 1
        free = [room for room in rooms if kind != wanted or room.split()[0] != target]
        for number in range(count):
            places.append((f"{kind} {number}", free[rng.integers(len(free))]))
    return Draw(task_type, wanted, target, tuple(places))


def problem(draw: Draw) -> str:
    """Return the game as a problem of the package's domain."""
    library = need("alfworld.gen.goal_library", "ALFWorld")
    receptacles = [f"{kind} {number}" for kind, count, _ in _FURNITURE for number in range(count)]
    opening = {kind for kind, _, opens in _FURNITURE if opens}
    things = [*(name for name, _ in draw.places), f"{_LAMP} 0"]
    facts = ["(atLocation agent1 loc_start)"]
    for room in receptacles:
        name, kind = _id(room), room.split()[0]
        facts += [f"(receptacleAtLocation {name} {_location(room)})", f"(receptacleType {name} {kind}Type)"]
        facts += [f"(openable {name})"] * (kind in opening)
    for thing, room in [*draw.places, (f"{_LAMP} 0", "Desk 0")]:
        name, kind = _id(thing), thing.split()[0]
        facts += [f"(objectType {name} {kind}Type)", f"(inReceptacle {name} {_id(room)})"]
        facts.append(f"(objectAtLocation {name} {_location(room)})")
        facts.append(f"(toggleable {name})" if kind == _LAMP else f"(pickupable {name})")
        facts += [f"({can} {name})" for can in _OBJECTS.get(kind, ())]
    kinds = sorted({room.split()[0] for room in receptacles})
    facts += [f"(canContain {room}Type {kind}Type)" for room in kinds for kind in _OBJECTS]
    goal = library.gdict[draw.task_type]["pddl"].format(obj=draw.wanted, recep=draw.target, toggle=_LAMP)
    return "\n".join(
        (
            "(define (problem kitchen) (:domain alfred) (:objects agent1 - agent",
            *(f"{_id(thing)} - object" for thing in things),
            *(f"{_id(room)} - receptacle {_location(room)} - location" for room in receptacles),
            "loc_start - location",
            *(f"{kind}Type - rtype" for kind in kinds),
            *(f"{kind}Type - otype" for kind in (*_OBJECTS, _LAMP)),
            f") (:init {' '.join(facts)})",
            goal.replace(" # ", " - "),
        )
    )


def trajectory(draw: Draw) -> dict[str, Any]:
    """Return what the package keeps beside a game: type and parameters of its task."""
    return {
        "task_type": draw.task_type,
        "pddl_params": {
            "object_target": draw.wanted,
            "parent_target": draw.target,
            "toggle_target": _LAMP if draw.task_type == "look_at_obj_in_light" else "",
            "mrecep_target": "",
            "object_sliced": False,
        },
    }


def write_game(folder: Path, draw: Draw, rng: np.random.Generator) -> Path:
    """Write one game the way `alfworld-generate` does; return its file."""
    library = need("alfworld.gen.goal_library", "ALFWorld")
    places = need("alfworld.info", "ALFWorld")
    templates = library.gdict[draw.task_type]["templates"]
    told = templates[rng.integers(len(templates))]
    task = told.format(obj=draw.wanted.lower(), recep=draw.target.lower(), toggle=_LAMP.lower())
    grammar = Path(places.ALFRED_TWL2_PATH).read_text(encoding="utf8").replace("UNKNOWN GOAL", task)
    game = {
        "pddl_domain": Path(places.ALFRED_PDDL_PATH).read_text(encoding="utf8"),
        "grammar": grammar,
        "pddl_problem": problem(draw),
        "solvable": True,
        "walkthrough": None,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "initial_state.pddl").write_text(problem(draw), encoding="utf8")
    (folder / "traj_data.json").write_text(json.dumps(trajectory(draw)), encoding="utf8")
    (folder / "game.tw-pddl").write_text(json.dumps(game), encoding="utf8")
    return folder / "game.tw-pddl"


def make_games(folder: Path, per_type: int = 2, seed: int = 0) -> int:
    """Write games of every type into each split of a folder; return how many.

    Args:
        folder: stands in for the downloaded data.
        per_type: games of each type and split.
        seed: of all chance; the same seed writes the same games.
    """
    written = 0
    for split, child in zip(FOLDERS, np.random.SeedSequence(seed).spawn(len(FOLDERS)), strict=True):
        rng = np.random.default_rng(child)
        for task_type in TASK_TYPES:
            for number in range(per_type):
                draw = draw_game(rng, task_type)
                name = f"{task_type}-{draw.wanted}-None-{draw.target or _LAMP}-{number}"
                write_game(folder / GAMES / FOLDERS[split] / name / f"trial_{number}", draw, rng)
                written += 1
    return written


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the games that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m horizon_bench.outside.alfworld_games", description=__doc__)
    parser.add_argument("folder", type=Path, help="where to; give it to ALFWorld as its data")
    parser.add_argument("--per-type", type=int, default=2, help="games of each type and split (default 2)")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    try:
        print(f"{make_games(chosen.folder, chosen.per_type, chosen.seed)} games in {chosen.folder}")
    except ImportError as error:
        raise SystemExit(str(error)) from error
    return 0


def _id(thing: str) -> str:
    """Return the identifier of `Cabinet 2`, as recorded scenes have them: kind and place."""
    kind, number = thing.split()
    if kind == "SinkBasin":
        return f"Sink_bar__plus_00_dot_{number}_bar_SinkBasin"
    return f"{kind}_bar__plus_00_dot_{number}"


def _location(room: str) -> str:
    return f"loc_{room.replace(' ', '_')}"


if __name__ == "__main__":
    sys.exit(main())
