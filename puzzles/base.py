"""The one protocol behind every puzzle: states, atomic moves, goal and text form.

A puzzle states rules. It knows nothing of shortest ways (`solvers`), levels (`curricula`) or rewards
(`horizon_bench`). States and moves are immutable and hashable; every method is a pure function of its arguments.
"""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from typing import ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

StateT = TypeVar("StateT", bound=Hashable)
MoveT = TypeVar("MoveT", bound=Hashable)

EXACT_DISTANCE = "exact distance"
"""What `Puzzle.lacks` calls the fewest actions from any state to the goal."""
SNAPSHOTS = "snapshots"
"""What `Puzzle.lacks` calls states that an episode can go on from again."""
LISTED_MOVES = "a full list of moves"
"""What `Puzzle.lacks` calls `moves` that names every legal move, and can be asked thousands of times."""
CRASHED = "crashed"
"""What `Puzzle.failure` says where the world itself went down: no mistake of the policy's."""


class Puzzle(ABC, Generic[StateT, MoveT]):
    """Rules and text of one puzzle; subclass it to add a puzzle of your own.

    The abstract methods are the whole duty. The others have defaults that a subclass overrides where it can do
    better: a reason for a refusal, a prettier board, arrays for structured agents, tokens for small models.
    """

    name: ClassVar[str]
    """Short name, used in prompts, records and file names (`sudoku`)."""

    action_pattern: ClassVar[re.Pattern[str]] = re.compile(r"(?<![A-Za-z_])[A-Za-z_]++\([^()\n]*+\)")
    """Finds the text of each action in a reply, in order; each match is then read by `parse_action`."""

    lacks: ClassVar[Mapping[str, str]] = {}
    """What the puzzle cannot give (`EXACT_DISTANCE`, `SNAPSHOTS`, `LISTED_MOVES`), each with the reason; what needs it
    refuses."""

    most_at_once: ClassVar[int | None] = None
    """Episodes that a rollout plays side by side at most, where each needs a costly simulator; None for any number."""

    repeats_words: ClassVar[bool] = False
    """Whether actions repeat words that stand on the board; a small model then begins with the same vectors for
    reading and for writing, so that it learns to repeat once, not word by word."""

    # ---------------------------------------------------------------- rules

    @abstractmethod
    def parse(self, text: str) -> StateT:
        """Return the start state that `text` describes; any malformed text raises `ValueError` with the reason."""

    @abstractmethod
    def format(self, state: StateT) -> str:
        """Return the state as one line, such that `parse(format(start)) == start` for every start state."""

    @abstractmethod
    def moves(self, state: StateT) -> tuple[MoveT, ...]:
        """Return every legal atomic move, in a fixed order."""

    @abstractmethod
    def apply(self, state: StateT, move: MoveT) -> StateT:
        """Return the state after a legal atomic move; an illegal one raises `ValueError`."""

    @abstractmethod
    def solved(self, state: StateT) -> bool:
        """Return whether the goal is reached."""

    def score(self, state: StateT) -> float:
        """Return how much of the goal is met, from 0 to 1, for the reward `score`; 1 at the goal alone."""
        return float(self.solved(state))

    def examples(self) -> tuple[str, ...]:
        """Return texts of a few start states, for environments and tests that are given none; () if there are none."""
        return ()

    def refusal(self, state: StateT, move: MoveT) -> str | None:
        """Return why the rules refuse `move` here, or None if it is legal. Never consults a solution."""
        return None if move in self.moves(state) else "not a legal move here"

    def reveals(self, state: StateT, move: MoveT) -> bool:
        """Return whether a legal move shows what the policy could not foresee; macros that SFT teaches end there."""
        return False

    def failure(self, state: StateT) -> str:
        """Return the word for how the world itself has ended the episode without its goal, else empty.

        It is asked where the goal is out of reach, and becomes the episode's end reason (`lost`, `CRASHED`).
        """
        return ""

    def levels(self) -> tuple[str, ...]:
        """Return the names of the puzzle's own levels, short ways first; () if it has none."""
        return ()

    def starts(self, level: str, split: str) -> tuple[str, ...]:
        """Return texts of the starts of one of its own levels and split: `train`, `validation` or `test`."""
        return ()

    def key_of(self, text: str) -> str:
        """Return the content key of a start by its text; overridden where a text tells it without being parsed."""
        return self.key(self.parse(text))

    def key(self, state: StateT) -> str:
        """Return the content key: equal for two starts that a symmetry of the puzzle maps onto each other."""
        return self.format(state)

    def close(self) -> None:
        """End what runs behind the rules, such as a simulator; asking the puzzle again starts it again."""

    def require(self, ability: str, wanted_by: str) -> None:
        """Check that the puzzle can give what something needs.

        Args:
            ability: `EXACT_DISTANCE` or `SNAPSHOTS`.
            wanted_by: what needs it, for the message.

        Raises:
            ValueError: naming what needs it and why the puzzle lacks it.
        """
        if ability in self.lacks:
            raise ValueError(f"{wanted_by} needs {ability}, which {self.name} lacks: {self.lacks[ability]}")

    # ---------------------------------------------------------------- text

    @abstractmethod
    def parse_action(self, text: str) -> tuple[MoveT, ...] | None:
        """Return the atomic moves one action stands for, or None if `text` is no action.

        `value(5, r1c1)` is one move; `move(B, up, 3)` is three. Never raises, whatever the text.
        """

    @abstractmethod
    def format_action(self, move: MoveT) -> str:
        """Return the canonical text of one atomic move, such that `parse_action(format_action(m)) == (m,)`."""

    def rules(self) -> str:
        """Return rules, goal and action grammar as the prompt states them."""
        return inspect.cleandoc(self.__doc__ or self.name)

    def render(self, state: StateT) -> str:
        """Return the board as people read it, several lines."""
        return self.format(state)

    # ---------------------------------------------------------------- subgoals (optional)

    def subgoals(self, start: StateT) -> tuple[str, ...]:
        """Return the names of the milestones on the way from `start`, or () if the puzzle states none."""
        return ()

    def subgoals_done(self, start: StateT, state: StateT) -> tuple[bool, ...]:
        """Return which of `subgoals(start)` hold in `state`, shape [subgoals]."""
        return ()

    # ---------------------------------------------------------------- arrays (optional)

    def all_moves(self) -> tuple[MoveT, ...]:
        """Return every move that can ever be legal, indexed by the structured form's action; () if not offered."""
        return ()

    def encode(self, state: StateT) -> NDArray[np.int8]:
        """Return the state as a fixed-shape array of small integers, for the structured form."""
        raise ValueError(f"puzzle {self.name!r} offers no array form; use observation='text'")

    def array_high(self) -> int:
        """Return the largest entry `encode` can hold (the smallest is 0)."""
        raise ValueError(f"puzzle {self.name!r} offers no array form; use observation='text'")

    # ---------------------------------------------------------------- tokens for small models (optional)

    def compact(self, state: StateT) -> tuple[str, ...]:
        """Return the state as whitespace-free tokens of fixed number, one per cell where the puzzle has cells."""
        return tuple(self.format(state))

    def compact_action(self, move: MoveT) -> tuple[str, ...]:
        """Return one move as few whitespace-free tokens; joined by blanks they must be readable by `parse_action`."""
        return tuple(self.format_action(move).split())

    def vocabulary(self) -> tuple[str, ...]:
        """Return every token that `compact`, `compact_action` and thoughts may use; () means: not offered."""
        return ()

    def compact_features(self) -> tuple[tuple[tuple[str, ...], ...], Mapping[str, tuple[str, ...]]]:
        """Return what each position of `compact` is about, by names, and which tokens share some of the names.

        A small model learns one vector for each name. ((), {}) leaves it to the grid, if the tokens are cells of one.
        """
        return (), {}

    # ---------------------------------------------------------------- thoughts (optional)

    def check_thought(self, state: StateT, thought: str) -> bool | None:
        """Return whether a thought's claims about `state` are all true, or None if it claims nothing checkable."""
        return None
