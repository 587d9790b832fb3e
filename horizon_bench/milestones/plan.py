"""A plan: milestones in the order in which they are to be met, each with its check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from horizon_bench.milestones.conditions import Condition, Knowledge, subgoal_condition
from puzzles.base import Puzzle
from solvers.base import Oracle

Milestone = Condition
"""A milestone is a condition that stands in a plan."""


@dataclass(frozen=True, eq=False)
class MilestonePlan:
    """Milestones of one instance, first things first."""

    milestones: tuple[Milestone, ...]
    source: str = "solver"
    """Who wrote it: `solver`, `model`, ..."""

    def __len__(self) -> int:
        """Return the number of milestones."""
        return len(self.milestones)

    def done(self, state: Any, knowledge: Knowledge = "solver") -> tuple[bool, ...]:
        """Return which milestones hold in a state, the vector z, shape [milestones]."""
        return tuple(bool(one.holds(state, knowledge)) for one in self.milestones)


def current_of(done: tuple[bool, ...]) -> int | None:
    """Return the index of the first milestone that is not met, None where all are."""
    return done.index(False) if False in done else None


def solver_plan(puzzle: Puzzle[Any, Any], oracle: Oracle[Any, Any]) -> MilestonePlan:
    """Return the oracle's subgoals in the order in which the solver's plan completes them.

    Those that hold at the start are left out; those that the plan never completes come last.

    Args:
        puzzle: the rules.
        oracle: bound to the instance.
    """
    state = oracle.start
    at_start = oracle.subgoals_done(state)
    order: list[int] = []
    for move in oracle.plan(state) or ():
        state = puzzle.apply(state, move)
        order += [
            index
            for index, done in enumerate(oracle.subgoals_done(state))
            if done and not at_start[index] and index not in order
        ]
    order += [index for index, done in enumerate(at_start) if not done and index not in order]
    return MilestonePlan(tuple(subgoal_condition(oracle, index) for index in order))
