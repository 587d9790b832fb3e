"""Sampling replies: every row draws its next token by its own uniform number until it ends.

The board's keys and values stay where the prefill left them: rows with equal prompts share them, and a row that ends is
left out of the next round without moving anything.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from horizon_bench.policies.kernels.arithmetic import (
    Floats,
    add_bias,
    add_bias_gelu,
    add_bias_residual,
    compiled,
    exponential,
    layer_norm,
)
from horizon_bench.policies.kernels.attention import Ints
from horizon_bench.policies.kernels.trunk import Weights

_LEAST = np.float32(-3e38)


class Head(NamedTuple):
    """The language-model head and the tables that the next token's vector comes from."""

    weight: Floats
    """Shape [width, vocabulary]."""
    bias: Floats
    """Shape [vocabulary]."""
    tokens: Floats
    """Vector of each token, shape [vocabulary, width]."""
    positions: Floats
    """Vector of each position of the reply, the first token's first, shape [at least the cap, width]."""


class Prompts(NamedTuple):
    """What the prefill left: rows of boards, and which prompt each reply answers."""

    joined: Floats
    """Queries, keys and values, shape [layers, rows, 3 * width]."""
    first_row: Ints
    """First row of each prompt's board, shape [prompts]."""
    mode_row: Ints
    """Row of each prompt's last token, shape [prompts]."""
    prefix: int
    """Rows of a board."""
    inverse: Ints
    """Prompt of each reply, shape [replies]."""
    states: Floats
    """Final state of each prompt, shape [prompts, width]."""


class Rules(NamedTuple):
    """How tokens are drawn."""

    temperature: float
    slip: float
    end: int
    thought_end: int
    heads: int


class Written(NamedTuple):
    """The replies, filled in."""

    ids: Ints
    """Shape [replies, cap]."""
    logprobs: Floats
    """Shape [replies, cap]."""
    lengths: Ints
    """Shape [replies]."""
    entropy: Floats
    """Sum over the tokens, shape [replies]."""
    ended: NDArray[np.bool_]
    """Shape [replies]."""


@compiled
def decode(
    weights: Weights, head: Head, prompts: Prompts, rules: Rules, uniforms: Floats, most: int, out: Written
) -> None:
    """Write all replies.

    Args:
        weights: of all layers.
        head: head and tables.
        prompts: what the prefill left.
        rules: how tokens are drawn.
        uniforms: numbers in [0, 1), shape [replies, at least the cap].
        most: rows that are computed together.
        out: the replies; `ids` hold padding, all else zeros.
    """
    replies, cap = out.ids.shape
    layers, width = weights.joined.shape[0], weights.joined.shape[1]
    cache = np.empty((layers, replies, max(cap - 1, 1), 2 * width), np.float32)
    states = np.empty((replies, width), np.float32)
    for reply in range(replies):
        states[reply] = prompts.states[prompts.inverse[reply]]
    live = np.arange(replies)
    thinking = np.ones(replies, np.bool_)
    for time in range(cap):
        draw(head, rules, states, live, thinking, uniforms, time, most, out)
        kept = 0
        for index in range(live.size):
            reply = live[index]
            if not out.ended[reply]:
                live[kept] = reply
                kept += 1
                if out.ids[reply, time] == rules.thought_end:
                    thinking[reply] = False
        live = live[:kept]
        if time + 1 == cap or kept == 0:
            break
        for begin in range(0, kept, most):
            rows = live[begin : begin + most]
            advance(weights, head, prompts, rules.heads, rows, time, cache, out.ids, states[begin : begin + rows.size])


@compiled
def draw(
    head: Head,
    rules: Rules,
    states: Floats,
    live: Ints,
    thinking: Any,
    uniforms: Floats,
    time: int,
    most: int,
    out: Written,
) -> None:
    """Draw the next token of each live reply from its state; states stand in the order of `live`."""
    words = head.bias.size
    logits = np.empty((min(most, live.size), words), np.float32)
    for begin in range(0, live.size, most):
        rows = live[begin : begin + most]
        scores = logits[: rows.size]
        np.dot(states[begin : begin + rows.size], head.weight, scores)
        for index in range(rows.size):
            reply = rows[index]
            share = np.float32(rules.slip) if thinking[reply] else np.float32(0.0)
            chosen, logprob, entropy = pick(
                scores[index], head.bias, np.float32(1.0 / rules.temperature), share, uniforms[reply, time]
            )
            out.ids[reply, time] = chosen
            out.logprobs[reply, time] = logprob
            out.entropy[reply] += entropy
            out.lengths[reply] += 1
            out.ended[reply] = chosen == rules.end


