"""What an exact solver knows about one instance, behind one protocol: the `Oracle`.

An oracle is bound to a start state. Environments use it for distance, subgoals and dead ends, the expert policy for its
moves; nobody shows its knowledge to a policy. `ORACLES` in `solvers/__init__.py` maps a puzzle's name to its oracle;
a puzzle that is not listed gets the generic breadth-first one.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol, TypeVar, runtime_checkable

StateT = TypeVar("StateT", bound=Hashable)
MoveT = TypeVar("MoveT", bound=Hashable)


@runtime_checkable
class Oracle(Protocol[StateT, MoveT]):
    """Exact knowledge about one instance."""

    @property
    def start(self) -> StateT:
        """The start state the oracle is bound to."""

    @property
    def distance(self) -> int:
        """Goal distance of the start, in atomic actions."""

    @property
    def subgoals(self) -> tuple[str, ...]:
        """Names of the milestones, in a fixed order."""

    def distance_to_go(self, state: StateT) -> int | None:
        """Return the fewest atomic actions from `state` to the goal; None if the goal cannot be reached any more."""

    def expert_moves(self, state: StateT) -> tuple[MoveT, ...]:
        """Return the moves an expert may take next, each on a shortest way; () when solved or out of reach.

        Sudoku: the fills that the easiest available technique proves (singles first). Rush Hour: every first move of a
        shortest plan.
        """

    def plan(self, state: StateT) -> tuple[MoveT, ...] | None:
        """Return one shortest plan from `state`, the same every time; None if the goal cannot be reached any more."""

    def subgoals_done(self, state: StateT) -> tuple[bool, ...]:
        """Return which subgoals hold in `state`, shape [subgoals]."""

    def own_subgoal(self, state: StateT, move: MoveT) -> int | None:
        """Return the index of the one subgoal `move` works towards, or None where a move belongs to none."""
