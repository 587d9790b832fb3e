"""Collapse of training: a lasting loss of a success rate already reached.

`detect` is a pure function from a run's records to findings. During training, call it on the records so far: every
criterion is causal, so the running answer and the finished one agree. What to do about a finding (keep the checkpoint
from before, stop, go on) is the caller's choice. A collapsed run counts as a failed one in every mean.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from reports.collapse_criteria import CRITERIA, FATAL, CollapseThresholds, RunCurves, SuccessCurve
from reports.schema import CollapseRecord, EvaluationRecord, Record, UpdateRecord

__all__ = [
    "CRITERIA",
    "FATAL",
    "CollapseThresholds",
    "RunCurves",
    "SuccessCurve",
    "curves_of",
    "detect",
    "detect_curves",
    "during_training",
    "first_collapse",
]

ATTEMPTS = 4
"""Attempts a puzzle in a rollout group, where an update does not record its number of `groups`."""


def detect(records: Iterable[Record], thresholds: CollapseThresholds | None = None) -> tuple[CollapseRecord, ...]:
    """Return the findings in one run's records, in order of the update at which each became certain.

    Looks at the evaluations that `during_training` chooses and at the updates of `rl`.

    Args:
        records: the records of one run (one cell and seed), whole or so far.
        thresholds: the criteria's thresholds.

    Raises:
        ValueError: if the records stem from several runs.
    """
    rows = [row for row in records if isinstance(row, EvaluationRecord | UpdateRecord)]
    if len(runs := sorted({(row.study, row.cell, row.seed) for row in rows})) > 1:
        raise ValueError(f"collapse is looked for in one run at a time, not in {runs[0]} and {runs[1]} together")
    if not rows:
        return ()
    study, cell, seed = runs[0]
    return detect_curves(curves_of(rows, thresholds), thresholds, study=study, cell=cell, seed=seed)


def detect_curves(
    curves: RunCurves, thresholds: CollapseThresholds | None = None, *, study: str = "", cell: str = "", seed: int = 0
) -> tuple[CollapseRecord, ...]:
    """Return the findings in one run's curves; the keywords only label them.

    A fatal criterion that shows on a single level, but neither on all levels pooled nor in the training episodes, is
    a warning.
    """
    limits = thresholds or CollapseThresholds()
    findings = [
        CollapseRecord(
            study=study,
            cell=cell,
            seed=seed,
            phase="rl",
            criterion=name,
            level=sighting.level,
            fatal=name in FATAL and sighting.level in ("all", "rollout"),
            onset=sighting.onset,
            update=sighting.update,
            value=sighting.value,
            threshold=sighting.threshold,
            message=f"{_where(sighting.level)}: "
            + sighting.text.format(value=sighting.value, threshold=sighting.threshold)
            + f" (from update {sighting.onset}, certain at {sighting.update})",
        )
        for name, criterion in CRITERIA.items()
        for sighting in criterion(curves, limits)
    ]
    return tuple(sorted(findings, key=lambda finding: (finding.update, not finding.fatal, finding.onset)))


def first_collapse(findings: Iterable[CollapseRecord]) -> CollapseRecord | None:
    """Return the earliest fatal finding, or None for a run that did not collapse."""
    return min((finding for finding in findings if finding.fatal), key=lambda finding: finding.update, default=None)


def curves_of(
    records: Iterable[EvaluationRecord | UpdateRecord], thresholds: CollapseThresholds | None = None
) -> RunCurves:
    """Return the curves of one run's records that the criteria look at."""
    limits = thresholds or CollapseThresholds()
    rows = list(records)
    evaluations = during_training(row for row in rows if isinstance(row, EvaluationRecord))
    updates = sorted(
        (row for row in rows if isinstance(row, UpdateRecord) and row.phase == "rl"), key=lambda row: row.update
    )
    names = sorted({name for row in updates for name in row.metrics})
    metrics = {name: np.array([row.metrics.get(name, np.nan) for row in updates]) for name in names}
    for name in ("loss", "gradient_norm"):
        if name in metrics:
            metrics[f"{name}:given"] = np.array([row.metrics.get(name, 0.0) for row in updates])
    return RunCurves(
        success=(*_evaluation_curves(evaluations), *_rollout_curves(updates, limits.rollout_block)),
        updates=tuple(row.update for row in updates),
        metrics=metrics,
    )


def during_training(records: Iterable[EvaluationRecord]) -> list[EvaluationRecord]:
    """Return the evaluations of one run that show how it was trained, in the interface of the first.

    They are those of the phases `sft` and `rl` that are no variant, of the validation split where there is one.
    """
    rows = [row for row in records if row.phase in ("sft", "rl")]
    rows = [row for row in rows if row.interface == rows[0].interface and row.variant == ""]
    split = "validation" if any(row.split == "validation" for row in rows) else "test"
    return [row for row in rows if row.split == split]


def _evaluation_curves(rows: Sequence[EvaluationRecord]) -> list[SuccessCurve]:
    """Return the curve over all levels that every evaluation covers, then one for each level."""
    cells: dict[tuple[str, int], list[EvaluationRecord]] = defaultdict(list)
    for row in rows:
        cells[row.level, row.update].append(row)
    updates = sorted({update for _, update in cells})
    levels = sorted({level for level, _ in cells})
    always = [level for level in levels if all((level, update) in cells for update in updates)]
    groups = {"all": always, **({level: [level] for level in levels} if len(levels) > 1 else {})}
    return [
        _curve(
            name, {update: [row for level in members for row in cells.get((level, update), ())] for update in updates}
        )
        for name, members in groups.items()
    ]


def _curve(name: str, rows: dict[int, list[EvaluationRecord]]) -> SuccessCurve:
    present = {update: group for update, group in sorted(rows.items()) if group}
    return SuccessCurve(
        level=name,
        updates=tuple(present),
        success=tuple(float(np.mean([row.solved for row in group])) for group in present.values()),
        puzzles=tuple(len({row.instance_key for row in group}) for group in present.values()),
    )


def _rollout_curves(rows: Sequence[UpdateRecord], block: int) -> list[SuccessCurve]:
    """Return one curve for each stretch of updates on the same training levels, `block` updates a point."""
    stretches: list[list[UpdateRecord]] = []
    for row in rows:
        if "success" in row.metrics:
            if not stretches or stretches[-1][-1].level != row.level:
                stretches.append([])
            stretches[-1].append(row)
    curves = []
    for stretch in stretches:
        blocks = [stretch[start : start + block] for start in range(0, len(stretch) - block + 1, block)]
        curves.append(
            SuccessCurve(
                level="rollout",
                updates=tuple(rows[-1].update for rows in blocks),
                success=tuple(float(np.mean([row.metrics["success"] for row in rows])) for rows in blocks),
                puzzles=tuple(round(sum(_groups(row) for row in rows)) for rows in blocks),
            )
        )
    return curves


def _groups(row: UpdateRecord) -> float:
    """Return how many different puzzles an update's rollouts had."""
    groups = row.metrics.get("groups", row.metrics.get("episodes", 10.0 * ATTEMPTS) / ATTEMPTS)
    return groups if groups > 0 else 1.0


def _where(level: str) -> str:
    return {"all": "all levels", "rollout": "training"}.get(level, f"level {level}")
