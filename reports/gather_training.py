"""From runs to the panels about training: success and metrics over updates, success against three costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from reports.collapse import during_training
from reports.intervals import Estimate, Grid, generator, mean_estimate
from reports.panels import Panel, Point, Series, counted, marked, study_board, trained_on
from reports.results import Run, by_cell
from reports.schema import EvaluationRecord

METRICS: dict[str, tuple[str, bool]] = {
    "success": ("success in training (%)", True),
    "macro_length": ("macro length (atomic actions a decision)", False),
    "invalid_share": ("illegal actions (% of all written)", True),
    "voided_share": ("unreadable or voided decisions (%)", True),
    "entropy": ("entropy (nats a token)", False),
    "gradient_norm": ("gradient norm", False),
    "effective_sample_size": ("effective sample size (% of the samples)", True),
    "masked_share": ("masked replies (% of all)", True),
    "car": ("conflict share CAR (% of repeated pairs)", True),
    "egr": ("effective gradient ratio EGR (%)", True),
    "zar": ("zero advantages ZAR (% of decisions)", True),
    "ccr": ("CCR (mean |A| at subgoals over elsewhere)", False),
}
"""Metrics of an update that are drawn: axis label, and whether they are shares."""

DRAWN_IF_CHANGING = ("effective_sample_size", "masked_share", "car", "egr", "zar", "ccr")
"""Metrics that are drawn only where they change: many runs mask nothing, or never see a state twice."""
FLAT = 1e-3
"""A range of values below which a diagnostic does not change."""

COSTS: dict[str, str] = {
    "tokens": "tokens generated in training (thousands)",
    "calls": "environment calls in training (thousands)",
    "seconds": "wall-clock of training (seconds)",
}


def training_panels(runs: Sequence[Run]) -> tuple[Panel, ...]:
    """Return success at the evaluations during training, with collapses marked, a panel for each study and training."""
    panels = []
    for title, cells in training_facets(run for run in runs if run.updates):
        series = [one for members in cells if (one := _training_series(members))]
        if series:
            note = (
                f"{seeds_of(cells)}; bands: 95 % intervals over seeds and puzzles; thin lines: single seeds"
                f"{_cross(series, 'collapse')}"
            )
            panels.append(Panel(title, "RL update", "success at evaluation (%)", marked(series), note=note))
    return tuple(panels)


def metric_panels(runs: Sequence[Run], metric: str) -> tuple[Panel, ...]:
    """Return one metric over updates, a panel for each study and training; none of a diagnostic that never changes.

    Raises:
        ValueError: if no figure shows that metric.
    """
    if metric not in METRICS:
        raise ValueError(f"no figure shows the metric {metric!r}; known: {', '.join(METRICS)}")
    label, percent = METRICS[metric]
    panels = []
    for title, cells in training_facets(run for run in runs if run.updates):
        series = [one for members in cells if (one := _metric_series(members, metric))]
        if series and not (metric in DRAWN_IF_CHANGING and _flat(series)):
            note = (
                f"mean over {seeds_of(cells)}; thin lines: single seeds, running mean of 5 updates"
                f"{_cross(series, 'collapse')}"
            )
            panels.append(Panel(title, "RL update", label, marked(series), percent, note=note))
    return tuple(panels)


def cost_panels(runs: Sequence[Run], cost: str) -> tuple[Panel, ...]:
    """Return success against one cost of training (`tokens`, `calls` or `seconds`).

    Raises:
        ValueError: if no figure shows that cost.
    """
    if cost not in COSTS:
        raise ValueError(f"no figure shows the cost {cost!r}; known: {', '.join(COSTS)}")
    panels = []
    for title, cells in training_facets(run for run in runs if run.updates):
        series = [one for members in cells if (one := _cost_series(members, cost))]
        if series:
            note = (
                f"{seeds_of(cells)}, cost averaged over them; bands: 95 % intervals over seeds and puzzles"
                f"{_cross(series, 'a seed collapsed and counts as failed from there on')}"
            )
            panels.append(Panel(title, COSTS[cost], "success at evaluation (%)", marked(series), note=note))
    return tuple(panels)


def costs_at(run: Run, update: int) -> dict[str, float]:
    """Return what a run had cost when `update` RL updates were made; NaN for a cost it did not record."""
    before = [row for row in run.updates if row.phase == "rl" and row.update <= update]
    seconds = [row.total_seconds for row in run.timings if row.phase == "rl" and row.update <= update]
    last = before[-1] if before else None
    return {
        "tokens": float(last.total_tokens) if last else 0.0,
        "calls": float(last.total_environment_calls) if last else 0.0,
        "seconds": seconds[-1] if seconds else (np.nan if last else 0.0),
    }


def evaluation_grids(runs: Sequence[Run]) -> dict[int, Grid]:
    """Return mean success of each seed and puzzle at every update that all seeds evaluated the same way.

    Levels that some evaluation leaves out are left out everywhere.
    """
    rows = [row for run in runs for row in during_training(run.evaluations)]
    seen: dict[tuple[int, int], set[str]] = defaultdict(set)
    for row in rows:
        seen[row.seed, row.update].add(row.level)
    common = set.intersection(*seen.values()) if seen else set()
    updates: dict[int, list[EvaluationRecord]] = defaultdict(list)
    for row in rows:
        if row.level in common:
            updates[row.update].append(row)
    return {update: _grid(kept) for update, kept in sorted(updates.items())}


def scored_grids(runs: Sequence[Run]) -> dict[int, Grid]:
    """Return the same with collapsed runs counted as failed, from the onset of their collapse on."""
    onsets = {run.cell.seed: run.collapse.onset for run in runs if run.collapse}
    grids = {}
    for update, grid in evaluation_grids(runs).items():
        failed = np.array([update >= onsets.get(seed, np.inf) for seed in grid.seeds])
        grids[update] = replace(grid, values=np.where(failed[:, None] & np.isfinite(grid.values), 0.0, grid.values))
    return grids


def training_facets(runs: Iterable[Run]) -> list[tuple[str, list[list[Run]]]]:
    """Return the runs by study, board and training levels, and within by cell."""
    titles: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        titles[f"{study_board(run.cell)}, {trained_on(run.cell)}"].append(run)
    return [(title, by_cell(members)) for title, members in titles.items()]


def seeds_of(cells: Iterable[Sequence[Run]]) -> str:
    """Return how many seeds the cells of a panel have, as part of its caption."""
    return counted(map(len, cells), "seed")


def _cross(series: Iterable[Series], words: str) -> str:
    """Return the part of a caption that says what a cross means, where one is drawn."""
    return f"; \N{MULTIPLICATION X}: {words}" if any(one.collapses for one in series) else ""


def _grid(rows: Sequence[EvaluationRecord]) -> Grid:
    solved: dict[tuple[int, str], list[bool]] = defaultdict(list)
    distances: dict[str, int] = {}
    for row in rows:
        solved[row.seed, row.instance_key].append(row.solved)
        distances[row.instance_key] = row.distance
    return Grid.of({key: float(np.mean(found)) for key, found in solved.items()}, distances)


def _training_series(runs: Sequence[Run]) -> Series | None:
    grids = evaluation_grids(runs)
    if len(grids) < 2:
        return None
    cell = runs[0].cell
    points = _points(runs, grids)
    lines = tuple(
        tuple(
            (float(update), _seed_mean(grid, run.cell.seed))
            for update, grid in grids.items()
            if run.cell.seed in grid.seeds
        )
        for run in runs
    )
    return Series(cell.label, cell.interface, cell.reward, "rl", points, runs=lines, collapses=_collapses(runs, lines))


def _points(runs: Sequence[Run], grids: Mapping[int, Grid]) -> tuple[Point, ...]:
    cell = runs[0].cell
    return tuple(
        Point(float(update), mean_estimate(grid, generator(cell.study, cell.cell, "update", update), resamples=500))
        for update, grid in grids.items()
    )


def _collapses(runs: Sequence[Run], lines: Sequence[Sequence[tuple[float, float]]]) -> tuple[tuple[float, float], ...]:
    """Return where collapsed runs were noticed, each on its own line."""
    return tuple(
        (float(run.collapse.update), _height(line, run.collapse.update))
        for run, line in zip(runs, lines, strict=True)
        if run.collapse and line
    )


def _height(line: Sequence[tuple[float, float]], update: float) -> float:
    return float(np.interp(update, [x for x, _ in line], [y for _, y in line]))


def _seed_mean(grid: Grid, seed: int) -> float:
    return float(np.nanmean(grid.values[grid.seeds.index(seed)]))


def _metric_series(runs: Sequence[Run], metric: str) -> Series | None:
    lines = []
    for run in runs:
        rows = [row for row in run.updates if row.phase == "rl" and np.isfinite(row.metrics.get(metric, np.nan))]
        values = _running_mean([row.metrics[metric] for row in rows])
        lines.append(tuple((float(row.update), value) for row, value in zip(rows, values, strict=True)))
    if not any(lines):
        return None
    by_update: dict[float, list[float]] = defaultdict(list)
    for line in lines:
        for update, value in line:
            by_update[update].append(value)
    runs_measured = sum(map(bool, lines))
    points = []
    for update, values in sorted(by_update.items()):
        if len(values) == runs_measured:
            mean = float(np.mean(values))
            points.append(Point(update, Estimate(mean, mean, mean, 0, len(values))))
    cell = runs[0].cell
    return Series(
        cell.label,
        cell.interface,
        cell.reward,
        "rl",
        tuple(points),
        runs=tuple(lines),
        collapses=_collapses(runs, lines),
    )


def _flat(series: Sequence[Series]) -> bool:
    values = [value for one in series for run in one.runs for _, value in run]
    return max(values) - min(values) < FLAT


def _running_mean(values: Sequence[float], window: int = 5) -> list[float]:
    return [float(np.mean(values[max(0, index - window + 1) : index + 1])) for index in range(len(values))]


def _cost_series(runs: Sequence[Run], cost: str) -> Series | None:
    grids = scored_grids(runs)
    if len(grids) < 2:
        return None
    cell = runs[0].cell
    scale = 1.0 if cost == "seconds" else 1e-3

    def place(update: float) -> float:
        return scale * float(np.mean([costs_at(run, int(update))[cost] for run in runs]))

    points = tuple(Point(place(point.x), point.estimate) for point in _points(runs, grids))
    if not all(np.isfinite(point.x) for point in points) or points[-1].x == 0:
        return None
    line = [(point.x, point.estimate.value) for point in points]
    places = [place(run.collapse.update) for run in runs if run.collapse]
    collapses = tuple((x, _height(line, x)) for x in places)
    return Series(cell.label, cell.interface, cell.reward, "rl", points, collapses=collapses)
