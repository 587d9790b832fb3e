"""ALFWorld as a puzzle: household tasks in text, played through the package's own text environment.

The games are data that the package's command `alfworld-download` fetches; `horizon_bench.outside.alfworld_games` makes
small ones in the same form. A start is the path of a game below the games' folder, `valid_seen/TASK/TRIAL`. Each game
runs in a process of its own, because its planner is a library in machine code.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

from horizon_bench.outside.alfworld_tasks import FOLDERS, GAMES, TASK_TYPES, Task, holding, read_task
from horizon_bench.outside.child import ChildSimulator, serve
from horizon_bench.outside.extras import need
from horizon_bench.outside.simulators import Simulator, Trail, View
from horizon_bench.outside.world import World
from puzzles.base import EXACT_DISTANCE

DOWNLOAD = "alfworld-download"
"""Command of the package that fetches its games."""
VERBS = (
    *("go to", "open", "close", "take", "move", "put", "use", "heat", "clean", "cool", "slice", "examine"),
    *("inventory", "look", "help"),
)
_GAME, _TRAJECTORY, _PLAN = "game.tw-pddl", "traj_data.json", "plan of "
_NOTHING = "Nothing happens."
_EXAMPLES = 8


class ALFWorld(World):
    """A household: do the task that stands above what you see. You can carry one thing at a time.

    Commands: go to cabinet 1; open cabinet 1; close cabinet 1; take apple 1 from cabinet 1; move apple 1 to cabinet 1;
    heat apple 1 with microwave 1; cool apple 1 with fridge 1; clean apple 1 with sinkbasin 1; use desklamp 1;
    slice apple 1 with knife 1; examine cabinet 1; inventory; look.
    """

    name = "alfworld"
    verbs = VERBS
    refusals_are_free = True
    lacks: ClassVar[Mapping[str, str]] = {
        EXACT_DISTANCE: "ALFWorld is played through its own interpreter; the plan of the package's planner gives the "
        "distance, off its way it is a guess"
    }

    def __init__(self, data: str | Path | None = None) -> None:
        """Name the data.

        Args:
            data: folder that holds `json_2.1.1`; by default the package's own, which its variable ALFWORLD_DATA names.
        """
        self._data = data
        self._plans: dict[str, tuple[str, ...]] = {}
        self._tasks: dict[str, Task] = {}

    @cached_property
    def games(self) -> Path:
        """Folder of the games.

        Raises:
            ImportError: if the package is missing.
            ValueError: if there are no games, with the command that fetches them.
        """
        data = need("alfworld.info", "ALFWorld").ALFWORLD_DATA if self._data is None else self._data
        folder = Path(data) / GAMES
        if not folder.is_dir():
            raise ValueError(
                f"there are no games of ALFWorld in {folder}; run: {DOWNLOAD} --data-dir {data}, or make small ones: "
                f"python -m horizon_bench.outside.alfworld_games {data}"
            )
        return folder

    # ---------------------------------------------------------------- games

    def start_simulator(self) -> Simulator:
        """Start the interpreter in a process of its own."""
        need("alfworld", "ALFWorld")
        return ChildSimulator("horizon_bench.outside.alfworld", [str(self.games)])

    def has_task(self, task: str) -> bool:
        """Return whether there is such a game, and the package plays it."""
        parts = Path(task).parts
        return bool(parts) and parts[0] in FOLDERS.values() and ".." not in parts and _playable(self.games / task)

    def hint(self, text: str) -> str:
        """Return what a start looks like."""
        found = next(
            (texts[0] for split in FOLDERS for level in TASK_TYPES if (texts := self.starts(level, split))), ""
        )
        return f"; a start is a path below {self.games}" + (f", such as {found}" if found else "")

    def task_of(self, text: str) -> Task:
        """Return what a game asks for."""
        known = self._tasks.get(text)
        if known is None:
            known = self._tasks[text] = read_task(_read(self.games / text / _TRAJECTORY))
        return known

    def gold(self, task: str) -> tuple[str, ...]:
        """Return the plan of the package's planner."""
        known = self._plans.get(task)
        if known is None:
            view = self.stage.ask(Trail(task, ()), lambda simulator: simulator.reset(_PLAN + task), stays=False)
            known = self._plans[task] = view.commands
        return known

    def subgoal_names(self, task: str) -> tuple[str, ...]:
        """Return the milestones of the task's type."""
        return self.task_of(task).milestones

    def levels(self) -> tuple[str, ...]:
        """Return the types of task."""
        return TASK_TYPES

    def starts(self, level: str, split: str) -> tuple[str, ...]:
        """Return the games of one type and split, in the order of their paths."""
        return self._placed.get((level, split), ())

    def examples(self) -> tuple[str, ...]:
        """Return a few starts."""
        return self.starts(TASK_TYPES[0], "train")[:_EXAMPLES]

    @cached_property
    def _placed(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """Games of each type and split: those that the package's own environment would collect."""
        placed = {}
        for split, folder in FOLDERS.items():
            found: dict[str, list[str]] = {}
            for path in sorted((self.games / folder).glob(f"*/*/{_GAME}")):
                if _playable(path.parent):
                    text = path.parent.relative_to(self.games).as_posix()
                    found.setdefault(self.task_of(text).task_type, []).append(text)
            placed.update({(level, split): tuple(texts) for level, texts in found.items()})
        return placed


class Household:
    """One game at a time in the package's text environment, with the milestones that hold or have held."""

    def __init__(self, games: str) -> None:
        """Name the folder of the games."""
        self._games = Path(games)
        self._env: Any = None
        self._loaded = ""
        self._reached: tuple[bool, ...] = ()
        self._goal = ""

    def reset(self, task: str) -> View:
        """Begin a game anew; `plan of TASK` answers with the planner's commands instead."""
        planning, task = task.startswith(_PLAN), task.removeprefix(_PLAN)
        env = self._environment()
        if task != self._loaded:
            env.load(str(self._games / task / _GAME))
            self._loaded = task
        # Asking the planner costs time, so only this once; the environment reads its requests anew at each step.
        env.request_infos.policy_commands = planning
        state = env.reset()
        env.request_infos.policy_commands = False
        if planning:
            return View("", tuple(state["policy_commands"] or ()))
        self._task = read_task(_read(self._games / task / _TRAJECTORY))
        self._reached = tuple(False for _ in self._task.milestones)
        self._goal = "Your task is to: " + state.feedback.partition("Your task is to: ")[2].strip()
        return self._view(state, state.feedback.partition("Your task is to: ")[0].partition("=-")[2])

    def step(self, command: str) -> View:
        """Carry out one command."""
        state, _, _ = self._env.step(command)
        if state.feedback.strip() == _NOTHING:
            return View("", refused=_NOTHING)
        return self._view(state, state.feedback)

    def close(self) -> None:
        """End the environment."""
        if self._env is not None:
            self._env.close()
            self._env = None

    def _environment(self) -> Any:
        """Return the package's environment, with the readable names that it gives to things."""
        if self._env is None:
            textworld = need("textworld", "ALFWorld")
            plays = need("textworld.envs", "ALFWorld")
            alfred = need("alfworld.agents.environment.alfred_tw_env", "ALFWorld")
            infos = textworld.EnvInfos(won=True, admissible_commands=True, facts=True)
            self._env = alfred.AlfredDemangler(plays.PddlEnv(infos), shuffle=False)
        return self._env

    def _view(self, state: Any, told: str) -> View:
        facts = [(fact.name.lower(), *(each.name.lower() for each in fact.arguments)) for fact in state["_facts"]]
        now = holding(self._task, facts)
        self._reached = tuple(before or here for before, here in zip(self._reached, now, strict=True))
        won = bool(state.won)
        commands = () if won else tuple(state.admissible_commands)
        return View(f"{self._goal}\n{told.strip()}", commands, won, subgoals=self._reached)


def _playable(folder: Path) -> bool:
    """Return whether the package's own environment would take a game: solvable, nothing sliced or moved."""
    own = "/".join(folder.parts[-2:])
    if "movable" in own or "Sliced" in own:
        return False
    game, trajectory = folder / _GAME, folder / _TRAJECTORY
    try:
        if not game.is_file() or not trajectory.is_file():
            return False
    except OSError:
        # No system takes a name as long as this one.
        return False
    return _read(trajectory).get("task_type") in TASK_TYPES and bool(_read(game).get("solvable"))


def _read(path: Path) -> dict[str, Any]:
    """Return the object in a file of JSON."""
    try:
        content = json.loads(path.read_text(encoding="utf8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is no file of a game of ALFWorld ({error})") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} is no file of a game of ALFWorld: it holds no object")
    return content


if __name__ == "__main__":
    serve(partial(Household, sys.argv[1]))
