"""Scores of one condition from counts of attempts: avg@k, unbiased pass@k, aggregates over runs.

Pure functions over arrays. How sure a score is, says `reports.intervals`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def pass_at_k(attempts: ArrayLike, solved: ArrayLike, k: int) -> FloatArray:
    """Return each puzzle's unbiased estimate of the chance that at least one of k attempts solves it.

    1 - C(n - c, k) / C(n, k) for n attempts of which c succeeded (Chen et al. 2021, equation 1).

    Args:
        attempts: attempts n at each puzzle, at least k; a single number counts for every puzzle.
        solved: successes c among them; its shape and that of `attempts` are broadcast.
        k: attempts that count together.

    Returns:
        One estimate a puzzle; an array without axes where both counts are single numbers.

    Raises:
        ValueError: if a puzzle has fewer than k attempts, a count is impossible, or the shapes do not go together.
    """
    n, c = _counts(attempts, solved, k, "pass")
    failed = n - c
    estimate = np.ones(n.shape)
    for step in range(k):
        estimate *= np.maximum(failed - step, 0) / (n - step)
    return np.asarray(1.0 - estimate, dtype=np.float64)


def pass_hat_k(attempts: ArrayLike, solved: ArrayLike, k: int) -> FloatArray:
    """Return each puzzle's unbiased estimate of the chance that all of k attempts solve it: C(c, k) / C(n, k).

    Arguments, result and errors are those of `pass_at_k`.
    """
    n, c = _counts(attempts, solved, k, "pass^")
    estimate = np.ones(n.shape)
    for step in range(k):
        estimate *= np.maximum(c - step, 0) / (n - step)
    return np.asarray(estimate, dtype=np.float64)


def avg_at_k(attempts: ArrayLike, solved: ArrayLike, k: int) -> FloatArray:
    """Return each puzzle's mean success over its attempts; avg@k is the mean of these over puzzles.

    Arguments, result and errors are those of `pass_at_k`.
    """
    n, c = _counts(attempts, solved, k, "avg")
    return np.asarray(c / n, dtype=np.float64)


def interquartile_mean(scores: ArrayLike) -> float:
    """Return the mean of the scores without their lowest and highest quarter (counts rounded down).

    Args:
        scores: one score a run, or runs by tasks; flattened.

    Raises:
        ValueError: if there is none.
    """
    ordered = np.sort(np.asarray(scores, dtype=np.float64), axis=None)
    if not len(ordered):
        raise ValueError("the interquartile mean of no scores does not exist; give at least one")
    trim = len(ordered) // 4
    return float(ordered[trim : len(ordered) - trim].mean())


def probability_of_improvement(scores: ArrayLike, others: ArrayLike) -> float:
    """Return the chance that a random run scores above a random run of `others` on the same task; ties count half.

    Args:
        scores: shape [runs] or [runs, tasks].
        others: shape [other runs] or [other runs, tasks]; averaged over tasks.

    Raises:
        ValueError: if either is empty or the numbers of tasks differ.
    """
    ours, theirs = (np.asarray(values, dtype=np.float64) for values in (scores, others))
    ours, theirs = (values[:, None] if values.ndim == 1 else values for values in (ours, theirs))
    if not ours.size or not theirs.size or ours.shape[1] != theirs.shape[1]:
        raise ValueError(f"scores of shapes {ours.shape} and {theirs.shape} do not share their tasks (second axis)")
    above = ours[:, None] > theirs[None]
    equal = ours[:, None] == theirs[None]
    return float((above + 0.5 * equal).mean())


def _counts(attempts: ArrayLike, solved: ArrayLike, k: int, name: str) -> tuple[IntArray, IntArray]:
    """Return both counts as whole numbers of one shape, or raise `ValueError` for what no evaluation can give."""
    n, c = _whole("attempts", attempts), _whole("solved", solved)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"{name}@{k!r} does not exist; k must be a whole number of at least 1")
    try:
        n, c = np.broadcast_arrays(n, c)
    except ValueError:
        raise ValueError(
            f"attempts of shape {n.shape} and solved of shape {c.shape} do not go together; "
            "give one number for all puzzles or one for each"
        ) from None
    if (n < k).any():
        raise ValueError(
            f"{name}@{k} needs at least {k} attempts a puzzle, but one has {int(n.min())}; "
            f"evaluate with more attempts or ask for {name}@{max(1, int(n.min()))}"
        )
    if ((c < 0) | (c > n)).any():
        raise ValueError("a puzzle has more successes than attempts, or fewer than none")
    return n, c


def _whole(name: str, values: ArrayLike) -> IntArray:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a whole number or an array of them, not {values!r}") from None
    if not np.all(numbers == np.floor(numbers)) or not np.all(np.isfinite(numbers)):
        raise ValueError(f"{name} must be whole numbers of attempts, not {values!r}")
    return numbers.astype(np.int64)
