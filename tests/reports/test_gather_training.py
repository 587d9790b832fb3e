from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from reports.gather_training import cost_panels, evaluation_grids, metric_panels, scored_grids, training_panels
from reports.results import Run, load_results


@pytest.fixture(scope="module")
def collapsing(small: Path) -> list[Run]:
    """Return the two seeds of a cell, of which the second collapses, and solves all puzzles from then on."""
    steady, other = (run for run in load_results(small).runs if run.cell.interface == "atomic")
    assert steady.collapse is None
    assert other.collapse is not None
    onset = other.collapse.onset
    rows = tuple(replace(row, solved=row.solved or row.update >= onset) for row in other.evaluations)
    return [steady, replace(other, evaluations=rows)]


def test_a_collapsed_run_counts_as_failed_from_its_onset_on_and_as_it_was_before(collapsing: list[Run]) -> None:
    collapse = collapsing[1].collapse
    assert collapse is not None
    raw, scored = evaluation_grids(collapsing), scored_grids(collapsing)
    assert list(raw) == list(scored)
    assert min(raw) < collapse.onset <= max(raw)
    for update, grid in scored.items():
        np.testing.assert_array_equal(grid.values[0], raw[update].values[0])
        if update < collapse.onset:
            np.testing.assert_array_equal(grid.values[1], raw[update].values[1])
        else:
            assert np.nanmax(grid.values[1]) == 0.0
            assert np.nanmin(raw[update].values[1]) == 1.0


def test_success_at_a_cost_counts_collapsed_runs_as_failed(collapsing: list[Run]) -> None:
    whole = cost_panels(collapsing, "tokens")[0].series[0].points[-1]
    kept = cost_panels(collapsing[:1], "tokens")[0].series[0].points[-1]
    assert kept.estimate.value > 0
    assert whole.estimate.value == pytest.approx(kept.estimate.value / 2, rel=0.05)


def test_a_caption_explains_a_cross_only_where_one_is_drawn(collapsing: list[Run]) -> None:
    for panels in (training_panels, partial(cost_panels, cost="tokens"), partial(metric_panels, metric="entropy")):
        assert "\N{MULTIPLICATION X}" in panels(collapsing)[0].note
        assert "\N{MULTIPLICATION X}" not in panels(collapsing[:1])[0].note
