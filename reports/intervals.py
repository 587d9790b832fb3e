"""How sure a score is: Wilson intervals, and a bootstrap that resamples seeds and puzzles, never attempts.

Attempts at one puzzle are no independent evidence about a condition; runs and puzzles are. Where every value is the
same (an all-zero cell, a single puzzle), a bootstrap sees no spread and a Wilson interval takes its place; its trials
are the puzzles that differ by more than symmetry, so that seeds, attempts and symmetric copies add none. Every
function that draws takes a generator.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reports.metrics import interquartile_mean, probability_of_improvement

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

RESAMPLES = 2000


@dataclass(frozen=True)
class Estimate:
    """A value with its interval and what stands behind it."""

    value: float
    low: float
    """NaN, as `high`, where no interval can be had: of an aggregate over runs with a single one."""
    high: float
    puzzles: int
    """Puzzles, symmetric copies of one counted each."""
    seeds: int
    """Different runs. With one, the interval says nothing about how another run would turn out."""
    method: str = "bootstrap"
    """`bootstrap` over seeds and puzzles, or `wilson` over puzzles that differ by more than symmetry."""

    def format(self, scale: float = 100.0, digits: int = 1, sign: bool = False) -> str:
        """Return `12.5 [10.1, 15.0]`, scaled (to percent unless told); a dash for an interval that cannot be had."""
        plus = "+" if sign else ""
        if np.isnan(self.low):
            return f"{scale * self.value:{plus}.{digits}f} [\N{EM DASH}]".replace("-", "\N{MINUS SIGN}")
        numbers = (f"{scale * number:{plus}.{digits}f}" for number in (self.value, self.low, self.high))
        return "{} [{}, {}]".format(*(number.replace("-", "\N{MINUS SIGN}") for number in numbers))


@dataclass(frozen=True)
class Grid:
    """One number for each run and puzzle; NaN where a run did not see a puzzle."""

    seeds: tuple[int, ...]
    puzzles: tuple[str, ...]
    """Content keys, one a column; symmetric copies of one puzzle are told apart by a `#` and a number."""
    values: FloatArray
    """Shape [seeds, puzzles]."""
    distances: NDArray[np.int64]
    """Goal distance of each puzzle in atomic actions, shape [puzzles]."""

    @classmethod
    def of(cls, values: Mapping[tuple[int, str], float], distances: Mapping[str, int]) -> Grid:
        """Return the grid of one value for each seed and puzzle; NaN for pairs that have none.

        Args:
            values: by seed and content key.
            distances: goal distance of each of these puzzles, in atomic actions.
        """
        seeds, puzzles = sorted({seed for seed, _ in values}), sorted(distances)
        rows = {seed: index for index, seed in enumerate(seeds)}
        columns = {key: index for index, key in enumerate(puzzles)}
        table = np.full((len(seeds), len(puzzles)), np.nan)
        for (seed, key), value in values.items():
            table[rows[seed], columns[key]] = value
        return cls(tuple(seeds), tuple(puzzles), table, np.array([distances[key] for key in puzzles]))

    def columns(self, chosen: BoolArray) -> Grid:
        """Return the grid of the puzzles that `chosen` (shape [puzzles]) marks."""
        puzzles = tuple(key for key, keep in zip(self.puzzles, chosen, strict=True) if keep)
        return Grid(self.seeds, puzzles, self.values[:, chosen], self.distances[chosen])

    @property
    def classes(self) -> tuple[str, ...]:
        """The content key of each column; symmetric copies of one puzzle share it."""
        return tuple(key.partition("#")[0] for key in self.puzzles)

    def trials(self) -> int:
        """Return how many puzzles that differ by more than symmetry some run saw: the trials of its proportions."""
        classes = self.classes
        return len({classes[column] for column in np.flatnonzero(np.isfinite(self.values).any(axis=0))})


def generator(*words: object) -> np.random.Generator:
    """Return a generator that depends on the words alone, so that an estimate is the same wherever it is redrawn."""
    digest = hashlib.sha256("\x1f".join(map(str, words)).encode()).digest()
    return np.random.default_rng(np.random.SeedSequence(int.from_bytes(digest[:16], "big")))


def wilson(successes: float, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval of a proportion (Wilson 1927), without continuity correction.

    Raises:
        ValueError: if there are no trials, more successes than trials, or a confidence outside (0, 1).
    """
    if trials < 1 or not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials are no proportion; give 0 <= successes <= trials")
    z = _normal_quantile(confidence)
    share = successes / trials
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * np.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    low = 0.0 if successes == 0 else float(middle - half)
    high = 1.0 if successes == trials else float(middle + half)
    return low, high


