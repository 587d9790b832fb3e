"""What every language model has in common: conversations in, replies out, at a temperature. Torch-free.

A chat policy answers conversations; playing is answering the conversation that consists of the observation. Agents
(`horizon_bench.agents`) build longer conversations on the same interface.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Protocol, Self, get_args, runtime_checkable

import numpy as np

from horizon_bench.checks import check_least
from horizon_bench.envs.interfaces import find_interface
from horizon_bench.policies.base import Policy, Reply, Seat
from puzzles.names import check_name

Role = Literal["system", "user", "assistant"]
"""Who speaks."""

ATOMIC_CAP, MACRO_CAP = 2048, 4096
"""Caps of a reply in tokens, thought included, as in the horizon-length study (arXiv 2605.02572)."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str

    def __post_init__(self) -> None:
        """Check the role."""
        check_name("role", self.role, get_args(Role))


Conversation = Sequence[Message]
"""Messages, oldest first; the last one is to be answered."""


@dataclass(frozen=True)
class ChatSampling:
    """How replies of a language model are drawn: from all tokens, at a temperature, nothing cut off."""

    temperature: float = 0.8
    """Divides the logits; above 0."""
    max_new_tokens: int = ATOMIC_CAP
    """Cap of a reply in tokens, thought and end token included; a reply that is cut off is `capped`."""
    stop: tuple[str, ...] = ()
    """A reply ends before the first of these strings."""
    thinking: bool | None = None
    """Whether a model that can reason aloud does; None leaves it to the model's chat template."""

    def __post_init__(self) -> None:
        """Check the fields."""
        if not 0.0 < self.temperature < math.inf:
            raise ValueError(f"temperature must be a number above 0, not {self.temperature}; 0.01 is nearly greedy")
        check_least(self, 1, "max_new_tokens")
        given: object = self.stop
        if not isinstance(given, tuple) or not all(isinstance(text, str) and text for text in given):
            raise ValueError(f"stop is {self.stop!r}, must be a tuple of texts that are not empty")

    def changed(self, **changes: Any) -> ChatSampling:
        """Return these settings with other values.

        Raises:
            ValueError: for an unknown setting, or slips of thought tokens, which only the small model has.
        """
        if changes.pop("thought_slip", 0.0):
            raise ValueError("thought_slip is a device of the small model; a language model has none, use 0")
        changes.pop("thoughts", None)
        for name in changes:
            check_name("setting of sampling", name, (field.name for field in fields(self)))
        return replace(self, **changes)


@runtime_checkable
class ChatPolicy(Policy, Protocol):
    """A policy that answers conversations."""

    @property
    def sampling(self) -> ChatSampling:
        """How replies are drawn."""

    def chat(self, conversations: Sequence[Conversation], generators: Sequence[np.random.Generator]) -> list[Reply]:
        """Return the reply to each conversation, in order.

        Args:
            conversations: what is to be answered, shape [lanes].
            generators: each lane's own generator, the only source of chance.
        """

    def with_sampling(self, **changes: Any) -> Self:
        """Return a policy of the same model that samples with changed fields of `ChatSampling`."""


class Chatting:
    """Makes a policy of a class that has `chat`, `sampling` and `with_sampling`."""

    sampling: ChatSampling
    observation = "text"
    """The form of observations that it reads."""

    def chat(self, conversations: Sequence[Conversation], generators: Sequence[np.random.Generator]) -> list[Reply]:
        """Return the reply to each conversation; subclasses say how."""
        raise NotImplementedError

    def with_sampling(self, **changes: Any) -> Self:
        """Return a policy of the same model that samples otherwise; subclasses say how."""
        raise NotImplementedError

    def reply(
        self, observations: Sequence[str], seats: Sequence[Seat], generators: Sequence[np.random.Generator]
    ) -> list[Reply]:
        """Return one reply for each lane: the answer to a conversation that is the observation."""
        return self.chat([as_conversation(observation) for observation in observations], generators)

    def at_temperature(self, temperature: float) -> Self:
        """Return a policy of the same model that samples at this temperature."""
        return self.with_sampling(temperature=temperature)


def as_conversation(observation: str) -> tuple[Message, ...]:
    """Return the conversation that an observation stands for: one message of the user."""
    return (Message("user", observation),)


def reply_cap(interface: str) -> int:
    """Return the usual cap of a reply in tokens: 2,048 where a reply holds one action, 4,096 where it may hold more.

    >>> reply_cap("atomic"), reply_cap("macro-fixed-2")
    (2048, 4096)

    Args:
        interface: name of an interface.

    Raises:
        ValueError: if there is no such interface.
    """
    return ATOMIC_CAP if find_interface(interface).single else MACRO_CAP


def before_stop(text: str, stops: Sequence[str]) -> str:
    """Return the text before the first of some strings, the whole text where it holds none."""
    places = [place for stop in stops if (place := text.find(stop)) >= 0]
    return text[: min(places)] if places else text


def joined_thought(thought: str, text: str, *, closed: bool = True) -> str:
    """Return thought and text as the environment reads them.

    Args:
        thought: what the model thought; empty for no thought.
        text: the reply after it.
        closed: whether the thought came to its end before the cap.
    """
    if not thought:
        return text
    return f"<think>{thought}</think>{text}" if closed else f"<think>{thought}"
