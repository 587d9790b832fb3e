"""A chat policy whose replies come from a function, which records what it is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from horizon_bench.policies.base import Reply
from horizon_bench.policies.chat import ChatSampling, Chatting, Message


class ScriptedChat(Chatting):
    """Answers conversations by a function of the conversation and a number drawn from the lane's generator."""

    def __init__(self, answer: Callable[[tuple[Message, ...], int], str], sampling: ChatSampling | None = None) -> None:
        self.answer = answer
        self.sampling = sampling or ChatSampling()
        self.asked: list[tuple[Message, ...]] = []

    def with_sampling(self, **changes: Any) -> ScriptedChat:
        other = ScriptedChat(self.answer, self.sampling.changed(**changes))
        other.asked = self.asked
        return other

    def chat(
        self, conversations: Sequence[Sequence[Message]], generators: Sequence[np.random.Generator]
    ) -> list[Reply]:
        self.asked += map(tuple, conversations)
        drawn = [int(generator.integers(100)) for generator in generators]
        texts = [self.answer(tuple(each), number) for each, number in zip(conversations, drawn, strict=True)]
        return [Reply(text, extra_tokens=len(text.split())) for text in texts]


@pytest.fixture
def scripted() -> type[ScriptedChat]:
    return ScriptedChat
