"""ScienceWorld as a puzzle: thirty tasks of primary-school science, each in many variations.

A start is `boil/0`: task and variation. States are trails of commands; the simulator behind them is a Java virtual
machine of the package (`scienceworld_jvm`), one for each process, started when the first state is asked for.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from horizon_bench.outside.commands import command_pattern, tidy
from horizon_bench.outside.scienceworld_bank import BANK, LEVELS, Bank, Measured, read_bank
from horizon_bench.outside.scienceworld_jvm import ScienceWorldSimulator
from horizon_bench.outside.simulators import Trail
from horizon_bench.outside.stage import CrashError
from horizon_bench.outside.world import World
from puzzles.base import EXACT_DISTANCE, LISTED_MOVES

VERBS = (
    *("activate", "close", "connect", "deactivate", "disconnect", "drop", "dunk", "eat", "examine", "flush"),
    *("focus on", "go", "look around", "look at", "look in", "mix", "move", "open", "pick up", "pour", "put down"),
    *("read", "use", "wait", "wait1", "choose"),
)
_EXAMPLES = 8


class ScienceWorld(World):
    """A house with kitchen, workshop, greenhouse and more; do the task that stands above what you see.

    Commands, with the name of a thing you see for THING:
    look around; look at THING; look in THING; inventory; go to PLACE; open THING; close THING; pick up THING;
    drop THING; move THING to THING; pour THING into THING; dunk THING into THING; mix THING; eat THING; read THING;
    examine THING; activate THING; deactivate THING; use THING on THING; connect THING to THING; disconnect THING;
    flush THING; wait (ten moments); wait1 (one moment); focus on THING, which says that the task is about this thing;
    a wrong one ends the task. Where a command could mean several things you are asked which: choose 0, choose 1, or
    choose none.
    """

    name = "scienceworld"
    verbs = VERBS
    listed_only = False
    refusals_are_free = True
    lacks: ClassVar[Mapping[str, str]] = {
        EXACT_DISTANCE: "ScienceWorld can only be played; the gold commands of the package give the distance, "
        "off their way it is a guess",
        LISTED_MOVES: "ScienceWorld decides on free text; the package lists commands, but not all that it takes, and "
        "some with names of hidden things that it refuses",
    }

    def __init__(self, bank: str | Path | None = None) -> None:
        """Open a bank of tasks.

        Args:
            bank: a file that shipped or that `python -m horizon_bench.outside.scienceworld_make` wrote.
        """
        self._path = BANK if bank is None else Path(bank)
        self._measured: dict[str, Measured] = {}

    @property
    def bank(self) -> Bank:
        """Tasks, splits and measured variations."""
        return read_bank(self._path)

    # ---------------------------------------------------------------- tasks

    def start_simulator(self) -> ScienceWorldSimulator:
        """Return a simulator; its machine starts with the first task."""
        return ScienceWorldSimulator()

    def has_task(self, task: str) -> bool:
        """Return whether there is such a task and variation."""
        return self.bank.has(task)

    def hint(self, text: str) -> str:
        """Return the nearest task, or the range of its variations."""
        name = text.partition("/")[0]
        if name in self.bank.splits:
            last = max(high for _, high in self.bank.splits[name].values()) - 1
            return f"; variations of {name} go from {name}/0 to {name}/{last}"
        near = difflib.get_close_matches(name, self.bank.splits, n=1)
        return f"; did you mean {near[0]}/0?" if near else f"; tasks: {', '.join(self.bank.splits)}"

    def measured(self, task: str) -> Measured:
        """Return gold commands and subgoals of a task; one that is not in the bank is measured, in some seconds."""
        known = self.bank.measured.get(task) or self._measured.get(task)
        if known is None:
            known = self._measured[task] = self.stage.ask(
                Trail(task, ()), lambda simulator: simulator.measure(task), stays=False
            )
        return known

    def gold(self, task: str) -> tuple[str, ...]:
        """Return the gold commands up to the goal.

        Raises:
            ValueError: if they do not reach it.
        """
        measured = self.measured(task)
        if measured.problem:
            raise ValueError(
                f"the gold path of {task!r} does not reach the goal with the chances that the task is seeded with: "
                f"{measured.problem}; choose another task"
            )
        return measured.gold

    def subgoal_names(self, task: str) -> tuple[str, ...]:
        """Return the task's sequential subgoals."""
        return self.measured(task).subgoals

    def levels(self) -> tuple[str, ...]:
        """Return the levels, by the number of gold commands."""
        return tuple(LEVELS)

    def starts(self, level: str, split: str) -> tuple[str, ...]:
        """Return the measured variations of one level and split."""
        return self.bank.placed.get((level, split), ())

    def examples(self) -> tuple[str, ...]:
        """Return a few starts."""
        return self.starts("short", "train")[:_EXAMPLES]

    # ---------------------------------------------------------------- rules and text

    @cached_property
    def action_pattern(self) -> re.Pattern[str]:  # type: ignore[override]
        """A verb and the words up to the next one; `inventory` alone, for things are `in inventory` as well."""
        return re.compile(rf"{command_pattern(VERBS).pattern}|(?<![\w-])inventory(?![\w-])", re.IGNORECASE)

    def moves(self, state: Trail) -> tuple[str, ...]:
        """Return the commands that the world lists as possible; it is asked each time, for they are thousands."""
        view = self.view(state)
        if view.won or view.lost:
            return ()
        try:
            listed = self.stage.ask(state, lambda simulator: simulator.commands())
        except CrashError:
            return ()
        return tuple(dict.fromkeys(command for command in map(tidy, listed) if self.action_pattern.fullmatch(command)))
