"""The policy `openai:<model>@<base_url>`: any OpenAI-compatible chat endpoint plays. Evaluation only, torch-free."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from horizon_bench.policies.base import Reply
from horizon_bench.policies.chat import ChatSampling, Chatting, Conversation
from horizon_bench.policies.endpoint.answers import Answer
from horizon_bench.policies.endpoint.client import EndpointClient, Request
from horizon_bench.policies.endpoint.settings import EndpointSettings
from horizon_bench.policies.endpoint.usage import Usage


class EndpointPolicy(Chatting):
    """A model behind an endpoint: all lanes of a round are asked at a time.

    Its replies carry no token ids, so nothing can be learned from them; their tokens are counted by the endpoint.
    """

    def __init__(self, client: EndpointClient, sampling: ChatSampling | None = None) -> None:
        """Join an endpoint and how it is asked.

        Args:
            client: the endpoint, shared by policies that sample differently.
            sampling: how replies are drawn.
        """
        self.client = client
        self.sampling = sampling or ChatSampling()

    @classmethod
    def load(cls, name: str, sampling: ChatSampling | None = None, **options: Any) -> Self:
        """Return the policy of `MODEL@BASE_URL`; nothing is sent yet.

        Args:
            name: model and address.
            sampling: how replies are drawn.
            options: fields of `EndpointSettings`.

        Raises:
            ValueError: for a name or an option that is wrong, or a journal that is something else.
        """
        return cls(EndpointClient(EndpointSettings.from_name(name, **options)), sampling)

    @property
    def settings(self) -> EndpointSettings:
        """Every choice about the endpoint."""
        return self.client.settings

    @property
    def usage(self) -> Usage:
        """What was asked, met and paid so far."""
        return self.client.usage

    def summary(self) -> str:
        """Return what was asked, met and paid so far, in words."""
        return self.usage.summary(self.settings)

    def with_sampling(self, **changes: Any) -> Self:
        """Return a policy of the same endpoint that samples with changed fields of `ChatSampling`."""
        return type(self)(self.client, self.sampling.changed(**changes))

    def chat(self, conversations: Sequence[Conversation], generators: Sequence[np.random.Generator]) -> list[Reply]:
        """Return the reply to each conversation, all asked at a time.

        Raises:
            EndpointError: if a request failed for good; replies that came are kept in the journal.
        """
        seeds = [int(generator.integers(2**31)) for generator in generators]
        requests = [
            Request(self.body(conversation), seed, self.sampling.stop)
            for conversation, seed in zip(conversations, seeds, strict=True)
        ]
        return [_reply(answer) for answer in self.client.ask(requests)]

    def body(self, conversation: Conversation) -> dict[str, Any]:
        """Return the fields of a request, the seed left out."""
        sampling, settings = self.sampling, self.settings
        body: dict[str, Any] = {
            "model": settings.model,
            "messages": [{"role": each.role, "content": each.content} for each in conversation],
            "temperature": sampling.temperature,
            settings.cap_field: sampling.max_new_tokens,
            "stream": False,
        }
        if sampling.stop:
            body["stop"] = list(sampling.stop)
        if sampling.thinking is not None:
            body["chat_template_kwargs"] = {"enable_thinking": sampling.thinking}
        return body | dict(settings.extra)


def _reply(answer: Answer) -> Reply:
    return Reply(answer.text, capped=answer.capped, extra_tokens=answer.reply_tokens)
