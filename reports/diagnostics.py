"""What the updates of each trained cell did with the credit, as one table: conflicts, zeros, contrast, weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from reports.results import Run, by_cell
from reports.schema import UpdateRecord
from reports.table import MISSING, Table

HALF = 0.5
"""Share of masked replies above which an update learns from a biased rest."""


@dataclass(frozen=True)
class Diagnostic:
    """One measurement of an update, averaged over updates and seeds."""

    metric: str
    """Its name in `UpdateRecord.metrics`."""
    column: str
    percent: bool = False
    """Whether it is a share, written in percent."""


DIAGNOSTICS = (
    Diagnostic("car", "CAR (%)", percent=True),
    Diagnostic("egr", "EGR (%)", percent=True),
    Diagnostic("zar", "ZAR (%)", percent=True),
    Diagnostic("ccr", "CCR"),
    Diagnostic("used_share", "used decisions (%)", percent=True),
    Diagnostic("partial_success_share", "partly successful (%)", percent=True),
    Diagnostic("isolation_correlation", "isolation"),
    Diagnostic("subgoals_per_episode", "subgoals an episode"),
    Diagnostic("effective_sample_size", "effective sample size (%)", percent=True),
    Diagnostic("rho_sequence_mean", "mean rho of replies"),
    Diagnostic("masked_share", "masked replies (%)", percent=True),
    Diagnostic("capped_share", "at the token cap (%)", percent=True),
    Diagnostic("invalid_decision_share", "invalid decisions (%)", percent=True),
    Diagnostic("entropy", "entropy (nats a token)"),
    Diagnostic("gradient_norm", "gradient norm"),
)
"""The table's columns, in order."""


def diagnostics_table(runs: Iterable[Run]) -> Table:
    """Return the means of every diagnostic over the RL updates of each trained cell, all its seeds together."""
    rows = []
    for members in by_cell(run for run in runs if _updates([run])):
        cell, updates = members[0].cell, _updates(members)
        means = tuple(_mean(updates, one) for one in DIAGNOSTICS)
        rows.append((cell.study, cell.label, cell.estimator, *means, _over_half(updates), str(len(updates))))
    columns = (
        *("study", "condition", "estimator"),
        *(one.column for one in DIAGNOSTICS),
        *("updates with over half masked", "updates"),
    )
    note = (
        "Means over the RL updates of all seeds that define the number. CAR: repeated state-action pairs with "
        "advantages of both signs. EGR: what is left of their push. ZAR: decisions with advantage 0. CCR: mean size of "
        "advantages at subgoals over elsewhere. Used: advantage and weight both not 0. Isolation: correlation of a "
        "segment's advantage with what its episode earned later; 0 is isolated. Rho: trained over sampling probability."
    )
    return Table("diagnostics", "What the updates did with the credit", columns, tuple(rows), note)


def masked_warnings(runs: Iterable[Run]) -> tuple[str, ...]:
    """Return a sentence for each run in which an update masked more than half of its replies."""
    sentences = []
    for run in runs:
        updates = _updates([run])
        masked = [row for row in updates if row.metrics.get("masked_share", 0.0) > HALF]
        if masked:
            sentences.append(
                f"{run.cell.study}: {run.cell.label}, seed {run.cell.seed}: over half of the replies were masked in "
                f"{len(masked)} of {len(updates)} updates, first in update {masked[0].update}; what is left is a "
                "biased sample. Lower the learning rate or take fewer steps for each batch."
            )
    return tuple(sentences)


def _updates(runs: Sequence[Run]) -> list[UpdateRecord]:
    return [row for run in runs for row in run.updates if row.phase == "rl"]


def _mean(updates: Sequence[UpdateRecord], one: Diagnostic) -> str:
    values = [row.metrics[one.metric] for row in updates if np.isfinite(row.metrics.get(one.metric, np.nan))]
    if not values:
        return MISSING
    mean = float(np.mean(values))
    return f"{100 * mean:.1f}" if one.percent else f"{mean:.3g}"


def _over_half(updates: Sequence[UpdateRecord]) -> str:
    measured = [row.metrics["masked_share"] for row in updates if "masked_share" in row.metrics]
    return str(sum(share > HALF for share in measured)) if measured else MISSING
