"""Which conditions are worth comparing, and by how much they differ: pairs that differ in one thing only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from reports.conditions import Condition, at_level, by_board
from reports.gather_success import difference
from reports.intervals import Estimate, gap_estimate, generator, improvement_estimate, interquartile_estimate
from reports.panels import other_settings, schedule

MOST_SETTINGS = 2
"""Settings in which compared conditions may differ; more would bury the telling pairs."""


@dataclass(frozen=True)
class Comparison:
    """One condition against another that differs from it in one thing."""

    one: Condition
    other: Condition
    axis: str
    """What differs: `training`, `run as`, `interface`, `credit`, `levels`, `policy` or names of settings."""
    overall: Estimate
    """avg@k of `one` minus `other`, over all levels, paired by seed and puzzle."""
    by_level: dict[str, Estimate]
    improvement: Estimate | None
    """Probability that a run of `one` beats a run of `other` on a level; None with a single seed."""


def compare(conditions: Sequence[Condition]) -> tuple[Comparison, ...]:
    """Return every pair of conditions of one study and board that differ in one thing, in reading order."""
    found = []
    for members in by_board(conditions).values():
        for other, one in combinations(members, 2):
            axis = _axis(one, other)
            if axis and set(one.seeds) & set(other.seeds):
                found.append(_comparison(*((other, one) if _base_last(one, other) else (one, other)), axis))
    return tuple(found)


def generalisation_gap(one: Condition) -> Estimate | None:
    """Return success at the trained levels minus success at longer ones; None where either is missing."""
    trained = [level for level in one.levels if level in one.cell.train_levels]
    if not trained:
        return None
    furthest = max(one.distance(level) for level in trained)
    longer = [level for level in one.levels if one.distance(level) > furthest]
    if not longer:
        return None
    level_of = {row.instance_key: row.level for row in one.records}
    grid = one.grid("avg", lambda row: row.level in trained or row.level in longer)
    near = np.array([level_of[key.partition("#")[0]] in trained for key in grid.puzzles])
    return gap_estimate(grid, near, one.generator("gap"))


def run_scores(one: Condition, levels: Sequence[str], seeds: Sequence[int]) -> np.ndarray:
    """Return avg@k of each run and level, shape [seeds, levels]."""
    table = np.full((len(seeds), len(levels)), np.nan)
    for column, level in enumerate(levels):
        grid = one.grid("avg", at_level(level))
        for seed, row in zip(grid.seeds, grid.values, strict=True):
            if seed in seeds:
                table[list(seeds).index(seed), column] = np.nanmean(row)
    return table


def interquartile(one: Condition) -> Estimate | None:
    """Return the interquartile mean over runs and levels; None where a run lacks a level."""
    scores = run_scores(one, one.levels, one.seeds)
    return interquartile_estimate(scores, one.generator("iqm"), resamples=500) if np.isfinite(scores).all() else None


def _comparison(one: Condition, other: Condition, axis: str) -> Comparison:
    levels = [level for level in one.levels if level in other.levels]
    seeds = [seed for seed in one.seeds if seed in other.seeds]
    by_level = {level: difference(one, other, level) for level in levels}
    improvement = None
    if len(seeds) > 1 and levels:
        scores = [run_scores(part, levels, seeds) for part in (one, other)]
        if all(np.isfinite(table).all() for table in scores):
            rng = generator(one.cell.study, one.label, other.label, "improvement")
            improvement = improvement_estimate(scores[0], scores[1], rng, resamples=500)
    return Comparison(one, other, axis, difference(one, other), by_level, improvement)


def _axis(one: Condition, other: Condition) -> str | None:
    """Return the one thing in which two conditions differ, None where it is none or several.

    Two settings together count as one thing: both importance corrections, steps and rate.
    """
    if one.phase != other.phase:
        started = {one.phase, other.phase} == {"sft", "rl"}
        same = one.interface == other.interface and one.variant == other.variant
        return "training" if started and same and one.cells & other.cells else None
    if one.cell.cell == other.cell.cell and one.variant == other.variant:
        return "run as" if one.interface != other.interface else None
    if one.interface != one.cell.interface or other.interface != other.cell.interface:
        return None
    learned = one.phase == "rl"
    differs = {
        "interface": one.interface != other.interface,
        "credit": learned and (one.cell.reward, one.cell.estimator) != (other.cell.reward, other.cell.estimator),
        "levels": learned and schedule(one.cell) != schedule(other.cell),
        "settings": other_settings(one.cell) != other_settings(other.cell) or one.variant != other.variant,
        "policy": one.cell.policy != other.cell.policy,
    }
    axes = [axis for axis, different in differs.items() if different]
    if axes == ["settings"]:
        mine, theirs = dict(other_settings(one.cell)), dict(other_settings(other.cell))
        names = sorted(name for name in {*mine, *theirs} if mine.get(name) != theirs.get(name))
        if len(names) > MOST_SETTINGS:
            return None
        return ", ".join(name.replace("_", " ") for name in names) or "variant"
    return axes[0] if len(axes) == 1 else None


def _base_last(one: Condition, other: Condition) -> bool:
    """Return whether `one` is the simpler condition, so that it should be subtracted from `other`."""
    return _simplicity(one) < _simplicity(other)


def _simplicity(one: Condition) -> tuple[bool, bool, bool, bool]:
    foreign = one.interface != one.cell.interface
    return (one.phase == "rl", foreign, one.interface != "atomic", one.cell.reward != "outcome")
