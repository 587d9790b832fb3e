"""ReAct (arXiv 2210.03629): thought, action, observation, over and over in one growing conversation. Zero-shot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from horizon_bench.agents.base import Agent
from horizon_bench.agents.lanes import Lanes
from horizon_bench.agents.observations import parts_of, without_thought
from horizon_bench.policies.base import Policy, Reply, Seat
from horizon_bench.policies.chat import Message

INSTRUCTION = """Work in turns. In each turn write

Thought: what you see and what follows from it, in one or two sentences
Action: as the rules above say

and stop. What came of it is then shown to you as Observation."""
"""What the first message says about the form of a turn."""

STOP = "\nObservation:"
"""A reply ends before an observation that the model makes up."""


class ReActAgent(Agent):
    """Keeps its own thoughts, actions and what came of them in the conversation.

    The environment's own memory of turns is left out of the prompts: the conversation holds more.
    """

    def __init__(self, actor: Policy, turns: int = 10) -> None:
        """Take a chat policy.

        Args:
            actor: what speaks.
            turns: latest turns that the conversation keeps beside its first message.

        Raises:
            ValueError: if the actor is no chat policy, or `turns` is under 1.
        """
        if isinstance(actor, Agent):
            raise ValueError("ReAct talks to a chat policy itself; put other agents around it: reflexion+react+MODEL")
        if turns < 1:
            raise ValueError(f"turns must be at least 1, not {turns}")
        super().__init__(actor)
        self.turns = turns
        stops = self.speaker.sampling.stop
        if STOP not in stops:
            self.actor = self.speaker = self.speaker.with_sampling(stop=(*stops, STOP))
        self._conversations: Lanes[list[Message]] = Lanes(list)

    def on(self, actor: Policy) -> Self:
        """Return the same agent with another actor."""
        return type(self)(actor, self.turns)

    def reply(
        self, observations: Sequence[str], seats: Sequence[Seat], generators: Sequence[np.random.Generator]
    ) -> list[Reply]:
        """Return one reply for each lane, given its conversation so far."""
        memories = self._conversations.of(generators)
        for memory, observation in zip(memories, observations, strict=True):
            head, _, news = parts_of(observation)
            first = f"{head}\n\n{INSTRUCTION}{news}" if head else f"{INSTRUCTION}\n\n{news}"
            memory.append(Message("user", f"Observation: {news.strip()}" if memory else first))
            del memory[1 : max(1, len(memory) - 2 * self.turns)]
        replies = self.speaker.chat([tuple(memory) for memory in memories], generators)
        for memory, reply in zip(memories, replies, strict=True):
            memory.append(Message("assistant", without_thought(reply.text).strip()))
        return replies
