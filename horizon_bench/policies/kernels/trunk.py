"""The whole trunk over many blocks: forward with what backward needs, and backward."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horizon_bench.policies.kernels.arithmetic import (
    Floats,
    add_bias,
    add_bias_gelu,
    add_bias_residual,
    add_column_sums,
    compiled,
    gelu_and_slope,
    layer_norm,
    layer_norm_backward,
)
from horizon_bench.policies.kernels.attention import Block, Ints, attend, attend_backward

L2_PRODUCTS = 1_000_000
"""Rows are joined to blocks until the largest product takes so many multiplications: up to here the linear-algebra
library has its fastest kernels, and the block's intermediate results stay in the cache."""


class Weights(NamedTuple):
    """All layers' weights or gradients; matrices are [layers, inputs, outputs]."""

    gain_attention: Floats
    bias_attention: Floats
    joined: Floats
    """To queries, keys and values, shape [layers, width, 3 * width]."""
    joined_bias: Floats
    output: Floats
    output_bias: Floats
    gain_feed: Floats
    bias_feed: Floats
    feed_in: Floats
    feed_in_bias: Floats
    feed_out: Floats
    feed_out_bias: Floats
    gain_final: Floats
    bias_final: Floats


class Batch(NamedTuple):
    """Boards and the replies that follow them; rows of the result are the suffix tokens in order."""

    prefixes: Ints
    """Token ids, shape [groups, prefix]."""
    suffixes: Ints
    """Token ids of all replies one after another, shape [suffix tokens]."""
    first_reply: Ints
    """Where each group's replies begin, and their number, shape [groups + 1]."""
    starts: Ints
    """Where each reply's tokens begin, and their number, shape [replies + 1]."""
    first_group: Ints
    """Where each block's groups begin, and their number, shape [blocks + 1]."""


class Kept(NamedTuple):
    """What forward leaves for backward (and for decoding): by layer and row, blocks one after another."""

    inputs: Floats
    """Shape [layers + 1, rows, width]; the last is the input of the final norm."""
    joined: Floats
    """Shape [layers, rows, 3 * width]."""
    gathered: Floats
    """Shape [layers, rows, width]."""
    middle: Floats
    """Shape [layers, rows, width]."""
    raw: Floats
    """Before GELU, shape [layers, rows, 4 * width]."""
    spread: Floats
    """Of the two norms in each layer and, as layer `layers`, the final one, shape [layers + 1, 2, rows, 2]."""
    weights: Floats
    """Of attention, flat."""


@compiled
def find_block(batch: Batch, number: int) -> Block:
    """Return the places of a block's rows."""
    first, last = batch.first_group[number], batch.first_group[number + 1]
    replies = batch.first_reply[first : last + 1] - batch.first_reply[first]
    starts = batch.starts[batch.first_reply[first] : batch.first_reply[last] + 1]
    prefix = batch.prefixes.shape[1]
    return Block(last - first, prefix, replies, starts - starts[0] + (last - first) * prefix)


@compiled
def embed_block(batch: Batch, number: int, tokens: Floats, positions: Floats, out: Floats) -> None:
    """Write the vectors of a block's rows to `out`."""
    first, last = batch.first_group[number], batch.first_group[number + 1]
    prefix, row = batch.prefixes.shape[1], 0
    for group in range(first, last):
        for place in range(prefix):
            out[row] = tokens[batch.prefixes[group, place]] + positions[place]
            row += 1
    for reply in range(batch.first_reply[first], batch.first_reply[last]):
        start = batch.starts[reply]
        for index in range(start, batch.starts[reply + 1]):
            out[row] = tokens[batch.suffixes[index]] + positions[prefix + index - start]
            row += 1


@compiled
def embed_backward(batch: Batch, number: int, given: Floats, tokens: Floats, positions: Floats) -> None:
    """Add the gradient of a block's vectors to those of tokens and positions."""
    first, last = batch.first_group[number], batch.first_group[number + 1]
    prefix, row = batch.prefixes.shape[1], 0
    for group in range(first, last):
        for place in range(prefix):
            tokens[batch.prefixes[group, place]] += given[row]
            positions[place] += given[row]
            row += 1
    for reply in range(batch.first_reply[first], batch.first_reply[last]):
        start = batch.starts[reply]
        for index in range(start, batch.starts[reply + 1]):
            tokens[batch.suffixes[index]] += given[row]
            positions[prefix + index - start] += given[row]
            row += 1


