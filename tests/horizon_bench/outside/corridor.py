"""A small world behind the adapter, for tests: find the key, open the door, leave."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from horizon_bench.outside import Simulator, View, World, need

TASKS = ("hall 2", "hall 3", "hall 5")


@dataclass(eq=False)
class CorridorSimulator:
    """A corridor of rooms; the key lies in the first, the door stands in the last."""

    running: ClassVar[list[CorridorSimulator]] = []
    started: ClassVar[int] = 0
    steps: ClassVar[int] = 0
    length: int = 0
    place: int = 0
    key: bool = False
    won: bool = False
    fallen: bool = False
    log: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        CorridorSimulator.running.append(self)
        CorridorSimulator.started += 1

    def reset(self, task: str) -> View:
        self.length = int(task.split()[1])
        self.place, self.key, self.won, self.fallen = 0, False, False, False
        return self.view()

    def step(self, command: str) -> View:
        CorridorSimulator.steps += 1
        if command == "smash mirror":
            raise OSError("broken pipe")
        if command not in self.commands():
            return View(self.view().text, self.commands(), refused=f"you cannot {command}")
        if command == "take brass key":
            self.key = True
        elif command == "jump":
            self.fallen = True
        elif command == "open door":
            self.won = True
        else:
            self.place += 1 if command == "go east" else -1
        return self.view()

    def commands(self) -> tuple[str, ...]:
        ways = ["go west"] * (self.place > 0) + ["go east"] * (self.place < self.length - 1)
        key = ["take brass key"] * (self.place == 0 and not self.key)
        door = ["open door"] * (self.key and self.place == self.length - 1)
        return (*ways, *key, *door, "jump", "smash mirror")

    def view(self) -> View:
        over = self.won or self.fallen
        text = f"Room {self.place + 1} of {self.length}." + (" You have the key." if self.key else "")
        subgoals = (self.key, self.won)
        score = self.key / 4
        return View(text, () if over else self.commands(), self.won, self.fallen, subgoals, score=score)

    def close(self) -> None:
        if self in CorridorSimulator.running:
            CorridorSimulator.running.remove(self)


class Corridor(World):
    """Take the key, walk east, open the door."""

    name = "corridor"
    verbs = ("go", "take", "open", "jump", "smash")

    def start_simulator(self) -> Simulator:
        return CorridorSimulator()

    def has_task(self, task: str) -> bool:
        return task in TASKS

    def gold(self, task: str) -> tuple[str, ...]:
        return ("take brass key", *("go east",) * (int(task.split()[1]) - 1), "open door")

    def subgoal_names(self, task: str) -> tuple[str, ...]:
        return ("key taken", "door open")

    def examples(self) -> tuple[str, ...]:
        return TASKS


@dataclass(frozen=True)
class Start:
    """A start as rollouts take it."""

    start: str
    puzzle: str = "corridor:Corridor"
    key: str = "-"
    level: str = "-"
    size: int | None = None


class FreeCorridor(Corridor):
    """The same, any command may be tried."""

    listed_only = False
    most_live = 2


class Uninstalled(Corridor):
    """Needs a package that is not there."""

    def start_simulator(self) -> Simulator:
        raise AssertionError(need("no_such_package", "the corridor"))


class Broken(Corridor):
    """Does not start."""

    def start_simulator(self) -> Simulator:
        raise RuntimeError("the engine is cold")
