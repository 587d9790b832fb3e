"""Sampling from any causal language model of transformers, and the log-probabilities of what was sampled.

One call serves a round of decisions. What all prompts begin with (the rules of the game) is read once, equal prompts
are read once, rows that have ended are dropped. A row's tokens come from its own uniform numbers by inversion, so that
they do not depend on the other rows of the call, up to the last bits of float arithmetic. Log-probabilities are those
of the distribution that was sampled: all tokens, logits divided by the temperature, in single precision.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from horizon_bench.extras import extra_needed

with extra_needed():
    import torch
    from torch import Tensor
    from transformers.cache_utils import DynamicCache, DynamicLayer

LEAST_SHARED = 16
"""Tokens that all prompts must share for their keys and values to be computed once."""

StopCheck = Callable[[Sequence[int]], bool]
"""Whether a reply ends with these tokens because of its text."""


@dataclass(frozen=True)
class Draws:
    """Replies as sampled, one entry for each row."""

    ids: list[NDArray[np.int64]]
    """Token ids, end token included."""
    logprobs: list[NDArray[np.float32]]
    """Log-probability of each token under the distribution it was drawn from."""
    entropy: list[float]
    """Mean entropy of that distribution over the tokens, in nats."""
    capped: list[bool]
    """The cap came before an end token or a stop string."""


class _Model:
    """One model's forward pass, whatever its arguments are called."""

    def __init__(self, model: Any) -> None:
        base = model.get_base_model() if hasattr(model, "get_base_model") else model
        self.model = model
        self.names = set(inspect.signature(base.forward).parameters)
        self.cache = DynamicCache(config=model.config)

    def read(self, ids: Tensor, mask: Tensor, positions: Tensor) -> Tensor:
        """Return the logits after the last token, shape [rows, vocabulary], and extend the cache."""
        arguments: dict[str, Any] = {"input_ids": ids, "attention_mask": mask, "use_cache": True}
        arguments["cache" if "cache" in self.names else "past_key_values"] = self.cache
        if "position_ids" in self.names:
            arguments["position_ids"] = positions
        if "logits_to_keep" in self.names:
            arguments["logits_to_keep"] = 1
        return self.model(**arguments).logits[:, -1].float()

    @property
    def shares_prefixes(self) -> bool:
        """Whether keys and values of a prefix can be shared among prompts of different lengths."""
        return "position_ids" in self.names and all(type(layer) is DynamicLayer for layer in self.cache.layers)


@dataclass
class _Writing:
    """What has been written so far."""

    ids: list[list[int]]
    logprobs: list[list[float]]
    entropy: list[list[float]]
    ended: list[bool]


@torch.inference_mode()
def sample_replies(
    model: Any,
    prompts: Sequence[NDArray[np.int64]],
    uniforms: NDArray[np.float64],
    temperature: float,
    end_ids: Collection[int],
    stops: StopCheck | None = None,
) -> Draws:
    """Return one sampled reply for each prompt.

    Args:
        model: a causal language model of transformers, on any device.
        prompts: token ids of each prompt, at least one each.
        uniforms: numbers in [0, 1) that decide each token, shape [rows, cap].
        temperature: divides the logits.
        end_ids: ids of the tokens that end a reply.
        stops: sees a live row's tokens after each one and says whether its text ends here.
    """
    reader = _Model(model)
    unique, inverse = _distinct(prompts)
    logits, mask = _prefill(reader, [prompts[index] for index in unique], model.device)
    rows = torch.tensor(inverse, device=model.device)
    logits, mask = logits[rows], mask[rows]
    if len(unique) < len(prompts):
        reader.cache.batch_select_indices(rows)
    written = _Writing([[] for _ in prompts], [[] for _ in prompts], [[] for _ in prompts], [False] * len(prompts))
    live = np.arange(len(prompts))
    for time in range(uniforms.shape[1]):
        chosen = _draw(logits / temperature, uniforms[live, time], live, written)
        ids = chosen.tolist()
        going = [
            place
            for place, (row, token) in enumerate(zip(live, ids, strict=True))
            if not (token in end_ids or (stops is not None and stops(written.ids[row])))
        ]
        for place in set(range(len(ids))) - set(going):
            written.ended[live[place]] = True
        if not going or time + 1 == uniforms.shape[1]:
            break
        if len(going) < len(ids):
            kept = torch.tensor(going, device=mask.device)
            live, chosen, mask = live[going], chosen[kept], mask[kept]
            reader.cache.batch_select_indices(kept)
        mask = torch.cat([mask, mask.new_ones(len(mask), 1)], 1)
        logits = reader.read(chosen[:, None], mask, (mask.sum(1) - 1)[:, None])
    return Draws(
        [np.array(ids, dtype=np.int64) for ids in written.ids],
        [np.array(values, dtype=np.float32) for values in written.logprobs],
        [float(np.mean(values)) for values in written.entropy],
        [not ended for ended in written.ended],
    )