def weights(grid: Grid, rng: np.random.Generator, resamples: int = RESAMPLES) -> tuple[FloatArray, FloatArray]:
    """Return how often each resample draws each run and puzzle, shapes [resamples, seeds] and [resamples, puzzles].

    Symmetric copies of a puzzle are drawn together.
    """
    classes, members = np.unique(grid.classes, return_inverse=True)
    return _draws(len(grid.seeds), rng, resamples), _draws(len(classes), rng, resamples)[:, members]


def weighted_means(grid: Grid, of_seeds: FloatArray, of_puzzles: FloatArray) -> FloatArray:
    """Return the mean of the grid under each resample's weights, NaN where it drew nothing, shape [resamples]."""
    present = np.isfinite(grid.values)
    totals = ((of_seeds @ np.where(present, grid.values, 0.0)) * of_puzzles).sum(axis=1)
    counts = ((of_seeds @ present.astype(np.float64)) * of_puzzles).sum(axis=1)
    return np.asarray(np.divide(totals, counts, out=np.full(len(totals), np.nan), where=counts > 0))


def mean_estimate(
    grid: Grid, rng: np.random.Generator, confidence: float = 0.95, resamples: int = RESAMPLES
) -> Estimate:
    """Return the mean of values between 0 and 1 with its interval.

    Where they are all alike, as those of a single puzzle are, it is Wilson's over the puzzles that differ by more than
    symmetry.

    Raises:
        ValueError: if the grid is empty.
    """
    present = grid.values[np.isfinite(grid.values)]
    if not present.size:
        raise ValueError("no run saw any puzzle here, so there is nothing to average")
    value, puzzles, seeds = float(present.mean()), len(grid.puzzles), len(grid.seeds)
    low = high = value
    if present.min() < present.max():
        low, high = quantiles(weighted_means(grid, *weights(grid, rng, resamples)), confidence)
    if low == high:
        trials = grid.trials()
        low, high = wilson(value * trials, trials, confidence)
        return Estimate(value, low, high, puzzles, seeds, "wilson")
    return Estimate(value, min(low, value), max(high, value), puzzles, seeds)


def paired_difference(
    grid: Grid, other: Grid, rng: np.random.Generator, confidence: float = 0.95, resamples: int = RESAMPLES
) -> Estimate:
    """Return the mean of `grid` minus `other` over the runs and puzzles that both saw, resampled together.

    Where no difference varies, the interval is Newcombe's from two Wilson intervals over the puzzles that differ by
    more than symmetry.

    Raises:
        ValueError: if they share no run or no puzzle.
    """
    ours, theirs = _shared(grid, other)
    gaps = Grid(ours.seeds, ours.puzzles, ours.values - theirs.values, ours.distances)
    present = gaps.values[np.isfinite(gaps.values)]
    if not present.size:
        raise ValueError("the two conditions share no puzzle within a seed, so their difference cannot be paired")
    value, puzzles, seeds = float(present.mean()), len(gaps.puzzles), len(gaps.seeds)
    if present.min() == present.max():
        means = (float(np.nanmean(ours.values)), float(np.nanmean(theirs.values)))
        low, high = _newcombe(*means, gaps.trials(), confidence)
        return Estimate(value, low, high, puzzles, seeds, "wilson")
    low, high = quantiles(weighted_means(gaps, *weights(gaps, rng, resamples)), confidence)
    return Estimate(value, min(low, value), max(high, value), puzzles, seeds)


def gap_estimate(
    grid: Grid, near: BoolArray, rng: np.random.Generator, confidence: float = 0.95, resamples: int = RESAMPLES
) -> Estimate:
    """Return the mean over the puzzles that `near` marks minus the mean over the others; runs are resampled together.

    With the puzzles of the trained levels marked and the others longer, this is the horizon-generalisation gap.

    Raises:
        ValueError: if either side is empty.
    """
    if not near.any() or near.all():
        raise ValueError("a gap needs puzzles on both sides: some at trained distances and some at longer ones")
    of_seeds, of_puzzles = weights(grid, rng, resamples)
    sides = [weighted_means(grid.columns(side), of_seeds, of_puzzles[:, side]) for side in (near, ~near)]
    value = float(np.nanmean(grid.values[:, near]) - np.nanmean(grid.values[:, ~near]))
    low, high = quantiles(sides[0] - sides[1], confidence)
    if low == high:
        means = (float(np.nanmean(grid.values[:, near])), float(np.nanmean(grid.values[:, ~near])))
        trials = min(grid.columns(side).trials() for side in (near, ~near))
        low, high = _newcombe(*means, trials, confidence)
    return Estimate(value, min(low, value), max(high, value), len(grid.puzzles), len(grid.seeds))


