"""Attention of one block: prefix rows see their whole prefix, suffix rows the prefix and their own past."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from horizon_bench.policies.kernels.arithmetic import Floats, compiled, softmax_rows

Ints = NDArray[np.int64]


class Block(NamedTuple):
    """Which rows of a block belong to which reply and group."""

    groups: int
    """Number of groups."""
    prefix: int
    """Rows of each prefix."""
    first_reply: Ints
    """Index among the block's replies where each group's begin, and the number of replies, shape [groups + 1]."""
    starts: Ints
    """Row of the block where each reply begins, and the number of rows, shape [replies + 1]."""


@compiled
def copy_columns(source: Floats, first_row: int, rows: int, column: int, target: Floats, at: int) -> None:
    """Copy a part of the rows' columns to the rows of `target` from `at` on."""
    for row in range(rows):
        a, b = source[first_row + row], target[at + row]
        for i in range(target.shape[1]):
            b[i] = a[column + i]


@compiled
def write_columns(source: Floats, rows: int, target: Floats, first_row: int, column: int) -> None:
    """Copy the first rows of `source` into a part of the columns of `target`."""
    for row in range(rows):
        a, b = source[row], target[first_row + row]
        for i in range(source.shape[1]):
            b[column + i] = a[i]


@compiled
def add_columns(source: Floats, rows: int, target: Floats, first_row: int, column: int) -> None:
    """Add the first rows of `source` to a part of the columns of `target`."""
    for row in range(rows):
        a, b = source[row], target[first_row + row]
        for i in range(source.shape[1]):
            b[column + i] += a[i]


@compiled
def attend(joined: Floats, block: Block, heads: int, only_suffix: bool, weights: Floats, out: Floats) -> int:
    """Write what each row gathers to `out`, and the softmax weights to `weights`; returns how many weights.

    Args:
        joined: queries, keys and values, shape [rows, 3 * width].
        block: the rows' places.
        heads: number of heads.
        only_suffix: prefix rows gather nothing.
        weights: room for the weights, flat.
        out: shape [rows, width].
    """
    width = joined.shape[1] // 3
    size = width // heads
    longest = block.prefix + joined.shape[0] - block.groups * block.prefix
    work = np.empty((4, longest, size), np.float32)
    queries, keys, values, gathered = work[0], work[1], work[2], work[3]
    scale = np.float32(1.0 / np.sqrt(size))
    prefix, used = block.prefix, 0
    for head in range(heads):
        column = head * size
        for group in range(block.groups):
            copy_columns(joined, group * prefix, prefix, width + column, keys, 0)
            copy_columns(joined, group * prefix, prefix, 2 * width + column, values, 0)
            if not only_suffix:
                copy_columns(joined, group * prefix, prefix, column, queries, 0)
                used = _gather(queries, keys, values, gathered, prefix, prefix, scale, prefix, weights, used)
                write_columns(gathered, prefix, out, group * prefix, column)
            for reply in range(block.first_reply[group], block.first_reply[group + 1]):
                start = block.starts[reply]
                rows = block.starts[reply + 1] - start
                copy_columns(joined, start, rows, column, queries, 0)
                copy_columns(joined, start, rows, width + column, keys, prefix)
                copy_columns(joined, start, rows, 2 * width + column, values, prefix)
                seen = prefix + rows
                used = _gather(queries, keys, values, gathered, rows, seen, scale, prefix + 1, weights, used)
                write_columns(gathered, rows, out, start, column)
    return used


@compiled
def _gather(
    queries: Floats,
    keys: Floats,
    values: Floats,
    gathered: Floats,
    rows: int,
    seen: int,
    scale: Any,
    first_hidden: int,
    weights: Floats,
    used: int,
) -> int:
    """Attend with the first rows; returns the end of the weights."""
    scores = weights[used : used + rows * seen].reshape(rows, seen)
    np.dot(queries[:rows], keys[:seen].T, scores)
    softmax_rows(scores, scale, first_hidden)
    np.dot(scores, values[:seen], gathered[:rows])
    return used + rows * seen


@compiled
def attend_backward(
    joined: Floats, block: Block, heads: int, only_suffix: bool, weights: Floats, given: Floats, out: Floats
) -> None:
    """Write the gradient of queries, keys and values to `out`.

    Args:
        joined: queries, keys and values, shape [rows, 3 * width].
        block: the rows' places.
        heads: number of heads.
        only_suffix: prefix rows gathered nothing.
        weights: what `attend` wrote.
        given: gradient of what the rows gathered, shape [rows, width].
        out: shape [rows, 3 * width].
    """
    width = given.shape[1]
    size = width // heads
    longest = block.prefix + joined.shape[0] - block.groups * block.prefix
    work = np.empty((7, longest, size), np.float32)
    scale = np.float32(1.0 / np.sqrt(size))
    prefix, used = block.prefix, 0
    out[:] = 0.0
    for head in range(heads):
        column = head * size
        for group in range(block.groups):
            first = group * prefix
            copy_columns(joined, first, prefix, width + column, work[1], 0)
            copy_columns(joined, first, prefix, 2 * width + column, work[2], 0)
            if not only_suffix:
                copy_columns(joined, first, prefix, column, work[0], 0)
                copy_columns(given, first, prefix, column, work[3], 0)
                used = _spread(work, prefix, prefix, scale, weights, used)
                add_columns(work[4], prefix, out, first, column)
                add_columns(work[5], prefix, out, first, width + column)
                add_columns(work[6], prefix, out, first, 2 * width + column)
            for reply in range(block.first_reply[group], block.first_reply[group + 1]):
                start = block.starts[reply]
                rows = block.starts[reply + 1] - start
                copy_columns(joined, start, rows, column, work[0], 0)
                copy_columns(joined, start, rows, width + column, work[1], prefix)
                copy_columns(joined, start, rows, 2 * width + column, work[2], prefix)
                copy_columns(given, start, rows, column, work[3], 0)
                used = _spread(work, rows, prefix + rows, scale, weights, used)
                add_columns(work[4], rows, out, start, column)
                for part in (1, 2):
                    add_columns(work[4 + part], prefix, out, first, part * width + column)
                    add_columns(work[4 + part, prefix:], rows, out, start, part * width + column)


@compiled
def _spread(work: Floats, rows: int, seen: int, scale: Any, weights: Floats, used: int) -> int:
    """Turn the gradient in work[3] into those of queries, keys and values in work[4:]; returns the end of the weights.

    `work` holds queries, keys, values, the given gradient, and room for the three gradients.
    """
    share = weights[used : used + rows * seen].reshape(rows, seen)
    np.dot(share.T, work[3, :rows], work[6, :seen])
    pushed = np.empty((rows, seen), np.float32)
    np.dot(work[3, :rows], work[2, :seen].T, pushed)
    for query in range(rows):
        weight, target = share[query], pushed[query]
        total = np.float32(0.0)
        for key in range(seen):
            total += weight[key] * target[key]
        for key in range(seen):
            target[key] = weight[key] * (target[key] - total) * scale
    np.dot(pushed, work[1, :seen], work[4, :rows])
    np.dot(pushed.T, work[0, :rows], work[5, :seen])
    return used + rows * seen
