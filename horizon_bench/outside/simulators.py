"""What a world from another package must offer, and what it tells after each command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class View:
    """What a world tells in one state."""

    text: str
    """The observation, as a policy shall read it."""
    commands: tuple[str, ...] = ()
    """Admissible commands, in a fixed order; none once the world has ended."""
    won: bool = False
    """The goal is reached."""
    lost: bool = False
    """The world ended without its goal."""
    subgoals: tuple[bool, ...] = ()
    """Which of the task's subgoals hold or have held."""
    refused: str = ""
    """Why the last command was not carried out; empty if it was."""
    crash: str = ""
    """Why the simulator went down; set by the adapter."""
    score: float = 0.0
    """How much of the goal is met, from 0 to 1; at the goal it counts as 1."""


class Simulator(Protocol):
    """One running copy of a world. It must do the same after the same task and commands, every time.

    Any exception counts as a crash: the simulator is closed and the episode has failed.
    """

    def reset(self, task: str) -> View:
        """Begin a task anew."""

    def step(self, command: str) -> View:
        """Carry out one command."""

    def close(self) -> None:
        """End every process and file of this copy; a second call does nothing."""


@dataclass(frozen=True, slots=True)
class Trail:
    """A state of a world that can only be played: its task and the commands carried out since the start.

    Equal trails are equal states, because a simulator repeats itself. Two trails that meet in one place stay different.
    """

    task: str
    commands: tuple[str, ...]
    crash: str = ""
    """Why the simulator went down at the last command; the next episode that gives it may fare better."""