def interquartile_estimate(
    scores: FloatArray, rng: np.random.Generator, confidence: float = 0.95, resamples: int = RESAMPLES
) -> Estimate:
    """Return the interquartile mean of scores, shape [runs, tasks]; runs are resampled within each task.

    A single run leaves nothing to resample, so it has no interval.
    """
    if len(scores) == 1:
        return Estimate(interquartile_mean(scores), np.nan, np.nan, scores.shape[1], 1)
    resampled = [interquartile_mean(_redraw(scores, rng)) for _ in range(resamples)]
    low, high = quantiles(np.asarray(resampled), confidence)
    return Estimate(interquartile_mean(scores), low, high, scores.shape[1], scores.shape[0])


def improvement_estimate(
    scores: FloatArray,
    others: FloatArray,
    rng: np.random.Generator,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return the probability of improvement of scores over others, shapes [runs, tasks]; runs are resampled."""
    resampled = [probability_of_improvement(_redraw(scores, rng), _redraw(others, rng)) for _ in range(resamples)]
    low, high = quantiles(np.asarray(resampled), confidence)
    return Estimate(probability_of_improvement(scores, others), low, high, scores.shape[1], len(scores))


def rate_estimate(flags: Sequence[bool], confidence: float = 0.95) -> Estimate:
    """Return the share of true flags (collapsed runs among all) with its Wilson interval; the runs are the trials."""
    low, high = wilson(sum(flags), len(flags), confidence)
    return Estimate(sum(flags) / len(flags), low, high, 0, len(flags), "wilson")


def quantiles(values: FloatArray, confidence: float = 0.95) -> tuple[float, float]:
    """Return the two-sided percentile interval; values that are not numbers are left out, infinite ones kept.

    Raises:
        ValueError: if the confidence is outside (0, 1).
    """
    _normal_quantile(confidence)
    kept = values[~np.isnan(values)]
    tail = (1 - confidence) / 2
    low, high = np.quantile(kept, [tail, 1 - tail], method="inverted_cdf") if len(kept) else (np.nan, np.nan)
    return float(low), float(high)


def _normal_quantile(confidence: float) -> float:
    from scipy.special import ndtri

    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence!r}")
    return float(ndtri(0.5 + confidence / 2))


def _draws(count: int, rng: np.random.Generator, resamples: int) -> FloatArray:
    return rng.multinomial(count, np.full(count, 1 / count), size=resamples).astype(np.float64)


def _redraw(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    runs = rng.integers(len(scores), size=scores.shape)
    return np.asarray(np.take_along_axis(scores, runs, axis=0))


def _shared(grid: Grid, other: Grid) -> tuple[Grid, Grid]:
    seeds = [seed for seed in grid.seeds if seed in set(other.seeds)]
    puzzles = [key for key in grid.puzzles if key in set(other.puzzles)]
    if not seeds or not puzzles:
        raise ValueError("the two conditions share no seed or no puzzle, so their difference cannot be paired")
    return _taken(grid, seeds, puzzles), _taken(other, seeds, puzzles)


def _taken(grid: Grid, seeds: list[int], puzzles: list[str]) -> Grid:
    rows = {seed: index for index, seed in enumerate(grid.seeds)}
    columns = {key: index for index, key in enumerate(grid.puzzles)}
    chosen = [columns[key] for key in puzzles]
    values = grid.values[np.ix_([rows[seed] for seed in seeds], chosen)]
    return Grid(tuple(seeds), tuple(puzzles), values, grid.distances[chosen])


def _newcombe(share: float, other: float, trials: int, confidence: float) -> tuple[float, float]:
    """Return Newcombe's hybrid score interval of a difference of two proportions (Newcombe 1998, method 10)."""
    low, high = wilson(share * trials, trials, confidence)
    other_low, other_high = wilson(other * trials, trials, confidence)
    gap = share - other
    return (
        float(gap - np.hypot(share - low, other_high - other)),
        float(gap + np.hypot(high - share, other - other_low)),
    )
