"""Between conversations and token ids: chat templates, thinking, stop strings. Only prompts are ever tokenised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from horizon_bench.policies.chat import ChatSampling, Chatting, Conversation, as_conversation, before_stop


class TemplatedChat(Chatting):
    """A model with a tokenizer of its own, whose chat template writes the prompts."""

    def __init__(self, tokenizer: Any, end_ids: frozenset[int], sampling: ChatSampling | None = None) -> None:
        """Take the tokenizer.

        Args:
            tokenizer: of transformers; without a chat template the model is asked in plain text.
            end_ids: ids of the tokens that end a reply.
            sampling: how replies are drawn.
        """
        self.tokenizer = tokenizer
        self.end_ids = end_ids
        self.sampling = sampling or ChatSampling()
        self.templated = bool(getattr(tokenizer, "chat_template", None))

    def render(self, conversation: Conversation) -> str:
        """Return the prompt's text: the chat template's, or plain text for a tokenizer without one.

        Special tokens that a message spells out are broken by a blank, so that no text can play the template.
        """
        messages = [{"role": each.role, "content": self._disarmed(each.content)} for each in conversation]
        if not self.templated:
            return "\n\n".join(message["content"] for message in messages) + "\n\n"
        thinking = self.sampling.thinking
        options = {} if thinking is None else {"enable_thinking": thinking}
        return self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **options)

    def _disarmed(self, text: str) -> str:
        for special in self.tokenizer.all_special_tokens:
            if len(special) > 2 and special in text:
                text = text.replace(special, f"{special[0]} {special[1:]}")
        return text

    def tokenise(self, text: str) -> NDArray[np.int64]:
        """Return the token ids of a rendered prompt; templates write their own special tokens."""
        ids = self.tokenizer(text, add_special_tokens=not self.templated)["input_ids"]
        return np.array(ids, dtype=np.int64)

    def encode(self, observations: Sequence[str]) -> list[NDArray[np.int64]]:
        """Return the token ids of the prompts that observations become."""
        return [self.tokenise(self.render(as_conversation(observation))) for observation in observations]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the reply text of token ids: the tokenizer's decoding without one final end token."""
        tokens = [int(token) for token in ids]
        if tokens and tokens[-1] in self.end_ids:
            tokens = tokens[:-1]
        return self.tokenizer.decode(tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False)

    def stops(self, ids: Sequence[int]) -> bool:
        """Return whether a stop string ends the reply here; each token holds at least one byte of it."""
        longest = max(len(text.encode()) for text in self.sampling.stop)
        tail = self.tokenizer.decode(list(ids[-longest - 4 :]), skip_special_tokens=False)
        return any(text in tail for text in self.sampling.stop)

    def reply_text(self, prompt: str, ids: NDArray[np.int64]) -> str:
        """Return what the environment reads: cut before a stop string, with the thought that the prompt has opened."""
        text = before_stop(self.decode(ids.tolist()), self.sampling.stop)
        return f"<think>{text}" if opens_thought(prompt) else text


def opens_thought(prompt: str) -> bool:
    """Return whether a rendered prompt ends in an open thought, as templates of reasoning models write it."""
    return prompt.rstrip().endswith("<think>")
