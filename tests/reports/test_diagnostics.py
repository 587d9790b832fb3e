from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from horizon_bench.credit import CreditBatch, correction_report, update_diagnostics
from reports.collapse import detect
from reports.diagnostics import DIAGNOSTICS, diagnostics_table, masked_warnings
from reports.gather_training import metric_panels
from reports.records import UpdateRecord
from reports.results import Run, load_results
from reports.table import MISSING


@pytest.fixture(scope="module")
def run(small: Path) -> Run:
    """Return a trained run."""
    return next(run for run in load_results(small).runs if run.updates)


def with_metrics(run: Run, *metrics: dict[str, float]) -> Run:
    rows = [UpdateRecord("s", "c", 0, "rl", index, "T3", one) for index, one in enumerate(metrics, start=1)]
    return replace(run, updates=tuple(rows))


def test_means_are_over_the_updates_that_define_the_number(run: Run) -> None:
    changed = with_metrics(run, {"car": 0.2, "ccr": 2.0}, {"car": 0.4}, {"ccr": float("nan")})
    table = diagnostics_table([changed])
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert (row["CAR (%)"], row["CCR"], row["EGR (%)"]) == ("30.0", "2", MISSING)
    assert (row["updates"], row["updates with over half masked"]) == ("3", MISSING)
    assert diagnostics_table([with_metrics(run)]).rows == ()


def test_a_diagnostic_that_never_changes_is_not_drawn(run: Run) -> None:
    steady, rising = ([with_metrics(run, *({"zar": share} for share in shares))] for shares in ((0.2, 0.2), (0.1, 0.4)))
    assert metric_panels(steady, "zar") == ()
    assert len(metric_panels(rising, "zar")) == 1


def test_every_diagnostic_is_one_that_training_records() -> None:
    batch = CreditBatch.from_ragged(
        [[0, 1], [0, 0]], subgoals_reached=[[1, 1], [1, 0]], states=[[1, 2], [1, 3]], actions=[[1, 1], [1, 1]]
    )
    recorded = set(update_diagnostics(batch, np.array([1.0, 1.0, -1.0, -2.0])))
    recorded |= set(correction_report(np.zeros((1, 1)), np.zeros((1, 1)), np.ones((1, 1), bool), np.ones((1, 1))))
    own = {"capped_share", "invalid_decision_share", "entropy", "gradient_norm", "isolation_correlation"}
    assert {one.metric for one in DIAGNOSTICS} <= recorded | own


def test_masking_over_half_is_warned_of_and_found_but_condemns_no_run(run: Run) -> None:
    changed = with_metrics(run, *({"masked_share": share} for share in (0.1, 0.5, 0.6, 0.2, 0.9)))
    (sentence,) = masked_warnings([changed])
    assert "masked in 2 of 5 updates, first in update 3" in sentence
    assert diagnostics_table([changed]).rows[0][-2:] == ("2", "5")
    (finding,) = detect(changed.updates)
    assert (finding.criterion, finding.update, finding.fatal) == ("masked-share", 3, False)
    assert masked_warnings([run]) == ()
