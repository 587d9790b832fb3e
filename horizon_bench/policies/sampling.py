"""Sampling from a small model, and the log-probabilities of what was sampled under any weights.

One call serves a whole round of decisions: the prompts are read once (equal ones only once), keys and values are kept,
rows that have ended are dropped. A row's tokens come from its own uniform numbers by inversion, so that they do not
depend on the other rows of the call, up to the last bits of float arithmetic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from horizon_bench.checks import check_least
from horizon_bench.extras import extra_needed
from horizon_bench.policies.kernels.decoding import Rules
from horizon_bench.policies.tiny_fast import is_fast, suffix_states, write_replies
from horizon_bench.policies.tiny_model import TinyForCausalLM

with extra_needed():
    import torch
    import torch.nn.functional as F  # noqa: N812
    from torch import Tensor


@dataclass(frozen=True)
class Sampling:
    """How replies are drawn."""

    temperature: float = 0.8
    """Divides the logits; above 0."""
    max_new_tokens: int = 24
    """Cap of a reply, end token included."""
    thought_slip: float = 0.0
    """Probability that a token of the thought is replaced by a random one: the risk of a turn."""
    thoughts: bool = False
    """Replies begin with a thought, so that tokens up to `</think>` can slip."""

    def __post_init__(self) -> None:
        """Check the fields."""
        if not 0.0 < self.temperature < math.inf:
            raise ValueError(f"temperature must be a number above 0, not {self.temperature}; 0.01 is nearly greedy")
        check_least(self, 1, "max_new_tokens")
        if not 0.0 <= self.thought_slip < 1.0:
            raise ValueError(f"thought_slip is a probability from 0 to below 1, not {self.thought_slip}")

    @property
    def slip(self) -> float:
        """Probability of a slip at a thought token; 0 without thoughts."""
        return self.thought_slip if self.thoughts else 0.0


@dataclass(frozen=True)
class Samples:
    """Replies as sampled; entries after a row's length are padding and 0."""

    ids: Tensor
    """Token ids, shape [rows, tokens]."""
    logprobs: Tensor
    """Log-probability of each token under the distribution it was drawn from, shape [rows, tokens]."""
    lengths: Tensor
    """Tokens of each reply, end token included, shape [rows]."""
    entropy: Tensor
    """Mean entropy over each reply's tokens, in nats, shape [rows]."""
    capped: Tensor
    """Whether the cap came before the end token, shape [rows]."""


@dataclass(frozen=True)
class Marks:
    """Ids of the tokens that sampling must know."""

    pad: int
    end: int
    thought_end: int


class _Rows:
    """The rows that still write: which they are, their keys and values, and whether they are still in the thought."""

    def __init__(self, cache: list[Tensor], count: int, tokens: int) -> None:
        self.index = torch.arange(count)
        self.cache = cache
        self.thinking = torch.ones(count, 1)
        self.ids = torch.zeros(count, tokens, dtype=torch.long)
        self.logprobs = torch.zeros(count, tokens)
        self.entropy = torch.zeros(count)
        self.lengths = torch.zeros(count, dtype=torch.long)
        self.ended = torch.zeros(count, dtype=torch.bool)

    def keep(self, rows: Tensor) -> None:
        """Drop all rows but the given ones."""
        self.index, self.thinking = self.index[rows], self.thinking[rows]
        self.cache = [layer.index_select(1, rows) for layer in self.cache]


