"""Reductions over ragged episodes and over groups, shared by every estimator.

Everything works on flat arrays with offsets and costs a few vector operations a time step, never a Python loop over
decisions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from horizon_bench.credit.batch import BoolArray, FloatArray, IntArray

RELATIVE_SPREAD = 64 * float(np.finfo(np.float64).eps)
"""Numbers that differ by less than this share of their size count as equal (one sum, added in another order)."""


def as_floats(*arrays: ArrayLike) -> tuple[FloatArray, ...]:
    """Return each argument as an array of float64, so that integers never cut off a result's fraction."""
    return tuple(np.asarray(array, dtype=np.float64) for array in arrays)


def as_rows(*arrays: ArrayLike) -> tuple[FloatArray, ...]:
    """Return each argument as an array of float64; a `ValueError` unless all share one shape [rows, tokens]."""
    rows = as_floats(*arrays)
    if rows[0].ndim != 2 or any(array.shape != rows[0].shape for array in rows):
        raise ValueError(f"all must share one shape [rows, tokens], but they have {[array.shape for array in rows]}")
    return rows


def scan_backward(inputs: FloatArray, carry: FloatArray, offsets: IntArray) -> FloatArray:
    """Return y with y_t = inputs_t + carry_t * y_(t+1) inside each episode, y after the last decision being 0.

    Args:
        inputs: shape [turns].
        carry: shape [turns]; 0 cuts the sum behind a decision.
        offsets: shape [episodes + 1].

    Returns:
        Shape [turns].
    """
    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable")
    starts = offsets[:-1][order]
    alive_at = np.searchsorted(-lengths[order], -np.arange(lengths.max(initial=0)), side="left")
    running = np.zeros(len(lengths))
    result = np.zeros(len(inputs))
    for time in range(len(alive_at) - 1, -1, -1):
        alive = alive_at[time]
        rows = starts[:alive] + time
        running[:alive] = inputs[rows] + carry[rows] * running[:alive]
        result[rows] = running[:alive]
    return result


def return_to_go(
    rewards: ArrayLike, offsets: ArrayLike, gamma: float, cut_after: BoolArray | None = None
) -> FloatArray:
    """Return G_t = r_t + gamma * G_(t+1), the sum ending at the episode's end or behind a cut.

    Args:
        rewards: shape [turns].
        offsets: shape [episodes + 1].
        gamma: discount for one decision, 0 to 1.
        cut_after: true at decisions behind which nothing counts, shape [turns].

    Returns:
        Shape [turns].

    Raises:
        ValueError: if a reward is NaN, or `gamma` lies outside 0 to 1.
    """
    check_share("gamma", gamma)
    (rewards,) = as_floats(rewards)
    check_numbers("rewards", rewards)
    offsets = np.asarray(offsets, dtype=np.int64)
    carry = np.full(len(rewards), float(gamma))
    if cut_after is not None:
        carry[cut_after] = 0.0
    return scan_backward(rewards, carry, offsets)


def episode_sums(values: FloatArray, offsets: IntArray) -> FloatArray:
    """Return the sum of a per-decision quantity over each episode, shape [episodes]."""
    lengths = np.diff(offsets)
    return sum_by(np.repeat(np.arange(len(lengths)), lengths), values, len(lengths))


def sum_by(index: IntArray, values: FloatArray, bins: int) -> FloatArray:
    """Return the sum of the values that carry each index 0 .. bins - 1, shape [bins]."""
    return np.asarray(np.bincount(index, weights=values, minlength=bins), dtype=np.float64)


def compact_labels(labels: IntArray) -> tuple[IntArray, int]:
    """Return labels renumbered from 0, and how many numbers they may use; some numbers may stay without a member.

    Renumbering sorts only where the labels' range is much wider than their number, or where they are no integers.
    """
    labels = np.asarray(labels)
    if not len(labels):
        return labels.astype(np.int64), 0
    if labels.dtype.kind in "iu":
        low, high = int(labels.min()), int(labels.max())
        if high - low < 8 * len(labels) + 64:
            return np.asarray(labels - low, dtype=np.int64), high - low + 1
    distinct, index = np.unique(labels, return_inverse=True)
    return np.asarray(index, dtype=np.int64), len(distinct)