@compiled
def forward(weights: Weights, tokens: Floats, positions: Floats, batch: Batch, heads: int, kept: Kept) -> Floats:
    """Return the final states of the suffix rows, shape [suffix tokens, width].

    Args:
        weights: of all layers.
        tokens: vector of each token, shape [vocabulary, width].
        positions: vector of each position, shape [positions, width].
        batch: boards and replies.
        heads: number of heads.
        kept: filled for `backward`.
    """
    width = tokens.shape[1]
    final = np.empty((batch.suffixes.size, width), np.float32)
    row, result, used = 0, 0, 0
    for number in range(batch.first_group.size - 1):
        block = find_block(batch, number)
        rows = block.starts[-1]
        suffix = rows - block.groups * block.prefix
        embed_block(batch, number, tokens, positions, kept.inputs[0, row : row + rows])
        used = forward_block(weights, block, heads, kept, row, used)
        first = row + rows - suffix
        layers = weights.joined.shape[0]
        layer_norm(
            kept.inputs[layers, first : row + rows],
            weights.gain_final[0],
            weights.bias_final[0],
            final[result : result + suffix],
            kept.spread[layers, 0, first : row + rows],
        )
        row += rows
        result += suffix
    return final


@compiled
def forward_block(weights: Weights, block: Block, heads: int, kept: Kept, row: int, used: int) -> int:
    """Send one block through all layers; of the last, prefix rows only make keys and values.

    Args:
        weights: of all layers.
        block: the rows' places.
        heads: number of heads.
        kept: holds the block's input and takes the rest.
        row: first row of the block.
        used: where its attention weights begin.

    Returns:
        Where the attention weights end.
    """
    layers, width = weights.joined.shape[0], weights.joined.shape[1]
    rows = block.starts[-1]
    normed, scratch = np.empty((rows, width), np.float32), np.empty((rows, 4 * width), np.float32)
    for layer in range(layers):
        last = layer == layers - 1
        inputs = kept.inputs[layer, row : row + rows]
        joined = kept.joined[layer, row : row + rows]
        layer_norm(
            inputs, weights.gain_attention[layer], weights.bias_attention[layer], normed,
            kept.spread[layer, 0, row : row + rows],
        )  # fmt: skip
        np.dot(normed, weights.joined[layer], joined)
        add_bias(joined, weights.joined_bias[layer])
        gathered = kept.gathered[layer, row : row + rows]
        used += attend(joined, block, heads, last, kept.weights[used:], gathered)
        begin = block.groups * block.prefix if last else 0
        feed_forward(weights, layer, kept, row + begin, row + rows, normed[begin:], scratch[begin:])
    return used


@compiled
def feed_forward(
    weights: Weights, layer: int, kept: Kept, first: int, last: int, normed: Floats, scratch: Floats
) -> None:
    """Finish a layer for the rows from `first` to `last`: output of attention, feed-forward, both with residuals."""
    middle = kept.middle[layer, first:last]
    np.dot(kept.gathered[layer, first:last], weights.output[layer], normed)
    add_bias_residual(normed, weights.output_bias[layer], kept.inputs[layer, first:last], middle)
    layer_norm(middle, weights.gain_feed[layer], weights.bias_feed[layer], normed, kept.spread[layer, 1, first:last])
    raw = kept.raw[layer, first:last]
    np.dot(normed, weights.feed_in[layer], raw)
    add_bias_gelu(raw, weights.feed_in_bias[layer], scratch)
    np.dot(scratch, weights.feed_out[layer], normed)
    add_bias_residual(normed, weights.feed_out_bias[layer], middle, kept.inputs[layer + 1, first:last])


@compiled
def backward(
    weights: Weights,
    batch: Batch,
    heads: int,
    kept: Kept,
    given: Floats,
    gradients: Weights,
    tokens: Floats,
    positions: Floats,
) -> None:
    """Add the gradients of all weights to `gradients`, `tokens` and `positions`.

    Args:
        weights: of all layers, matrices here as [layers, outputs, inputs].
        batch: boards and replies.
        heads: number of heads.
        kept: what `forward` left.
        given: gradient of what `forward` returned.
        gradients: of all layers, matrices as [layers, inputs, outputs].
        tokens: gradient of the tokens' vectors.
        positions: gradient of the positions' vectors.
    """
    layers, width = weights.joined.shape[0], weights.joined.shape[2]
    row, result, used = 0, 0, 0
    for number in range(batch.first_group.size - 1):
        block = find_block(batch, number)
        rows = block.starts[-1]
        begin = block.groups * block.prefix
        pushed = np.zeros((rows, width), np.float32)
        layer_norm_backward(
            kept.inputs[layers, row + begin : row + rows],
            kept.spread[layers, 0, row + begin : row + rows],
            weights.gain_final[0],
            given[result : result + rows - begin],
            pushed[begin:],
            gradients.gain_final[0],
            gradients.bias_final[0],
        )
        sizes = _weight_counts(block, heads)
        end = used + (layers - 1) * sizes[0] + sizes[1]
        at = end - sizes[1]
        for layer in range(layers - 1, -1, -1):
            last = layer == layers - 1
            _layer_backward(weights, block, heads, kept, layer, row, kept.weights[at:], pushed, gradients, last)
            at -= sizes[0]
        embed_backward(batch, number, pushed, tokens, positions)
        row += rows
        result += rows - begin
        used = end