@torch.inference_mode()
def sample(model: TinyForCausalLM, prompts: Tensor, uniforms: Tensor, sampling: Sampling, marks: Marks) -> Samples:
    """Return one sampled reply for each prompt.

    Args:
        model: the small model.
        prompts: token ids, shape [rows, prompt tokens].
        uniforms: numbers in [0, 1) that decide each token, shape [rows, at least max_new_tokens].
        sampling: temperature, cap and slip.
        marks: ids of padding, end and end of thought.
    """
    cap = min(sampling.max_new_tokens, model.config.max_reply_tokens)
    if not is_fast(model):
        return sample_plainly(model, prompts, uniforms, sampling, marks)
    rules = Rules(sampling.temperature, sampling.slip, marks.end, marks.thought_end, model.config.num_attention_heads)
    written = write_replies(model, prompts, uniforms, rules, cap, marks.pad)
    ids, logprobs, lengths, entropy, ended = (torch.from_numpy(part) for part in written)
    return Samples(ids, logprobs, lengths, entropy / lengths, ~ended)


@torch.inference_mode()
def sample_plainly(
    model: TinyForCausalLM, prompts: Tensor, uniforms: Tensor, sampling: Sampling, marks: Marks
) -> Samples:
    """Return what `sample` returns, by the operations of torch: for models that the kernels cannot compute."""
    length, cap = prompts.shape[1], min(sampling.max_new_tokens, model.config.max_reply_tokens)
    hidden, cache = _prefill(model, prompts, cap)
    tokens, positions = model.model.tables()
    rows = _Rows(cache, len(prompts), cap)
    rows.ids.fill_(marks.pad)
    for time in range(cap):
        log_p = F.log_softmax(model.lm_head(hidden) / sampling.temperature, -1)
        chosen = _draw(rows, log_p, uniforms[rows.index, time], time, sampling.slip)
        ended = chosen == marks.end
        rows.ended[rows.index] = ended
        live = (~ended).nonzero()[:, 0]
        if time + 1 == cap or len(live) == 0:
            break
        if len(live) < len(chosen):
            chosen = chosen[live]
            rows.keep(live)
        rows.thinking = rows.thinking * (chosen != marks.thought_end)[:, None]
        states = (tokens[chosen] + positions[length + time])[:, None]
        hidden = model.model.step(states, rows.cache, length + time)
    return Samples(rows.ids, rows.logprobs, rows.lengths, rows.entropy / rows.lengths, ~rows.ended)


def _draw(rows: _Rows, log_p: Tensor, uniforms: Tensor, time: int, slip: float) -> Tensor:
    """Return the next token of each live row and record it with its log-probability and entropy."""
    log_q = _slipped(log_p, rows.thinking, slip, log_p.shape[-1]) if slip else log_p
    weights = log_q.exp()
    chosen = (weights.cumsum(-1) < uniforms[:, None]).sum(-1).clamp(max=weights.shape[-1] - 1)
    rows.ids[rows.index, time] = chosen
    rows.logprobs[rows.index, time] = log_q.gather(1, chosen[:, None])[:, 0]
    rows.entropy[rows.index] -= (weights * log_q).sum(-1)
    rows.lengths[rows.index] += 1
    return chosen


def _slipped(log_p: Tensor, thinking: Tensor, slip: float, words: int) -> Tensor:
    """Return log-probabilities of the mixture: with probability `slip` a thought token is any of `words` at random."""
    share = slip * thinking
    return torch.log(log_p.exp() * (1.0 - share) + share / words)


def _thinking(replies: Tensor, marks: Marks) -> Tensor:
    """Return 1 for the tokens up to the first `</think>` of each reply, else 0, shape [rows, tokens]."""
    closed = (replies == marks.thought_end).long()
    return ((closed.cumsum(1) - closed) == 0).float()


def _prefill(model: TinyForCausalLM, prompts: Tensor, cap: int) -> tuple[Tensor, list[Tensor]]:
    """Return the last prompt token's state and each layer's keys and values with room for `cap` tokens.

    Equal prompts (the attempts of a group start alike) are read once.
    """
    unique, inverse = torch.unique(prompts, dim=0, return_inverse=True)
    trunk, length = model.model, prompts.shape[1]
    mask = trunk.prefix_mask(length)[None, None]
    hidden = trunk.embed(unique, torch.arange(length))
    cache = []
    for number, block in enumerate(trunk.blocks):
        first = length - 1 if number == len(trunk.blocks) - 1 else 0
        hidden, keys_values = block(hidden, mask[:, :, first:], first)
        layer = keys_values.new_empty(2, len(prompts), *keys_values.shape[2:3], length + cap, keys_values.shape[-1])
        layer[:, :, :, :length] = keys_values[:, inverse]
        cache.append(layer)
    return trunk.norm(hidden[:, -1])[inverse], cache


