"""Dynamic milestoning by name: `milestones+hf:FOLDER` plays a chat policy with the solver's plan in its prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from horizon_bench.agents.base import Agent
from horizon_bench.milestones import MilestoneCosts, MilestonePolicy
from horizon_bench.policies.base import Policy, Reply, Seat


class MilestoneAgent(Agent):
    """`MilestonePolicy` with its usual choices; plans of a model and other checkers are made in Python."""

    def __init__(self, actor: Policy, costs: MilestoneCosts | None = None) -> None:
        """Take the policy that acts.

        Args:
            actor: a chat policy, or an agent on top of one.
            costs: to be filled; new ones by default.
        """
        super().__init__(actor)
        self.wrapper = MilestonePolicy(actor, costs=costs or MilestoneCosts())

    @property
    def costs(self) -> MilestoneCosts:
        """What milestoning cost and what it caught so far."""
        return self.wrapper.costs

    def reply(
        self, observations: Sequence[str], seats: Sequence[Seat], generators: Sequence[np.random.Generator]
    ) -> list[Reply]:
        """Return one reply for each lane."""
        return self.wrapper.reply(observations, seats, generators)

    def on(self, actor: Policy) -> Self:
        """Return the same agent with another actor; both fill the same costs."""
        return type(self)(actor, self.costs)
