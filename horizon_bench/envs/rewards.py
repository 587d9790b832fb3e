"""Task rewards as pure functions of what one decision did; each atomic step's share is discounted on request."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

DEAD_POTENTIAL = -2.0
"""Potential of a state from which the goal is out of reach; the start has -1, the goal 0."""


class RewardFacts(NamedTuple):
    """What one decision did, as rewards see it."""

    solved_at: int | None
    """Index, among the decision's carried-out moves, of the move that reached the goal."""
    subgoals_at: tuple[int, ...]
    """Index of the move that completed each subgoal reached for the first time."""
    subgoals: int
    """Number of subgoals of the instance."""
    moves: int
    """Moves carried out."""
    potential_before: float
    """Phi of the state the policy saw."""
    potential_after: float
    """Phi of the state after the decision; 0 once the rules have ended the episode."""
    step_reward: float
    """Format and legality, from -1 to 0."""
    gamma: float
    discount_inside: bool
    score_gained: float = 0.0
    """By how much the decision raised the puzzle's score."""

    def discount(self, index: int) -> float:
        """Return the weight of what the move at `index` earned."""
        return self.gamma**index if self.discount_inside else 1.0


def outcome(facts: RewardFacts) -> float:
    """Return 1 for the decision that reaches the goal, else 0."""
    return 0.0 if facts.solved_at is None else facts.discount(facts.solved_at)


def subgoal(facts: RewardFacts) -> float:
    """Return the outcome plus 1/K for each of K subgoals completed for the first time in the episode."""
    if not facts.subgoals_at:
        return outcome(facts)
    return outcome(facts) + sum(facts.discount(index) for index in facts.subgoals_at) / facts.subgoals


def potential(facts: RewardFacts) -> float:
    """Return the outcome plus F = gamma Phi' - Phi (Ng, Harada & Russell 1999), Phi = -distance_to_go / distance.

    With `discount_inside` gamma is applied once for each atomic step, as a discounted sum over them would.
    """
    gamma = facts.gamma ** max(facts.moves, 1) if facts.discount_inside else facts.gamma
    return outcome(facts) + gamma * facts.potential_after - facts.potential_before


def step(facts: RewardFacts) -> float:
    """Return the outcome plus the step reward for format and legality, which is never positive."""
    return outcome(facts) + facts.step_reward


def score(facts: RewardFacts) -> float:
    """Return how much the decision raised the share of the goal that is met; the outcome for puzzles without shares."""
    return facts.score_gained * facts.discount(max(facts.moves - 1, 0))


REWARDS: dict[str, Callable[[RewardFacts], float]] = {
    "outcome": outcome,
    "subgoal": subgoal,
    "potential": potential,
    "step": step,
    "score": score,
}
"""Task rewards by name."""


def distance_potential(distance_to_go: int | None, distance: int) -> float:
    """Return Phi of a state.

    Args:
        distance_to_go: fewest atomic actions to the goal, None if out of reach.
        distance: the same for the start, at least 1.
    """
    return DEAD_POTENTIAL if distance_to_go is None else -distance_to_go / distance