@compiled
def _weight_counts(block: Block, heads: int) -> tuple[int, int]:
    """Return how many attention weights a block has in each layer, and in the last one."""
    suffix = 0
    for reply in range(block.starts.size - 1):
        rows = block.starts[reply + 1] - block.starts[reply]
        suffix += rows * (block.prefix + rows)
    return heads * (suffix + block.groups * block.prefix * block.prefix), heads * suffix


@compiled
def _layer_backward(
    weights: Weights,
    block: Block,
    heads: int,
    kept: Kept,
    layer: int,
    row: int,
    shares: Floats,
    pushed: Floats,
    gradients: Weights,
    last: bool,
) -> None:
    """Turn the gradient of a layer's output in `pushed` into that of its input, and add those of its weights."""
    rows, width = pushed.shape
    begin = block.groups * block.prefix if last else 0
    normed, moved = np.empty((rows, width), np.float32), np.empty((rows, width), np.float32)
    _feed_backward(weights, kept, layer, row + begin, row + rows, pushed[begin:], gradients, normed[begin:])
    add_column_sums(pushed[begin:], gradients.output_bias[layer])
    add_product(kept.gathered[layer, row + begin : row + rows], pushed[begin:], gradients.output[layer])
    np.dot(pushed[begin:], weights.output[layer], moved[begin:])
    joined = kept.joined[layer, row : row + rows]
    spread = np.empty((rows, 3 * width), np.float32)
    attend_backward(joined, block, heads, last, shares, moved, spread)
    inputs, norm = kept.inputs[layer, row : row + rows], kept.spread[layer, 0, row : row + rows]
    renew(inputs, norm, weights.gain_attention[layer], weights.bias_attention[layer], normed)
    add_column_sums(spread, gradients.joined_bias[layer])
    add_product(normed, spread, gradients.joined[layer])
    np.dot(spread, weights.joined[layer], moved)
    layer_norm_backward(
        inputs, norm, weights.gain_attention[layer], moved, pushed,
        gradients.gain_attention[layer], gradients.bias_attention[layer],
    )  # fmt: skip


@compiled
def _feed_backward(
    weights: Weights, kept: Kept, layer: int, first: int, last: int, pushed: Floats, gradients: Weights, normed: Floats
) -> None:
    """Go back through the feed-forward of the rows from `first` to `last`; `pushed` changes in place."""
    raw = kept.raw[layer, first:last]
    active, slope, wide = np.empty_like(raw), np.empty_like(raw), np.empty_like(raw)
    gelu_and_slope(raw, active, slope)
    add_column_sums(pushed, gradients.feed_out_bias[layer])
    add_product(active, pushed, gradients.feed_out[layer])
    np.dot(pushed, weights.feed_out[layer], wide)
    for row in range(wide.shape[0]):
        target, factor = wide[row], slope[row]
        for i in range(target.size):
            target[i] *= factor[i]
    middle, norm = kept.middle[layer, first:last], kept.spread[layer, 1, first:last]
    renew(middle, norm, weights.gain_feed[layer], weights.bias_feed[layer], normed)
    add_column_sums(wide, gradients.feed_in_bias[layer])
    add_product(normed, wide, gradients.feed_in[layer])
    np.dot(wide, weights.feed_in[layer], normed)
    layer_norm_backward(
        middle, norm, weights.gain_feed[layer], normed, pushed, gradients.gain_feed[layer], gradients.bias_feed[layer]
    )


@compiled
def renew(rows: Floats, spread: Floats, gain: Floats, bias: Floats, out: Floats) -> None:
    """Write the layer norm to `out` again from what was kept of it."""
    for row in range(rows.shape[0]):
        source, target = rows[row], out[row]
        mean, scale = spread[row, 0], spread[row, 1]
        for i in range(gain.size):
            target[i] = (source[i] - mean) * scale * gain[i] + bias[i]


@compiled
def add_product(left: Floats, right: Floats, sums: Floats) -> None:
    """Add left.T @ right to `sums`."""
    product = np.empty(sums.shape, np.float32)
    np.dot(left.T, right, product)
    for row in range(sums.shape[0]):
        source, target = product[row], sums[row]
        for i in range(target.size):
            target[i] += source[i]
