"""Success against goal distance: a fitted curve, H50, and the success of a single decision that it implies.

The curve is success(d) = exp(-(d / scale) ** shape). With shape 1 it is the closed form (1 - e) ** d of independent
errors, e = 1 - exp(-1 / scale); a shape above 1 means that errors come faster the longer the way is. H50 is the goal
distance at which it falls to one half: the distance a policy can be trusted with as often as not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reports.intervals import RESAMPLES, Grid, quantiles, weighted_means, weights

FloatArray = NDArray[np.float64]

SHAPE_DEVIATION = 1.0
"""Standard deviation of the weak prior that draws log(shape) towards 0; decides only where data do not."""
_ITERATIONS = 60


@dataclass(frozen=True)
class HorizonFit:
    """The fitted curve of one condition and its H50."""

    scale: float
    """In atomic actions; 0 or infinite where nothing or everything was solved."""
    shape: float
    h50: float
    """Goal distance at which success is one half, in atomic actions."""
    low: float
    high: float
    """Interval of `h50` over seeds and puzzles."""
    nearest: int
    furthest: int
    """Range of distances tested, in atomic actions."""
    puzzles: int
    seeds: int
    decisions_per_action: float = 1.0
    """Decisions per atomic action of distance in solved episodes; 1 for an atomic interface without errors."""

    @property
    def inside(self) -> bool:
        """Whether H50 lies among the distances tested, so that it is no extrapolation."""
        return self.nearest <= self.h50 <= self.furthest

    @property
    def per_action(self) -> float:
        """Success of a single atomic action that would give this H50 under independent errors."""
        return _root_of_half(self.h50)

    @property
    def per_decision(self) -> float:
        """Success of a single decision that would give this H50 under independent errors."""
        return _root_of_half(self.h50 * self.decisions_per_action)

    def success(self, distances: FloatArray) -> FloatArray:
        """Return the fitted success at `distances`."""
        if self.scale == 0 or np.isinf(self.scale):
            return np.full(np.shape(distances), 0.0 if self.scale == 0 else 1.0)
        return np.asarray(np.exp(-((np.asarray(distances) / self.scale) ** self.shape)))

    def format(self) -> str:
        """Return H50 and its interval as text, marked where it lies outside the tested distances.

        An interval wholly outside says no more than the mark, and one without width is none: both are left out.
        """
        if self.high < self.nearest:
            return f"< {self.nearest}"
        if self.low > self.furthest:
            return f"> {self.furthest}"
        if self.low == self.high:
            return f"{self.h50:.1f} [\N{EM DASH}]"
        if self.h50 < self.nearest:
            return f"< {self.nearest} (about {self.h50:.1f} [{self.low:.1f}, {self.high:.1f}])"
        if self.h50 > self.furthest:
            low, high = (f"{value:.0f}" if np.isfinite(value) else "\N{INFINITY}" for value in (self.low, self.high))
            return f"> {self.furthest} (interval [{low}, {high}])"
        high = f"{self.high:.1f}" if np.isfinite(self.high) else "\N{INFINITY}"
        return f"{self.h50:.1f} [{self.low:.1f}, {high}]"


def fit_horizon(
    grid: Grid,
    rng: np.random.Generator,
    *,
    decisions_per_action: float = 1.0,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
) -> HorizonFit:
    """Return the curve of best likelihood through one condition's success rates, with the interval of its H50.

    Args:
        grid: mean success of each run and puzzle, between 0 and 1; puzzles have distances of at least 1.
        rng: draws the resamples.
        decisions_per_action: decisions per atomic action of distance, measured in solved episodes.
        confidence: of the interval.
        resamples: of seeds and puzzles.

    Raises:
        ValueError: if the grid is empty or a distance is below 1.
    """
    if not np.isfinite(grid.values).any():
        raise ValueError("no run saw any puzzle here, so there is no curve to fit")
    if (grid.distances < 1).any():
        raise ValueError("a puzzle at distance 0 is solved at the start; leave it out of the fit")
    distances = np.unique(grid.distances)
    parts = [grid.columns(grid.distances == distance) for distance in distances]
    value = np.array([[np.nansum(part.values) for part in parts]])
    total = np.array([[np.isfinite(part.values).sum() for part in parts]], dtype=np.float64)
    scales, shapes = _fit(distances.astype(np.float64), value, total)
    low, high = _interval(grid, parts, distances, rng, confidence, resamples)
    h50 = float(_half(scales, shapes)[0])
    return HorizonFit(
        scale=float(scales[0]),
        shape=float(shapes[0]),
        h50=h50,
        low=min(low, h50),
        high=max(high, h50),
        nearest=int(distances[0]),
        furthest=int(distances[-1]),
        puzzles=len(grid.puzzles),
        seeds=len(grid.seeds),
        decisions_per_action=decisions_per_action,
    )


def _interval(
    grid: Grid, parts: list[Grid], distances: NDArray[np.int64], rng: np.random.Generator, confidence: float, count: int
) -> tuple[float, float]:
    present = grid.values[np.isfinite(grid.values)]
    if present.max() == 0 or present.min() == 1:
        return _one_sided(grid.distances.astype(np.float64), bool(present.max()), confidence)
    of_seeds, of_puzzles = weights(grid, rng, count)
    solved, total = np.empty((2, count, len(parts)))
    for index, (part, distance) in enumerate(zip(parts, distances, strict=True)):
        chosen = of_puzzles[:, grid.distances == distance]
        seen = np.isfinite(part.values).astype(np.float64)
        total[:, index] = ((of_seeds @ seen) * chosen).sum(axis=1)
        solved[:, index] = np.nan_to_num(weighted_means(part, of_seeds, chosen)) * total[:, index]
    return quantiles(_half(*_fit(distances.astype(np.float64), solved, total)), confidence)


def _one_sided(distances: FloatArray, all_solved: bool, confidence: float) -> tuple[float, float]:
    """Return the interval of H50 where nothing or everything was solved.

    One end is open. The other is the H50 of the curve 2 ** (-distance / H50) under which so uniform an outcome of all
    puzzles, shape [puzzles], has the probability (1 - confidence) / 2.
    """
    tail = np.log((1 - confidence) / 2)
    if all_solved:
        return float(-distances.sum() * np.log(2) / tail), float("inf")

    def surplus(log_h50: float) -> float:
        return float(np.log(-np.expm1(-distances * np.log(2) / np.exp(log_h50))).sum() - tail)

    from scipy.optimize import brentq

    return 0.0, float(np.exp(brentq(surplus, -20.0, np.log(distances.max()) + 20.0)))


def _fit(distances: FloatArray, solved: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return scale and shape of best penalised likelihood for each row of counts, shapes [rows].

    Fisher scoring on log(-log success) = offset + shape * log(distance), all rows at once, each with its step halved
    where it would overshoot.
    """
    centre = float(np.log(distances).mean())
    x = np.log(distances) - centre
    rate = np.clip((solved.sum(1) + 0.25) / (total.sum(1) + 0.5), 1e-6, 1 - 1e-6)
    offset, slope = np.log(-np.log(rate)), np.ones(len(solved))
    for _ in range(_ITERATIONS):
        hazard = np.exp(np.clip(offset[:, None] + slope[:, None] * x, -30, 30))
        success = np.exp(-hazard)
        failure = -np.expm1(-hazard)
        score = hazard * (total * success - solved) / failure
        information = total * hazard**2 * success / failure
        gradient = score.sum(1), (score * x).sum(1) - np.log(slope) / slope / SHAPE_DEVIATION**2
        a, b = information.sum(1) + 1e-9, (information * x).sum(1)
        c = (information * x * x).sum(1) + 1 / (slope * SHAPE_DEVIATION) ** 2
        determinant = np.maximum(a * c - b * b, 1e-12)
        steps = (c * gradient[0] - b * gradient[1]) / determinant, (a * gradient[1] - b * gradient[0]) / determinant
        damping = np.maximum(1.0, np.maximum(np.abs(steps[0]), np.abs(steps[1]) / (0.5 * slope)))
        offset, slope = offset + steps[0] / damping, slope + steps[1] / damping
        if max(np.abs(steps[0]).max(), np.abs(steps[1]).max()) < 1e-10:
            break
    scale = np.exp(np.clip(centre - offset / slope, -50, 50))
    none, every = solved.sum(1) <= 0, solved.sum(1) >= total.sum(1)
    return np.where(none, 0.0, np.where(every, np.inf, scale)), np.where(none | every, 1.0, slope)


def _half(scale: FloatArray, shape: FloatArray) -> FloatArray:
    return np.asarray(scale * np.log(2) ** (1 / shape))


def _root_of_half(length: float) -> float:
    return 0.0 if length == 0 else float(0.5 ** (1 / length))