def _draw(logits: Tensor, uniforms: NDArray[np.float64], live: NDArray[np.int64], written: _Writing) -> Tensor:
    """Return the next token of each live row, shape [rows], and write it down with log-probability and entropy."""
    log_p = torch.log_softmax(logits, -1)
    weights = log_p.exp()
    heights = weights.double().cumsum(-1)
    total = heights[:, -1:]
    target = torch.minimum(torch.from_numpy(uniforms).to(total)[:, None] * total, total * (1 - 1e-15))
    chosen = torch.searchsorted(heights, target, right=True)
    found = log_p.gather(1, chosen)[:, 0].tolist()
    spread = -torch.where(weights > 0, weights * log_p, 0.0).sum(-1)
    for row, token, logprob, entropy in zip(live, chosen[:, 0].tolist(), found, spread.tolist(), strict=True):
        written.ids[row].append(token)
        written.logprobs[row].append(logprob)
        written.entropy[row].append(entropy)
    return chosen[:, 0]


def _distinct(prompts: Sequence[NDArray[np.int64]]) -> tuple[list[int], list[int]]:
    """Return where each distinct prompt stands first, and for each prompt which of these it is."""
    seen: dict[bytes, int] = {}
    first: list[int] = []
    inverse = []
    for index, prompt in enumerate(prompts):
        key = prompt.tobytes()
        if key not in seen:
            seen[key] = len(first)
            first.append(index)
        inverse.append(seen[key])
    return first, inverse


def _prefill(reader: _Model, prompts: Sequence[NDArray[np.int64]], device: Any) -> tuple[Tensor, Tensor]:
    """Return the logits after each prompt, shape [rows, vocabulary], and the cache's mask, shape [rows, tokens]."""
    shared = shared_length(prompts) if reader.shares_prefixes and len(prompts) > 1 else 0
    if shared < LEAST_SHARED:
        shared = 0
    rest, mask = pad_left([prompt[shared:] for prompt in prompts], device)
    positions = (mask.cumsum(1) - 1).clamp(min=0) + shared
    if shared:
        head = torch.from_numpy(prompts[0][:shared]).to(device)[None]
        ones = torch.ones_like(head)
        reader.read(head, ones, torch.arange(shared, device=device)[None])
        reader.cache.batch_repeat_interleave(len(prompts))
        mask = torch.cat([ones.expand(len(prompts), -1), mask], 1)
    return reader.read(rest, mask, positions), mask


def shared_length(prompts: Sequence[NDArray[np.int64]]) -> int:
    """Return how many first tokens all prompts share; each keeps one token of its own."""
    shortest = min(map(len, prompts)) - 1
    stacked = np.stack([prompt[:shortest] for prompt in prompts])
    differs = (stacked != stacked[0]).any(0)
    return int(differs.argmax()) if differs.any() else shortest


def pad_left(prompts: Sequence[NDArray[np.int64]], device: Any = None) -> tuple[Tensor, Tensor]:
    """Return prompts filled up with 0 in front, and a mask that is 1 at their tokens, shape [rows, tokens] each."""
    lengths = np.array([len(prompt) for prompt in prompts])
    inside = np.arange(lengths.max()) >= lengths.max() - lengths[:, None]
    ids = np.zeros(inside.shape, dtype=np.int64)
    ids[inside] = np.concatenate(prompts)
    return torch.from_numpy(ids).to(device), torch.from_numpy(inside).long().to(device)


def reply_logprobs(
    model: Any, prompts: Tensor, prompt_mask: Tensor, replies: Tensor, mask: Tensor, temperature: float
) -> Tensor:
    """Return the log-probability of every reply token under these weights; gradients flow.

    Args:
        model: a causal language model of transformers, or what accelerate made of it.
        prompts: token ids, filled up in front, shape [rows, prompt tokens].
        prompt_mask: 1 at the tokens of the prompt, same shape.
        replies: token ids, filled up at the end, shape [rows, tokens].
        mask: true at the tokens of the reply, same shape.
        temperature: of the distribution the replies were drawn from.

    Returns:
        Log-probabilities in single precision, shape [rows, tokens]; 0 where `mask` is false.
    """
    tokens = replies.shape[1]
    ids = torch.cat([prompts, replies[:, :-1]], 1)
    seen = torch.cat([prompt_mask.long(), mask[:, :-1].long()], 1)
    positions = (seen.cumsum(1) - 1).clamp(min=0)
    output = model(input_ids=ids, attention_mask=seen, position_ids=positions, use_cache=False, logits_to_keep=tokens)
    rows = [_chosen_logprobs(row, chosen, temperature) for row, chosen in zip(output.logits, replies, strict=True)]
    return torch.stack(rows).masked_fill(~mask.bool(), 0.0)


def _chosen_logprobs(logits: Tensor, chosen: Tensor, temperature: float) -> Tensor:
    """Return the log-probabilities of one reply; a row at a time keeps the copies in single precision small."""
    scaled = logits[-len(chosen) :].float() / temperature
    return scaled.gather(1, chosen[:, None])[:, 0] - scaled.logsumexp(-1)