def reply_outputs(
    model: TinyForCausalLM, prompts: Tensor, replies: Tensor, mask: Tensor, sampling: Sampling, marks: Marks
) -> tuple[Tensor, Tensor | None]:
    """Return the log-probability of every reply token under these weights, and the critic's value of each prompt.

    Args:
        model: the small model; gradients flow.
        prompts: token ids, shape [rows, prompt tokens].
        replies: token ids, filled up at the end with any token, shape [rows, tokens].
        mask: true at the tokens of the reply, shape [rows, tokens].
        sampling: temperature and slip of the distribution the replies were drawn from.
        marks: ids of padding, end and end of thought.

    Returns:
        Log-probabilities, shape [rows, tokens], 0 where `mask` is false; values, shape [rows], None without a critic.
    """
    if not is_fast(model):
        return plain_reply_outputs(model, prompts, replies, mask, sampling, marks)
    lengths = mask.sum(1)
    suffixes = torch.cat([prompts[:, -1:], replies[:, :-1]], 1)
    states, row, place = suffix_states(model, prompts[:, :-1], suffixes, lengths.clamp(min=1))
    logits = model.lm_head(states) / sampling.temperature
    found = logits.gather(1, replies[row, place][:, None])[:, 0] - logits.logsumexp(-1)
    if sampling.slip:
        found = _slipped(found, _thinking(replies, marks)[row, place], sampling.slip, logits.shape[-1])
    logprobs = torch.zeros(mask.shape).index_put((row, place), found).masked_fill(~mask, 0.0)
    return logprobs, _first_values(model, states, row, place)


def _first_values(model: TinyForCausalLM, states: Tensor, row: Tensor, place: Tensor) -> Tensor | None:
    """Return the critic's value at each row's first place, shape [rows]; None without a critic."""
    if model.value_head is None:
        return None
    first = (place == 0).nonzero()[:, 0]
    values = model.value_head(states[first])[:, 0]
    return torch.zeros_like(values).index_put((row[first],), values)


def plain_reply_outputs(
    model: TinyForCausalLM, prompts: Tensor, replies: Tensor, mask: Tensor, sampling: Sampling, marks: Marks
) -> tuple[Tensor, Tensor | None]:
    """Return what `reply_outputs` returns, by the operations of torch: for models that the kernels cannot compute."""
    ids = torch.cat([prompts, replies[:, :-1]], 1)
    hidden = model.model(ids, first_query=prompts.shape[1] - 1).last_hidden_state
    logits = model.lm_head(hidden) / sampling.temperature
    logprobs = logits.gather(2, replies[:, :, None])[:, :, 0] - logits.logsumexp(-1)
    if sampling.slip:
        thinking = _thinking(replies, marks).to(logprobs.dtype)
        logprobs = _slipped(logprobs, thinking, sampling.slip, logits.shape[-1])
    values = None if model.value_head is None else model.value_head(hidden[:, 0])[:, 0]
    return logprobs.masked_fill(~mask, 0.0), values


def state_values(model: TinyForCausalLM, prompts: Tensor) -> Tensor:
    """Return the critic's value of each prompt, shape [rows].

    Raises:
        ValueError: if the model has no critic.
    """
    if model.value_head is None:
        raise ValueError("this model has no critic; create the policy with value_head=True")
    hidden = model.model(prompts, first_query=prompts.shape[1] - 1).last_hidden_state
    values: Tensor = model.value_head(hidden[:, 0])[:, 0]
    return values