@compiled
def pick(scores: Floats, bias: Floats, sharpness: Any, slip: Any, uniform: Any) -> tuple[int, Any, Any]:
    """Return the token at a uniform number, its log-probability and the distribution's entropy.

    Args:
        scores: of all tokens without bias; used as room.
        bias: of the head.
        sharpness: 1 / temperature.
        slip: share of the even distribution in the mixture.
        uniform: number in [0, 1).
    """
    words = scores.size
    largest = _LEAST
    for word in range(words):
        scores[word] = (scores[word] + bias[word]) * sharpness
        largest = max(largest, scores[word])
    total, weighted = np.float32(0.0), np.float32(0.0)
    for word in range(words):
        distance = scores[word] - largest
        weight = exponential(distance)
        total += weight
        weighted += weight * distance
        scores[word] = weight
    keep, even = (np.float32(1.0) - slip) / total, slip / np.float32(words)
    entropy = np.log(total) - weighted / total
    if slip > np.float32(0.0):
        entropy = np.float32(0.0)
        for word in range(words):
            share = scores[word] * keep + even
            entropy -= share * np.log(share)
    reached, chosen = np.float32(0.0), words - 1
    for word in range(words):
        reached += scores[word] * keep + even
        if reached >= uniform:
            chosen = word
            break
    return chosen, np.log(scores[chosen] * keep + even), entropy


@compiled
def advance(
    weights: Weights,
    head: Head,
    prompts: Prompts,
    heads: int,
    rows: Ints,
    time: int,
    cache: Floats,
    ids: Ints,
    out: Floats,
) -> None:
    """Write the final states of the replies' newest tokens to `out`, and their keys and values to the cache."""
    count, layers, width = rows.size, weights.joined.shape[0], weights.joined.shape[1]
    inputs, normed = np.empty((count, width), np.float32), np.empty((count, width), np.float32)
    middle, gathered = np.empty((count, width), np.float32), np.empty((count, width), np.float32)
    joined, raw = np.empty((count, 3 * width), np.float32), np.empty((count, 4 * width), np.float32)
    active, spread = np.empty((count, 4 * width), np.float32), np.empty((count, 2), np.float32)
    for index in range(count):
        inputs[index] = head.tokens[ids[rows[index], time]] + head.positions[time]
    for layer in range(layers):
        layer_norm(inputs, weights.gain_attention[layer], weights.bias_attention[layer], normed, spread)
        np.dot(normed, weights.joined[layer], joined)
        add_bias(joined, weights.joined_bias[layer])
        for index in range(count):
            reply = rows[index]
            cache[layer, reply, time] = joined[index, width:]
            look_back(
                joined[index], prompts.joined[layer], prompts.first_row[prompts.inverse[reply]], prompts.prefix,
                prompts.mode_row[prompts.inverse[reply]], cache[layer, reply, : time + 1], heads, gathered[index],
            )  # fmt: skip
        np.dot(gathered, weights.output[layer], normed)
        add_bias_residual(normed, weights.output_bias[layer], inputs, middle)
        layer_norm(middle, weights.gain_feed[layer], weights.bias_feed[layer], normed, spread)
        np.dot(normed, weights.feed_in[layer], raw)
        add_bias_gelu(raw, weights.feed_in_bias[layer], active)
        np.dot(active, weights.feed_out[layer], normed)
        add_bias_residual(normed, weights.feed_out_bias[layer], middle, inputs)
    layer_norm(inputs, weights.gain_final[0], weights.bias_final[0], out, spread)


@compiled
def look_back(
    query: Floats, board: Floats, first: int, prefix: int, mode: int, past: Floats, heads: int, out: Floats
) -> None:
    """Write what one token gathers from its board, mode token and reply so far.

    Args:
        query: its query first, shape [3 * width].
        board: queries, keys and values of all boards, shape [rows, 3 * width].
        first: first row of its board.
        prefix: rows of a board.
        mode: row of its mode token.
        past: keys and values of its reply, its own last, shape [tokens, 2 * width].
        heads: number of heads.
        out: shape [width].
    """
    width = out.size
    size = width // heads
    tokens = prefix + 1 + past.shape[0]
    scores = np.empty(tokens, np.float32)
    scale = np.float32(1.0 / np.sqrt(size))
    for head in range(heads):
        at = head * size
        asked = query[at : at + size]
        largest = _LEAST
        for token in range(tokens):
            if token <= prefix:
                key = board[first + token if token < prefix else mode, width + at : width + at + size]
            else:
                key = past[token - prefix - 1, at : at + size]
            total = np.float32(0.0)
            for i in range(size):
                total += asked[i] * key[i]
            scores[token] = total
            largest = max(largest, total)
        total = np.float32(0.0)
        for token in range(tokens):
            weight = exponential((scores[token] - largest) * scale)
            scores[token] = weight
            total += weight
        gathered = out[at : at + size]
        gathered[:] = np.float32(0.0)
        for token in range(tokens):
            if token <= prefix:
                value = board[first + token if token < prefix else mode, 2 * width + at : 2 * width + at + size]
            else:
                value = past[token - prefix - 1, width + at : width + at + size]
            weight = scores[token] / total
            for i in range(size):
                gathered[i] += weight * value[i]