@dataclass(frozen=True)
class GroupStatistics:
    """Statistics of each sample's group, spread back over the samples, each of shape [samples]."""

    count: FloatArray
    """Total weight of the group (number of samples without weights)."""
    mean: FloatArray
    deviation: FloatArray
    """Standard deviation; exactly 0 where all samples of the group are equal, 0 for a group of one."""


def group_statistics(
    values: FloatArray, labels: IntArray, *, ddof: int = 0, weights: FloatArray | None = None
) -> GroupStatistics:
    """Return count, mean and standard deviation of each sample's group.

    A group whose members are equal up to rounding has deviation exactly 0 and its own value as mean, so that equal
    rewards never give a spurious advantage.

    Args:
        values: shape [samples].
        labels: group of each sample, shape [samples].
        ddof: 0 divides by n, 1 by n - 1.
        weights: how often each sample counts, shape [samples]; once where left out.

    Raises:
        ValueError: if a value is NaN.
    """
    check_numbers("values", values)
    index, groups = compact_labels(labels)
    share = np.ones(len(values)) if weights is None else weights
    count = sum_by(index, share, groups)
    low, high = np.full(groups, np.inf), np.full(groups, -np.inf)
    np.minimum.at(low, index, values)
    np.maximum.at(high, index, values)
    nobody = low > high
    low[nobody] = high[nobody] = 0.0
    span = high - low
    scaled = divide(values - low[index], span[index])
    centre = divide(sum_by(index, share * scaled, groups), count)
    squares = sum_by(index, share * (scaled - centre[index]) ** 2, groups)
    equal = span <= RELATIVE_SPREAD * np.maximum(np.abs(low), np.abs(high))
    mean = np.where(equal, low, low + span * centre)
    deviation = np.where(equal, 0.0, span * np.sqrt(divide(squares, np.maximum(count - ddof, 0.0))))
    return GroupStatistics(count[index], mean[index], deviation[index])


def divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Return the quotient, 0 where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator != 0)


def normalize(values: FloatArray, *, ddof: int = 0, epsilon: float = 0.0) -> FloatArray:
    """Return (x - mean) / (standard deviation + epsilon) over the whole array; zeros where all values are equal."""
    return normalize_groups(values, np.zeros(len(values), dtype=np.int64), ddof=ddof, epsilon=epsilon)


def normalize_groups(values: FloatArray, labels: IntArray, *, ddof: int = 0, epsilon: float = 0.0) -> FloatArray:
    """Return (x - mean) / (standard deviation + epsilon) within each group; zeros where all values of one are equal."""
    statistics = group_statistics(values, labels, ddof=ddof)
    centred = np.where(statistics.deviation == 0, 0.0, values - statistics.mean)
    return divide(centred, np.where(statistics.deviation == 0, 0.0, statistics.deviation + epsilon))


def whiten(values: ArrayLike, *, weights: ArrayLike | None = None, epsilon: float = 1e-8, ddof: int = 1) -> FloatArray:
    """Return (x - mean) / sqrt(variance + epsilon); zeros where the variance and epsilon are 0.

    Args:
        values: any shape.
        weights: how often each entry counts in mean and variance, same shape (a mask of 0 and 1 does); entries of
            weight 0 are shifted and scaled too.
        epsilon: added to the variance.
        ddof: 1 divides the variance by n - 1.
    """
    (values,) = as_floats(values)
    share = np.ones_like(values) if weights is None else np.asarray(weights, dtype=np.float64)
    chosen = share > 0
    if not chosen.any():
        return np.zeros_like(values)
    one_group = np.zeros(int(chosen.sum()), dtype=np.int64)
    statistics = group_statistics(values[chosen], one_group, ddof=ddof, weights=share[chosen])
    scale = np.hypot(statistics.deviation[0], np.sqrt(epsilon))
    return (values - statistics.mean[0]) / scale if scale > 0 else np.zeros_like(values)


def check_numbers(name: str, values: FloatArray) -> None:
    """Raise a `ValueError` if a number is missing (NaN), which would spread to every result it enters."""
    if np.isnan(values).any():
        entry = int(np.flatnonzero(np.isnan(values))[0])
        raise ValueError(
            f"{name} hold NaN at entry {entry}; a sample that could not be scored may only enter estimators that "
            "compare the scores of whole episodes"
        )


def check_share(name: str, value: float) -> None:
    """Raise a `ValueError` unless the number lies between 0 and 1."""
    if not 0 <= value <= 1:
        raise ValueError(f"{name} is {value}, but must lie between 0 and 1")
