"""Shares of the classes of failure, condition by condition, with intervals, before and after training.

Shares come from the evaluation records, which hold the class of every attempt. Records from before there were classes,
and thresholds other than the usual ones, are answered from the stored episodes, which are fewer. Collapsed runs are
counted as they played: a share tells what happened, not what a run is worth.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from reports.conditions import Condition
from reports.failures import CLASSES, USUAL_RULES, FailureRules, classify
from reports.failures_divergence import divergence_of
from reports.intervals import (
    Estimate,
    Grid,
    mean_estimate,
    paired_difference,
    quantiles,
    weighted_means,
    weights,
    wilson,
)
from reports.records import StoredEpisode
from reports.results import Results
from reports.schema import EvaluationRecord

Share = Callable[[EvaluationRecord], float]


@dataclass(frozen=True)
class FailureShares:
    """What became of the attempts of one condition."""

    condition: Condition
    stored_only: bool
    """Whether only stored episodes could be classified."""
    attempts: int
    failed: int
    of_attempts: dict[str, Estimate]
    """Share of each class among all attempts; with the solved ones they add up to one."""
    of_failures: dict[str, Estimate]
    """Share of each class among the failed attempts; {} where none failed."""
    way: float
    """Mean share of the goal distance that was walked, in atomic steps, before the first move off the expert's way,
    over the failed attempts that left it; NaN where none did."""
    diverged: int
    """Failed attempts with a move off the expert's way."""


@dataclass(frozen=True)
class FailureChange:
    """Shares of one condition before and after training, paired by seed and puzzle."""

    before: FailureShares
    after: FailureShares
    differences: dict[str, Estimate]
    """Share after minus share before, among all attempts."""


def classified(
    results: Results, conditions: Sequence[Condition], rules: FailureRules = USUAL_RULES
) -> list[tuple[Condition, bool]]:
    """Return the conditions whose failures have classes, and whether only stored episodes had.

    Args:
        results: the runs, for their stored episodes.
        conditions: of those results.
        rules: thresholds; other than the usual ones ask the stored episodes.
    """
    found = []
    stored: dict[tuple[str, ...], list[EvaluationRecord]] | None = None
    for one in conditions:
        if rules == USUAL_RULES and all(row.failure or row.solved for row in one.records):
            found.append((one, False))
            continue
        if stored is None:
            stored = _stored_records(results, rules)
        known = {(row.seed, row.level, row.update) for row in one.records}
        rows = stored.get(one.key, [])
        if rows := [row for row in rows if (row.seed, row.level, row.update) in known]:
            found.append((replace(one, records=tuple(rows)), True))
    return found


def stored_by_condition(results: Results) -> dict[tuple[str, ...], list[StoredEpisode]]:
    """Return the stored episodes by the key of their condition; files that cannot be read are left out."""
    found: dict[tuple[str, ...], list[StoredEpisode]] = defaultdict(list)
    for run in results.runs:
        with suppress(ValueError):
            for one in run.episodes():
                found[one.study, one.cell, one.phase, one.interface, one.variant].append(one)
    return dict(found)


def _stored_records(results: Results, rules: FailureRules) -> dict[tuple[str, ...], list[EvaluationRecord]]:
    """Return the stored episodes as records with classes, by the key of their condition."""
    return {key: [_record(one, rules) for one in stored] for key, stored in stored_by_condition(results).items()}


def _record(one: StoredEpisode, rules: FailureRules) -> EvaluationRecord:
    left = divergence_of(one)
    row = EvaluationRecord.from_episode(
        one.episode,
        study=one.study,
        cell=one.cell,
        seed=one.seed,
        phase=one.phase,
        update=one.update,
        puzzle=one.puzzle,
        interface=one.interface,
        variant=one.variant,
        divergence=None if left is None else left.atomic_step,
    )
    return replace(row, failure=classify(one.episode, rules).failure)


def shares_of(one: Condition, stored_only: bool = False) -> FailureShares:
    """Return the shares of a condition whose records hold classes."""
    failed = [row for row in one.records if not row.solved]
    of_attempts = {name: mean_estimate(class_grid(one, name), one.generator("failure", name)) for name in CLASSES}
    of_failures = {}
    if failed:
        whole = share_grid(one, lambda row: not row.solved)
        for name in CLASSES:
            of_failures[name] = ratio_estimate(class_grid(one, name), whole, one.generator("failure share", name))
    left = [row.divergence / row.distance for row in failed if row.divergence is not None and row.distance]
    way = float(np.mean(left)) if left else float("nan")
    return FailureShares(one, stored_only, len(one.records), len(failed), of_attempts, of_failures, way, len(left))


def class_grid(one: Condition, name: str) -> Grid:
    """Return the share of a class among the attempts of each seed and puzzle."""
    return share_grid(one, lambda row: row.failure == name)


def share_grid(one: Condition, share: Share) -> Grid:
    """Return the mean of a share over the attempts of each seed and puzzle."""
    values = {key: sum(float(share(row)) for row in rows) / len(rows) for key, rows in one.attempts.items()}
    return Grid.of(values, {puzzle: rows[0].distance for (_, puzzle), rows in one.attempts.items()})


def ratio_estimate(part: Grid, whole: Grid, rng: np.random.Generator) -> Estimate:
    """Return the mean of one grid over that of another, both resampled together.

    Args:
        part: share of the attempts that belong to the class.
        whole: share of the attempts that failed, over the same seeds and puzzles; not 0 everywhere.
        rng: draws the resamples.
    """
    value = float(np.nanmean(part.values) / np.nanmean(whole.values))
    failed = np.nan_to_num(whole.values).sum(0) > 0
    failing = int(failed.sum())
    if value in (0.0, 1.0):
        trials = whole.columns(failed).trials()
        low, high = wilson(value * trials, trials)
        return Estimate(value, low, high, failing, len(whole.seeds), "wilson")
    drawn = weights(whole, rng)
    tops, bottoms = weighted_means(part, *drawn), weighted_means(whole, *drawn)
    ratios = np.divide(tops, bottoms, out=np.full(len(tops), np.nan), where=bottoms > 0)
    low, high = quantiles(ratios)
    return Estimate(value, min(low, value), max(high, value), failing, len(whole.seeds))


def changes(shares: Sequence[FailureShares]) -> list[FailureChange]:
    """Return the pairs of conditions before and after training."""
    before = [one for one in shares if one.condition.phase == "sft"]
    after = [one for one in shares if one.condition.phase == "rl"]
    return [
        FailureChange(one, other, dict(_differences(one.condition, other.condition)))
        for other in after
        for one in before
        if _is_start(one.condition, other.condition)
    ]


def _is_start(before: Condition, after: Condition) -> bool:
    """Return whether one condition is the policy that another one's training started from, evaluated alike."""
    same = (before.cell.study, before.interface, before.variant) == (after.cell.study, after.interface, after.variant)
    return same and bool(before.cells & after.cells) and bool(set(before.seeds) & set(after.seeds))


def _differences(before: Condition, after: Condition) -> Iterable[tuple[str, Estimate]]:
    for name in CLASSES:
        rng = after.generator("failure change", before.label, name)
        yield name, paired_difference(class_grid(after, name), class_grid(before, name), rng)
