"""What ALFWorld's games are about, in plain data: their types, where their files lie, and their milestones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

TASK_TYPES = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)
"""The six types of task; they serve as levels."""
GAMES = "json_2.1.1"
"""Folder of the games inside the data folder."""
FOLDERS = {"train": "train", "validation": "valid_seen", "test": "valid_unseen"}
"""The package's folder of each split."""
TAKEN, CHANGED, PLACED = "object taken", "state changed", "object placed"
SECOND_TAKEN, SECOND_PLACED = "second object taken", "both objects placed"
_STATES = {
    "pick_clean_then_place_in_recep": "isclean",
    "pick_heat_then_place_in_recep": "ishot",
    "pick_cool_then_place_in_recep": "iscool",
}

Fact = tuple[str, ...]
"""Name and arguments of one fact about the world, all lower case."""


@dataclass(frozen=True)
class Task:
    """What one game asks for."""

    task_type: str
    wanted: str
    """Kind of the object, lower case."""
    target: str
    """Kind of the receptacle, or of the lamp, lower case."""

    @property
    def milestones(self) -> tuple[str, ...]:
        """Names of what has to happen, in order."""
        if self.task_type == "look_at_obj_in_light":
            return (TAKEN, CHANGED)
        if self.task_type == "pick_two_obj_and_place":
            return (TAKEN, PLACED, SECOND_TAKEN, SECOND_PLACED)
        return (TAKEN, CHANGED, PLACED) if self.task_type in _STATES else (TAKEN, PLACED)


def read_task(trajectory: Mapping[str, object]) -> Task:
    """Return the task that a game's `traj_data.json` describes.

    Raises:
        ValueError: if it describes none of the six types.
    """
    kind, parameters = trajectory.get("task_type"), trajectory.get("pddl_params")
    if kind not in TASK_TYPES or not isinstance(parameters, Mapping):
        raise ValueError(f"task type is {kind!r}, must be one of {', '.join(TASK_TYPES)}")
    target = parameters["toggle_target"] if kind == "look_at_obj_in_light" else parameters["parent_target"]
    return Task(str(kind), str(parameters["object_target"]).lower(), str(target).lower())


def holding(task: Task, facts: Iterable[Fact]) -> tuple[bool, ...]:
    """Return which milestones hold right now, in the order of `Task.milestones`.

    Args:
        task: what is asked for.
        facts: all facts about the world, such as `("inreceptacle", "apple_1", "cabinet_2")`.
    """
    known = set(facts)
    objects = {fact[1] for fact in known if fact[0] == "objecttype" and fact[2] == f"{task.wanted}type"}
    rooms = {fact[1] for fact in known if fact[0] == "receptacletype" and fact[2] == f"{task.target}type"}
    held = any(("holds", "agent1", thing) in known for thing in objects)
    placed = {room: {thing for thing in objects if ("inreceptacle", thing, room) in known} for room in rooms}
    if task.task_type == "look_at_obj_in_light":
        lamps = {fact[1] for fact in known if fact[0] == "objecttype" and fact[2] == f"{task.target}type"}
        return held, any(("istoggled", lamp) in known for lamp in lamps)
    if task.task_type == "pick_two_obj_and_place":
        most = max(map(len, placed.values()), default=0)
        return held, most >= 1, held and most >= 1, most >= 2
    state = _STATES.get(task.task_type)
    if state is None:
        return held, any(placed.values())
    changed = {thing for thing in objects if (state, thing) in known}
    return held, bool(changed), any(things & changed for things in placed.values())
