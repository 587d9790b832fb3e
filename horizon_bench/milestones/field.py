"""The milestone field of a small model's prompt: z in fixed slots, then the milestone to work on.

Board, feedback and mode stay as they are; the field stands before the mode: `... <ok> <done> <open> <none> <open> b2
<atomic>`. A model made without it (`milestone_slots=0`) never sees it. Where the vocabulary names boxes, each box has
its own slot, and the token that names it says what to work on; elsewhere slots follow the order of the plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from horizon_bench.milestones.plan import MilestonePlan, current_of, solver_plan
from horizon_bench.policies.slots import DONE, NONE, OPEN, box_words, slot_words
from puzzles.base import Puzzle
from solvers.base import Oracle

USUAL_SLOTS = 4
"""Slots of a puzzle whose vocabulary names no boxes: distances are split into four parts."""


def usual_slots(puzzle: Puzzle[Any, Any]) -> int:
    """Return the number of slots that hold every plan of the solver: one for each box, else four."""
    return len(box_words(puzzle)) or USUAL_SLOTS


def field_tokens(puzzle: Puzzle[Any, Any], slots: int, plan: MilestonePlan, done: tuple[bool, ...]) -> tuple[str, ...]:
    """Return the tokens of the field: one for each slot, and the name of the current milestone's slot.

    Args:
        puzzle: the rules.
        slots: of the model.
        plan: of the episode.
        done: verified vector z.

    Raises:
        ValueError: if the plan holds a milestone that has no slot.
    """
    words = slot_words(puzzle, slots)
    places = [_slot(words, index, one.text) for index, one in enumerate(plan.milestones)]
    tokens = [NONE] * slots
    for place, met in zip(places, done, strict=True):
        tokens[place] = DONE if met else OPEN
    current = current_of(done)
    return (*tokens, NONE if current is None else words[places[current]])


def _slot(words: tuple[str, ...], index: int, name: str) -> int:
    """Return the slot of a milestone: that of its name, or its place in the plan."""
    if name.startswith("box "):
        name = f"b{name[4:]}"
    if name in words:
        return words.index(name)
    if words[0] == "<m1>" and index < len(words):
        return index
    raise ValueError(
        f"milestone {name!r} has no slot in the small model's field ({', '.join(words)}); let the solver write the "
        "plan, or create the policy with more milestone_slots"
    )


def with_field(observation: str, tokens: tuple[str, ...]) -> str:
    """Return a compact observation with the field before its mode."""
    board, _, mode = observation.rpartition(" ")
    return f"{board} {' '.join(tokens)} {mode}"


class GuidedOracle:
    """An oracle whose expert works on the current milestone of a plan wherever it can."""

    def __init__(self, oracle: Oracle[Any, Any], milestones: MilestonePlan) -> None:
        """Join them.

        Args:
            oracle: bound to the instance.
            milestones: the solver's plan of it.
        """
        self._oracle, self.milestones = oracle, milestones

    def __getattr__(self, name: str) -> Any:
        """Return everything else as the oracle knows it."""
        return getattr(self._oracle, name)

    def expert_moves(self, state: Any) -> tuple[Any, ...]:
        """Return the expert's moves that work on the current milestone, all of them where none does."""
        moves = self._oracle.expert_moves(state)
        current = current_of(self.milestones.done(state))
        if current is None:
            return moves
        wanted = self._oracle.subgoals.index(self.milestones.milestones[current].text)
        return tuple(move for move in moves if self._oracle.own_subgoal(state, move) == wanted) or moves


@dataclass(frozen=True)
class Guide:
    """Gives the expert that follows the milestones, and the field of its states, for supervised training."""

    puzzle: Puzzle[Any, Any]
    slots: int
    """Of the model; with 0 there is no field and the expert stays as it is."""

    def expert(self, oracle: Oracle[Any, Any]) -> Any:
        """Return the oracle to learn from."""
        return GuidedOracle(oracle, solver_plan(self.puzzle, oracle)) if self.slots else oracle

    def tokens(self, expert: Any, state: Any) -> tuple[str, ...]:
        """Return the tokens of the field in a state, () without one.

        Args:
            expert: what `expert` returned for the instance.
            state: any state of it.
        """
        if not self.slots:
            return ()
        plan = expert.milestones
        return field_tokens(self.puzzle, self.slots, plan, plan.done(state))
