"""What the trainer needs of a policy, and how it asks for log-probabilities: one way for every kind of model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, Self, cast

import numpy as np

from horizon_bench.extras import extra_needed
from horizon_bench.policies.base import Policy, Reply, Seat
from horizon_bench.policies.sampling import reply_outputs
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.batches import ReplyBatch

with extra_needed():
    import torch
    from torch import Tensor


class Trainable(Protocol):
    """A policy with weights: `TinyPolicy`, or a language model (`HfPolicy`)."""

    model: Any
    """The torch module."""
    tokenizer: Any

    @property
    def sampling(self) -> Any:
        """How replies are drawn."""

    def with_sampling(self, **changes: Any) -> Self:
        """Return a policy that shares the model and samples otherwise."""

    def at_temperature(self, temperature: float) -> Policy:
        """Return a policy that shares the model and samples at this temperature."""

    def reply(
        self, observations: Sequence[str], seats: Sequence[Seat], generators: Sequence[np.random.Generator]
    ) -> list[Reply]:
        """Return one sampled reply for each lane."""

    def encode(self, observations: Sequence[str]) -> Any:
        """Return the token ids of the prompts that observations become."""

    def save(self, folder: str | Path) -> None:
        """Write weights and tokenizer."""


def has_critic(policy: Trainable) -> bool:
    """Return whether the model carries a value critic."""
    return getattr(policy.model, "value_head", None) is not None


def recomputes(model: Any) -> bool:
    """Return whether a model, with an adapter or without, recomputes activations while it learns."""
    return any(getattr(module, "gradient_checkpointing", False) for module in model.modules())


def longest_reply(policy: Trainable) -> int:
    """Return the cap of a reply in tokens, where nothing else is asked for."""
    if isinstance(policy, TinyPolicy):
        return int(policy.model.config.max_reply_tokens)
    return int(policy.sampling.max_new_tokens)


def reply_scores(policy: Trainable, model: Any, part: ReplyBatch) -> tuple[Tensor, Tensor | None]:
    """Return the log-probability of every reply token, shape [replies, tokens], and the critic's values, if any.

    Args:
        policy: says how replies were drawn.
        model: what accelerate made of the policy's model; gradients flow.
        part: the replies, on the model's device.
    """
    if isinstance(policy, TinyPolicy):
        return reply_outputs(model, part.prompts, part.replies, part.mask, policy.sampling, policy.marks)
    score = cast(Any, policy).score
    return score(part.prompts, part.replies, part.mask, part.prompt_mask, model=model), None


@torch.no_grad()
def batch_logprobs(policy: Trainable, model: Any, batch: ReplyBatch, rows: Tensor, size: int) -> Tensor:
    """Return the log-probability of each token of some replies, shape of all replies, 0 in the others.

    Args:
        policy: says how replies were drawn.
        model: scores them.
        batch: all replies.
        rows: the replies to score.
        size: most replies in a forward pass.
    """
    found = torch.zeros(batch.replies.shape)
    for chosen in batch.micro_batches(rows, size) if len(rows) else ():
        part = batch.select(chosen).to(model.device)
        found[chosen, : part.mask.shape[1]] = reply_scores(policy, model, part)[0].float().cpu()
    return found


def load_weights(policy: Trainable, folder: Path) -> None:
    """Put the weights that `save` wrote into the policy's model."""
    if isinstance(policy, TinyPolicy):
        policy.model.load_state_dict(TinyPolicy.load(folder).model.state_dict())
    else:
        cast(Any, policy).load_weights(folder)
