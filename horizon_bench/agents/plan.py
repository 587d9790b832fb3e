"""Plan, then act: the model writes a plan first and sees it in every decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from horizon_bench.agents.base import Agent
from horizon_bench.agents.lanes import Lanes
from horizon_bench.agents.observations import as_note, with_note
from horizon_bench.policies.base import Policy, Reply, Seat
from horizon_bench.policies.chat import Message

REQUEST = (
    "Do not act yet. First write a plan: a short numbered list of intermediate goals, in the order in which you want "
    "to reach them, and how you will recognise that each is reached. Write no Action line."
)
"""What the planning message asks for."""

TITLE = "Your plan"
"""What the plan is called in prompts."""


@dataclass
class _Plan:
    text: str = ""
    decisions: int = 0


class PlanAgent(Agent):
    """Asks for a plan at the start of an episode; the tokens of the plan count as the first decision's."""

    def __init__(self, actor: Policy, replan_every: int = 0) -> None:
        """Take the policy that acts.

        Args:
            actor: a chat policy, or an agent on top of one.
            replan_every: decisions after which a new plan is made, the old one at hand; 0 for one plan an episode.

        Raises:
            ValueError: if no chat policy is beneath, or `replan_every` is negative.
        """
        if replan_every < 0:
            raise ValueError(f"replan_every must be at least 0, not {replan_every}")
        super().__init__(actor)
        self.replan_every = replan_every
        self._plans: Lanes[_Plan] = Lanes(_Plan)

    def on(self, actor: Policy) -> Self:
        """Return the same agent with another actor."""
        return type(self)(actor, self.replan_every)

    def reply(
        self, observations: Sequence[str], seats: Sequence[Seat], generators: Sequence[np.random.Generator]
    ) -> list[Reply]:
        """Return one reply for each lane, given its plan, which is made where there is none yet."""
        plans = self._plans.of(generators)
        due = [place for place, plan in enumerate(plans) if self._is_due(plan)]
        spent = [0] * len(plans)
        if due:
            asked = [self._request(observations[place], plans[place].text) for place in due]
            written = self.speaker.chat(asked, [generators[place] for place in due])
            for place, reply in zip(due, written, strict=True):
                plans[place].text = as_note(reply.text)
                spent[place] = reply.tokens
        noted = [with_note(text, TITLE, plan.text) for text, plan in zip(observations, plans, strict=True)]
        replies = self.actor.reply(noted, seats, generators)
        for plan in plans:
            plan.decisions += 1
        return [
            replace(reply, extra_tokens=reply.extra_tokens + tokens)
            for reply, tokens in zip(replies, spent, strict=True)
        ]

    def _is_due(self, plan: _Plan) -> bool:
        return plan.decisions % self.replan_every == 0 if self.replan_every else plan.decisions == 0

    def _request(self, observation: str, plan: str) -> tuple[Message, ...]:
        return (Message("user", f"{with_note(observation, TITLE, plan)}\n\n{REQUEST}"),)
