"""From records and replay buffers to the pictures of MiRA's critics: calibration, and single episodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from horizon_bench.mira.labels import episode_labels, subgoal_times
from horizon_bench.mira.replay import Replayed, read_part
from reports.gather_training import seeds_of, training_facets
from reports.intervals import Estimate
from reports.panels import Panel, Point, Series, counted, study_board, trained_on
from reports.results import Run
from reports.schema import UpdateRecord

CRITICS = {
    "value": ("value critic", "chance of success predicted (%)", "episodes solved (%)"),
    "potential": ("potential critic", "progress predicted (%)", "progress label (%)"),
}
"""Critics by the prefix of their metrics: name, what it predicts, what came."""
BINS = 10
FEWEST = 50
"""States below which a bin of a run is left out."""
LEARNED = 0.25
"""Share of the updates, from the first on, that are left out: the critics have only begun."""


def calibration_panels(runs: Sequence[Run]) -> tuple[Panel, ...]:
    """Return predictions of the critics against what came, a panel for each study, training and critic."""
    panels = []
    for title, cells in training_facets(run for run in runs if _learned(run)):
        for critic, (name, x_label, y_label) in CRITICS.items():
            series = [one for members in cells if (one := _calibration(members, critic))]
            if series:
                note = (
                    f"{seeds_of(cells)}; the first quarter of the updates "
                    f"and bins under {FEWEST} states are left out; bars: lowest to highest seed; dotted: as predicted"
                )
                panels.append(Panel(f"{title}: {name}", x_label, y_label, (_diagonal(), *series), note=note))
    return tuple(panels)


def critic_pictures(runs: Iterable[Run]) -> tuple[Panel, ...]:
    """Return what the critics expected along a solved and a failed episode of each study and board.

    They are episodes of the last update of the first run that stored both critics' predictions: of the solved ones that
    with most decisions, of the failed ones that with most subgoals, then most decisions.
    """
    boards: dict[str, Run] = {}
    for run in runs:
        if _last_part(run) is not None:
            boards.setdefault(f"{study_board(run.cell)}, {trained_on(run.cell)}", run)
    return tuple(
        panel
        for run in boards.values()
        for panel in pictures_of(read_part_of(run), f"{run.cell.label}, seed {run.cell.seed}")
    )


def pictures_of(rows: Sequence[Replayed], name: str) -> tuple[Panel, ...]:
    """Return the pictures of a solved and a failed episode among some of a buffer; fewer where there are none.

    Args:
        rows: episodes of a buffer.
        name: what a reader calls their run.
    """
    shown = [one for one in rows if one.potentials and one.episode.turns]
    solved = max((one for one in shown if one.episode.solved), key=lambda one: len(one.episode.turns), default=None)
    failed = max((one for one in shown if not one.episode.solved), key=_reached, default=None)
    return tuple(_picture(one, name) for one in (solved, failed) if one is not None)


def read_part_of(run: Run) -> list[Replayed]:
    """Return the episodes of the last update that a run's replay buffer holds."""
    part = _last_part(run)
    return [] if part is None else read_part(part)


def _last_part(run: Run) -> Path | None:
    """Return the buffer's last file of a run with both critics."""
    both = any("potential_error" in row.metrics for row in run.updates)
    parts = sorted((run.folder / "replay").glob("update-*.parquet")) if both else []
    return parts[-1] if parts else None


def _reached(one: Replayed) -> tuple[int, int]:
    return len(subgoal_times(one.episode)), len(one.episode.turns)


def _picture(one: Replayed, name: str) -> Panel:
    episode = one.episode
    times = subgoal_times(episode)
    marks = {time: str(count) for count, time in enumerate(times, start=1)}
    given = [("value critic: chance of success", one.values), ("potential critic: progress", one.potentials)]
    labels = episode_labels(episode)
    if labels is not None:
        given.append(("progress label p*", tuple(labels.tolist())))
    longest = max(len(values) for _, values in given)
    series = tuple(
        Series(
            what,
            what,
            "outcome" if index < 2 else "subgoal",
            "rl",
            _line(values, marks if len(values) == longest else {}),
        )
        for index, (what, values) in enumerate(given)
    )
    end = "solved" if episode.solved else f"failed ({episode.end_reason.replace('_', ' ')})"
    title = f"{episode.level}, distance {episode.distance}: {end} after {counted([len(episode.turns)], 'decision')}"
    note = (
        f"n = 1 episode; {name}, update {one.update + 1}; expected before the critics learned from the episode; along "
        "the upper edge: subgoals completed so far"
    )
    return Panel(title, "decisions taken", "predicted (%)", series, note=note)


def _line(values: Sequence[float], marks: dict[int, str]) -> tuple[Point, ...]:
    return tuple(
        Point(float(time), Estimate(value, value, value, 1, 1), marks.get(time, ""))
        for time, value in enumerate(values)
    )


def _learned(run: Run) -> list[UpdateRecord]:
    """Return the updates in which a run's critics were held against new episodes, without the first ones."""
    rows = [row for row in run.updates if row.phase == "rl" and "value_error" in row.metrics]
    return rows[int(LEARNED * len(rows)) :]


def _calibration(runs: Sequence[Run], critic: str) -> Series | None:
    points = []
    for place in range(BINS):
        found = [one for run in runs if (one := _bin(_learned(run), f"{critic}_bin{place}"))]
        if found:
            predicted, observed = np.array(found).T
            estimate = Estimate(float(observed.mean()), float(observed.min()), float(observed.max()), 0, len(found))
            points.append(Point(100.0 * float(predicted.mean()), estimate))
    cell = runs[0].cell
    return Series(cell.label, cell.estimator, cell.reward, "rl", tuple(points)) if points else None


def _bin(rows: Sequence[UpdateRecord], name: str) -> tuple[float, float] | None:
    """Return the means of prediction and outcome over all states of a bin, None where there are few."""
    held = [row.metrics for row in rows if f"{name}_count" in row.metrics]
    counts = np.array([metrics[f"{name}_count"] for metrics in held])
    if counts.sum() < FEWEST:
        return None
    predicted, observed = (
        float(np.average([metrics[f"{name}_{what}"] for metrics in held], weights=counts))
        for what in ("predicted", "observed")
    )
    return predicted, observed


def _diagonal() -> Series:
    return Series("as predicted", "as predicted", "step", "sft", (), curve=((0.0, 0.0), (100.0, 1.0)))
