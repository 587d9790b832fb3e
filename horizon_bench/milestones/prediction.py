"""How well milestones foretell success: of what use is knowing how many are met after part of the way?

A plan is good if attempts that meet its milestones early are those that succeed in the end. Progress is read at fixed
numbers of decisions, so that longer episodes have no more time than others; the number of moves made so far is the
baseline that knows no milestones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from horizon_bench.credit.batch import BoolArray, FloatArray, IntArray
from horizon_bench.envs.instances import Workshop, workshop
from horizon_bench.episodes import Episode
from horizon_bench.milestones.plan import MilestonePlan

PARTS = (0.25, 0.5, 0.75)
"""Where progress is read, as shares of the goal distance in decisions."""

PlanFor = Callable[[Any, Any], MilestonePlan]
"""Return the plan of an instance from puzzle and oracle."""


@dataclass(frozen=True)
class Prediction:
    """How well one source of plans foretells success."""

    episodes: int
    solved: int
    milestones: float
    """Mean number of milestones of a plan."""
    areas: tuple[float, ...]
    """Area under the ROC curve of the share of milestones met, at each of `PARTS`; 0.5 is chance."""
    lows: tuple[float, ...]
    """Lower ends of their 95 % intervals over puzzles."""
    highs: tuple[float, ...]
    moves: tuple[float, ...]
    """The same areas for the number of moves made: a baseline without milestones."""
    when_met: float
    """Success of the attempts that had met a milestone at half the way."""
    when_not: float
    """Success of the others."""


def predict_success(
    episodes: Sequence[Episode], puzzle: str, size: int | None, plan_for: PlanFor, rng: np.random.Generator
) -> Prediction:
    """Return how well the plans of one source foretell which episodes end solved.

    Args:
        episodes: attempts, solved and failed ones.
        puzzle: name of their puzzle.
        size: rows of the board; None or 0 for puzzles that take no size.
        plan_for: writes the plan of each instance, once.
        rng: resamples puzzles.

    Raises:
        ValueError: if the episodes are all solved or all failed, so that nothing can be foretold.
    """
    solved = np.array([one.solved for one in episodes], dtype=np.bool_)
    if not len(solved) or solved.all() or not solved.any():
        raise ValueError("these episodes are all solved or all failed; prediction needs both")
    shop = workshop(puzzle, size or None, True)
    plans: dict[str, MilestonePlan] = {}
    for start in dict.fromkeys(one.start for one in episodes):
        plans[start] = plan_for(shop.puzzle, shop.prepare(start).oracle)
    read = [_progress(shop, one, plans[one.start]) for one in episodes]
    met, moves = (np.array([pair[kind] for pair in read], dtype=np.float64) for kind in (0, 1))
    groups = np.unique([one.start for one in episodes], return_inverse=True)[1]
    spans = [_interval(met[:, part], solved, groups, rng) for part in range(len(PARTS))]
    half = met[:, PARTS.index(0.5)] > 0
    return Prediction(
        episodes=len(solved),
        solved=int(solved.sum()),
        milestones=float(np.mean([len(plan) for plan in plans.values()])),
        areas=tuple(area_under_curve(met[:, part], solved) for part in range(len(PARTS))),
        lows=tuple(span[0] for span in spans),
        highs=tuple(span[1] for span in spans),
        moves=tuple(area_under_curve(moves[:, part], solved) for part in range(len(PARTS))),
        when_met=float(solved[half].mean()) if half.any() else float("nan"),
        when_not=float(solved[~half].mean()) if not half.all() else float("nan"),
    )


def _progress(shop: Workshop, episode: Episode, plan: MilestonePlan) -> tuple[list[float], list[float]]:
    """Return the share of milestones met and the number of moves made at each of `PARTS` of the distance."""
    state, made = shop.prepare(episode.start).start, 0
    states, counts = [state], [0]
    for turn in episode.turns:
        for text in turn.moves:
            for move in shop.puzzle.parse_action(text) or ():
                state, made = shop.puzzle.apply(state, move), made + 1
        states.append(state)
        counts.append(made)
    met, moves = [], []
    for part in PARTS:
        at = min(round(part * episode.distance), len(states) - 1)
        met.append(sum(plan.done(states[at])) / max(1, len(plan)))
        moves.append(float(counts[at]))
    return met, moves


def area_under_curve(scores: FloatArray, positive: BoolArray) -> float:
    """Return the chance that a positive one scores above a negative one, ties counted half; NaN without both.

    Args:
        scores: shape [cases].
        positive: shape [cases].
    """
    above, below = scores[positive], scores[~positive]
    if not len(above) or not len(below):
        return float("nan")
    ordered = np.sort(below)
    left = np.searchsorted(ordered, above, "left").sum()
    right = np.searchsorted(ordered, above, "right").sum()
    return float((left + right) / (2 * len(above) * len(below)))


def _interval(
    scores: FloatArray, positive: BoolArray, groups: IntArray, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the 95 % interval of the area, puzzles resampled with all their attempts."""
    members = [np.flatnonzero(groups == group) for group in range(int(groups.max()) + 1)]
    areas = []
    for _ in range(300):
        rows = np.concatenate([members[index] for index in rng.integers(len(members), size=len(members))])
        areas.append(area_under_curve(scores[rows], positive[rows]))
    low, high = np.nanquantile(areas, [0.025, 0.975]) if not np.isnan(areas).all() else (np.nan, np.nan)
    return float(low), float(high)
