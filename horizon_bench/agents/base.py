"""What prompted agents have in common: an actor that plays and a model that speaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from horizon_bench.envs.settings import Settings
from horizon_bench.episodes import Episode
from horizon_bench.policies.base import Policy, Reply, Seat
from horizon_bench.policies.chat import ChatPolicy
from horizon_bench.rollout import Playable


@runtime_checkable
class PlaysInTurn(Protocol):
    """A policy whose attempts at an instance follow each other, because it learns from one to the next."""

    def play(self, instances: Sequence[Playable], settings: Settings, attempts: int, seed: int) -> list[Episode]:
        """Return every attempt at every instance, in the order of instances, then attempts."""


class Agent:
    """A policy that prompts another policy; subclasses add what they do before and after."""

    observation = "text"
    """The form of observations that it reads."""

    def __init__(self, actor: Policy) -> None:
        """Take the policy that acts.

        Args:
            actor: a chat policy, or another agent on top of one.

        Raises:
            ValueError: if no chat policy is beneath.
        """
        self.actor = actor
        self.speaker = speaker_of(actor)

    def reply(
        self, observations: Sequence[str], seats: Sequence[Seat], generators: Sequence[np.random.Generator]
    ) -> list[Reply]:
        """Return one reply for each lane; subclasses prompt the actor otherwise."""
        return self.actor.reply(observations, seats, generators)

    def on(self, actor: Policy) -> Self:
        """Return the same agent with another actor; subclasses with options pass them on."""
        return type(self)(actor)

    def with_sampling(self, **changes: Any) -> Self:
        """Return the same agent whose model samples with changed fields of `ChatSampling`."""
        return self.on(self.actor.with_sampling(**changes))  # type: ignore[attr-defined]

    def at_temperature(self, temperature: float) -> Self:
        """Return the same agent whose model samples at this temperature."""
        return self.on(self.actor.at_temperature(temperature))


def speaker_of(policy: Policy) -> ChatPolicy:
    """Return the chat policy beneath an agent, or the policy itself if it is one.

    Raises:
        ValueError: if there is none.
    """
    if isinstance(policy, Agent):
        return policy.speaker
    if not isinstance(policy, ChatPolicy):
        raise ValueError(
            f"agents prompt a chat policy (hf:MODEL, vllm:MODEL, openai:MODEL@BASE_URL), not {type(policy).__name__}"
        )
    return policy
