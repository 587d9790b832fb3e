"""The adapter: a world that can only be played, as a puzzle that every environment, policy and study takes.

Subclass `World`, say which tasks there are and how a simulator starts, and give each task its gold commands. States are
trails of commands; a simulator stands behind them (see `stage`), so that copies, snapshots and replays work without the
world's help. What such a world cannot give stands in `World.lacks`, and is refused where it is asked for.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

from horizon_bench.outside.commands import command_pattern, tidy
from horizon_bench.outside.simulators import Simulator, Trail, View
from horizon_bench.outside.stage import Stage
from puzzles.base import CRASHED, EXACT_DISTANCE, Puzzle

PAD = "-"
"""Fills the compact form up."""
NOT_HERE = "not possible here"


class World(Puzzle[Trail, str]):
    """A text world behind a simulator. An action is one command; the reply `open door; go north` holds two."""

    lacks: ClassVar[Mapping[str, str]] = {
        EXACT_DISTANCE: "the world can only be played; its gold commands give the distance, off their way it is a guess"
    }
    verbs: ClassVar[tuple[str, ...]] = ()
    """First words of commands, longest form first where one begins another; what begins otherwise is no command."""
    most_live: ClassVar[int] = 1
    """Simulators that run side by side at most; each further episode in play replays its commands."""
    most_at_once: ClassVar[int | None] = 1
    refusals_are_free: ClassVar[bool] = False
    """A command that is refused leaves the simulator exactly as it was."""
    listed_only: ClassVar[bool] = True
    """Only admissible commands are tried. If false, the world decides on every command by itself."""
    words_shown: ClassVar[int] = 120
    """Tokens of the compact form, where it is not overridden."""

    # ---------------------------------------------------------------- what a world states

    @abstractmethod
    def start_simulator(self) -> Simulator:
        """Start one copy of the world; what is missing raises `ImportError` that names its installation."""

    @abstractmethod
    def has_task(self, task: str) -> bool:
        """Return whether there is such a task."""

    @abstractmethod
    def gold(self, task: str) -> tuple[str, ...]:
        """Return commands that reach the goal from the task's start; their number is the task's distance."""

    def subgoal_names(self, task: str) -> tuple[str, ...]:
        """Return the names of the task's subgoals, in the order of `View.subgoals`; () for quarters of the way."""
        return ()

    # ---------------------------------------------------------------- rules

    @cached_property
    def stage(self) -> Stage:
        """The simulators behind this puzzle; none runs before a state is asked for."""
        return Stage(self.start_simulator, self.most_live, self.refusals_are_free)

    def close(self) -> None:
        """End the simulators; playing on starts them again."""
        self.stage.close()

    def view(self, state: Trail) -> View:
        """Return what the world tells in a state."""
        return self.stage.view(state)

    def parse(self, text: str) -> Trail:
        """Return the start of a task."""
        if not self.has_task(text):
            raise ValueError(f"{self.name} has no task {text[:80]!r}{self.hint(text)}")
        return Trail(text, ())

    def key_of(self, text: str) -> str:
        """Return the task: nothing needs to run for it."""
        return text

    def hint(self, text: str) -> str:
        """Return how an error about an unknown task goes on."""
        return ""

    def format(self, state: Trail) -> str:
        """Return the task, followed by the commands carried out."""
        return " > ".join((state.task, *state.commands, *(["crashed"] if state.crash else [])))

    def moves(self, state: Trail) -> tuple[str, ...]:
        """Return the admissible commands."""
        return self.view(state).commands

    def apply(self, state: Trail, move: str) -> Trail:
        """Return the state after a command; a refused one raises `ValueError` with the world's words."""
        if not self._is_open(state, move):
            raise ValueError(NOT_HERE)
        after = self.stage.step(state, move)
        if after.refused:
            raise ValueError(after.refused)
        return Trail(state.task, (*state.commands, move), after.crash)

    def refusal(self, state: Trail, move: str) -> str | None:
        """Return why a command is not possible here, None if it is."""
        if not self._is_open(state, move):
            return NOT_HERE
        return None if self.listed_only else self.stage.step(state, move).refused or None

    def _is_open(self, state: Trail, move: str) -> bool:
        """Return whether the world is to be asked about a command."""
        view = self.view(state)
        return move in view.commands if self.listed_only else not (view.won or view.lost)

    def solved(self, state: Trail) -> bool:
        """Return whether the goal is reached."""
        return self.view(state).won

    def score(self, state: Trail) -> float:
        """Return how much of the goal is met, as the world counts it."""
        view = self.view(state)
        return 1.0 if view.won else view.score

    def failure(self, state: Trail) -> str:
        """Return `crashed` or `lost` where the world has ended without its goal."""
        view = self.view(state)
        return CRASHED if view.crash else "lost" if view.lost else ""

    # ---------------------------------------------------------------- text

    @cached_property
    def action_pattern(self) -> re.Pattern[str]:  # type: ignore[override]
        """A verb and the words up to the next verb, semicolon, comma, full stop or line."""
        return command_pattern(self.verbs)

    def parse_action(self, text: str) -> tuple[str, ...] | None:
        """Return the one command that a text is."""
        command = tidy(text)
        return (command,) if self.action_pattern.fullmatch(command) else None

    def format_action(self, move: str) -> str:
        """Return the command."""
        return move

    def render(self, state: Trail) -> str:
        """Return the observation and the admissible commands."""
        view = self.view(state)
        return "\n".join([view.text, *(["Possible: " + "; ".join(view.commands)] if view.commands else [])])

    def subgoals(self, start: Trail) -> tuple[str, ...]:
        """Return the task's subgoals."""
        return self.subgoal_names(start.task)

    def subgoals_done(self, start: Trail, state: Trail) -> tuple[bool, ...]:
        """Return which of them the world counts as reached."""
        names = self.subgoal_names(start.task)
        return (*self.view(state).subgoals, *(False for _ in names))[: len(names)]

    def make_oracle(self, start: Trail, **options: Any) -> Any:
        """Return the oracle that knows the gold commands."""
        from horizon_bench.outside.gold import GoldOracle

        return GoldOracle(self, start, **options)

    # ---------------------------------------------------------------- tokens

    def compact(self, state: Trail) -> tuple[str, ...]:
        """Return the first words of the observation, filled up to a fixed number."""
        words = self.view(state).text.split()[: self.words_shown]
        return (*words, *(PAD for _ in range(self.words_shown - len(words))))

    def compact_action(self, move: str) -> tuple[str, ...]:
        """Return the command's words."""
        return tuple(move.split())
