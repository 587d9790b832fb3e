"""Tables of results, made once and written as CSV, Markdown and LaTeX; the page shows the same ones."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from reports.comparisons import Comparison, generalisation_gap, interquartile
from reports.conditions import PHASES, Condition
from reports.diagnostics import diagnostics_table
from reports.failures_tables import failure_tables
from reports.gather_training import COSTS, costs_at, scored_grids
from reports.intervals import Estimate, generator, mean_estimate, rate_estimate
from reports.panels import board_name, counted, study_board, trained_on
from reports.published import PUBLISHED, beside
from reports.results import Results, Run, by_cell
from reports.study_tables import closed_form_table, edge_table
from reports.table import MISSING, Table

__all__ = [
    "Table",
    "all_tables",
    "closed_form_table",
    "collapse_table",
    "comparisons_table",
    "conditions_table",
    "diagnostics_table",
    "edge_table",
    "equal_cost_table",
    "gaps_table",
    "horizon_table",
    "levels_table",
    "published_table",
    "write_tables",
]


_CLASSES = "n counts puzzles that differ by more than symmetry; levels may hold symmetric copies of one as well."


def horizon_table(conditions: Sequence[Condition]) -> Table:
    """Return H50 of every condition, with the success of a single action and decision that it implies."""
    rows = []
    for one in conditions:
        fit = one.horizon
        single = (_probability(fit.per_action), _probability(fit.per_decision))
        rows.append((one.cell.study, one.label, fit.format(), *single, f"{fit.nearest}-{fit.furthest}", _size(one)))
    columns = ("study", "condition", "H50 (atomic actions)", "per action", "per decision", "distances tested", "n")
    note = (
        "H50: goal distance at which success falls to one half, with its 95 % interval over seeds and puzzles. Per "
        "action and per decision: the success of a single one that independent errors would need for this H50. "
        f"{_CLASSES}"
    )
    return Table("h50", "H50 by condition", columns, tuple(rows), note)


def conditions_table(results: Results, conditions: Sequence[Condition]) -> Table:
    """Return what each condition is, how it scored over all levels, and what it cost."""
    rows = []
    for one in conditions:
        runs = [run for run in results.runs if (run.cell.study, run.cell.cell) == (one.cell.study, one.cell.cell)]
        costs = _mean_costs(runs) if one.phase == "rl" else {}
        middle = interquartile(one)
        rows.append(
            (
                one.cell.study,
                one.label,
                board_name(one.cell),
                one.interface,
                f"{one.cell.reward}, {one.cell.estimator}" if one.phase == "rl" else MISSING,
                trained_on(one.cell).removeprefix("trained on ") if one.phase == "rl" else MISSING,
                PHASES.get(one.phase, one.phase),
                one.estimate("avg").format(),
                middle.format() if middle else MISSING,
                f"{len(one.collapsed)} of {len(one.seeds)}" if one.phase == "rl" else MISSING,
                *(amount(costs.get(cost, math.nan)) for cost in COSTS),
                _size(one),
            )
        )
    columns = (
        *("study", "condition", "board", "interface", "reward, estimator", "trained on", "phase", "avg@k (%)"),
        *("interquartile mean (%)", "collapsed", "tokens", "environment calls", "seconds", "n"),
    )
    note = (
        "Over all levels; collapsed runs count as failed. Costs: of RL training, mean over seeds. "
        f"{_attempts(conditions)} {_CLASSES}"
    )
    return Table("conditions", "Conditions", columns, tuple(rows), note, ("avg@k (%)", "interquartile mean (%)"))


def levels_table(conditions: Sequence[Condition]) -> Table:
    """Return avg@k and pass@k of every condition and level."""
    rows = []
    for one in conditions:
        for level in one.levels:
            scores = [one.estimate(score, level) for score in ("avg", "pass")]
            size = f"{scores[0].puzzles} \N{MULTIPLICATION SIGN} {scores[0].seeds}"
            distance = f"{one.distance(level):.1f}"
            rows.append((one.cell.study, one.label, level, distance, *(score.format() for score in scores), size))
    columns = (
        "study",
        "condition",
        "level",
        "mean distance",
        "avg@k (%)",
        "pass@k (%)",
        "puzzles \N{MULTIPLICATION SIGN} seeds",
    )
    note = (
        "95 % intervals over seeds and puzzles; fields whose scores are all alike: Wilson over puzzles that differ by "
        f"more than symmetry. {_attempts(conditions)}"
    )
    return Table("levels", "Success by level", columns, tuple(rows), note, ("avg@k (%)", "pass@k (%)"))


def comparisons_table(comparisons: Sequence[Comparison]) -> Table:
    """Return the differences between conditions that differ in one thing, paired by seed and puzzle."""
    rows = []
    for pair in comparisons:
        improved = pair.improvement.format(1.0, 2) if pair.improvement else MISSING
        by_level = "; ".join(f"{level} {gap.format(sign=True)}" for level, gap in pair.by_level.items())
        overall = pair.overall.format(sign=True)
        rows.append((pair.one.cell.study, pair.axis, pair.one.label, pair.other.label, overall, improved, by_level))
    columns = ("study", "what differs", "condition", "minus", "all levels (points)", "P(better)", "by level (points)")
    note = (
        "avg@k of the condition minus the other's, paired by seed and puzzle, with 95 % intervals over both. "
        "P(better): chance that a run of the first scores above a run of the second on a level."
    )
    return Table("comparisons", "Comparisons", columns, tuple(rows), note, ("all levels (points)", "P(better)"))


def gaps_table(conditions: Sequence[Condition]) -> Table:
    """Return the horizon-generalisation gap of every trained condition."""
    rows = []
    for one in conditions:
        if one.phase == "rl" and (gap := generalisation_gap(one)):
            levels = ", ".join(one.cell.train_levels)
            rows.append((one.cell.study, one.label, levels, gap.format(sign=True), _size(one)))
    columns = ("study", "condition", "trained on", "gap (points)", "n")
    note = (
        "Success at the trained levels minus success at all longer ones; 95 % intervals over seeds and puzzles. "
        f"{_CLASSES}"
    )
    return Table("gaps", "Horizon-generalisation gap", columns, tuple(rows), note, ("gap (points)",))


def collapse_table(results: Results) -> Table:
    """Return how many runs of each trained cell collapsed."""
    rows = []
    for runs in by_cell(run for run in results.runs if run.updates and run.cell.train_levels):
        cell = runs[0].cell
        rate = rate_estimate([run.collapse is not None for run in runs])
        named = [
            f"seed {run.cell.seed}: {run.collapse.criterion} at update {run.collapse.update}"
            for run in runs
            if run.collapse
        ]
        share = f"{len(named)} of {len(runs)}"
        rows.append((cell.study, cell.label, share, rate.format(digits=0), "; ".join(named) or MISSING))
    columns = ("study", "condition", "collapsed runs", "rate (%)", "first criterion")
    note = "95 % Wilson intervals; the runs are the trials."
    return Table("collapse", "Collapse", columns, tuple(rows), note, ("rate (%)",))


def equal_cost_table(results: Results) -> Table:
    """Return success at the largest cost that all cells of a study and board reached, for each kind of cost."""
    boards: dict[str, list[Run]] = defaultdict(list)
    for run in results.runs:
        if run.updates:
            boards[study_board(run.cell)].append(run)
    rows = []
    for members in boards.values():
        cells = by_cell(members)
        curves = [{cost: _cost_curve(runs, cost) for cost in COSTS} for runs in cells]
        shared = {cost: _shared_cost([one[cost] for one in curves]) for cost in COSTS}
        for runs, curve in zip(cells, curves, strict=True):
            scores = [_at_cost(curve[cost], shared[cost], cost) for cost in COSTS]
            if any(score != MISSING for score in scores):
                rows.append((runs[0].cell.study, runs[0].cell.label, *scores))
    columns = ("study", "condition", "at equal tokens (%)", "at equal environment calls (%)", "at equal wall-clock (%)")
    note = (
        "Success at the last evaluation during training that cost no more than the cheapest condition of the study "
        "spent in all; in brackets the 95 % interval, then the cost. Collapsed runs count as failed from their onset "
        "on. Wall-clock compares only runs on like machines."
    )
    return Table("equal-cost", "Success at equal cost", columns, tuple(rows), note)


def published_table(conditions: Sequence[Condition]) -> Table:
    """Return published scores, each with ours of the same kind below: another scale, so compare shapes, not sizes."""
    rows = []
    for row in PUBLISHED:
        ours = beside(row, conditions)
        if not ours:
            continue
        scores = "; ".join(f"{level} {score:.2f}" for level, score in row.scores)
        rows.append(
            (
                "published",
                row.label,
                "9\N{MULTIPLICATION SIGN}9" if row.puzzle == "sudoku" else "6\N{MULTIPLICATION SIGN}6",
                scores,
            )
        )
        for one in ours:
            values = "; ".join(f"{level} {one.estimate('avg', level).format()}" for level in one.levels)
            rows.append(("ours", f"{one.cell.study}: {one.label}", board_name(one.cell), values))
    note = (
        "avg@4 in %. Different scale: published with a 1.7-billion-parameter model (arXiv 2605.02572); ours with the "
        "model, boards and budget of this report. Same direction is a reproduction; same size is not to be expected."
    )
    return Table(
        "published", "Beside the published numbers", ("", "condition", "board", "success by level"), tuple(rows), note
    )


def all_tables(
    results: Results, conditions: Sequence[Condition], comparisons: Sequence[Comparison]
) -> tuple[Table, ...]:
    """Return every table that has rows, in the page's order."""
    tables = (
        horizon_table(conditions),
        conditions_table(results, conditions),
        levels_table(conditions),
        comparisons_table(comparisons),
        gaps_table(conditions),
        equal_cost_table(results),
        edge_table(conditions),
        closed_form_table(conditions),
        *failure_tables(results, conditions),
        collapse_table(results),
        diagnostics_table(results.runs),
        published_table(conditions),
    )
    return tuple(table for table in tables if table.rows)


def write_tables(tables: Sequence[Table], folder: Path) -> list[Path]:
    """Write every table as `.csv`, `.md` and `.tex` into `folder`; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    forms: dict[str, Callable[[Table], str]] = {"csv": Table.to_csv, "md": Table.to_markdown, "tex": Table.to_latex}
    paths = []
    for table in tables:
        for ending, form in forms.items():
            path = folder / f"{table.name}.{ending}"
            path.write_text(form(table), encoding="utf8")
            paths.append(path)
    return paths


def _cost_curve(runs: Sequence[Run], cost: str) -> list[tuple[float, Estimate]]:
    """Return mean cost and success at each evaluation during training."""
    cell = runs[0].cell
    curve = []
    for update, grid in scored_grids(runs).items():
        spent = sum(costs_at(run, update)[cost] for run in runs) / len(runs)
        curve.append((spent, mean_estimate(grid, generator(cell.study, cell.cell, "update", update), resamples=500)))
    return curve


def _shared_cost(curves: Sequence[Sequence[tuple[float, Estimate]]]) -> float:
    return min((curve[-1][0] for curve in curves if len(curve) > 1), default=math.nan)


def _at_cost(curve: Sequence[tuple[float, Estimate]], cost: float, kind: str) -> str:
    reached = [point for point in curve if point[0] <= cost * (1 + 1e-9)]
    if not reached or not cost > 0:
        return MISSING
    unit = " s" if kind == "seconds" else ""
    return f"{reached[-1][1].format()} at {amount(reached[-1][0])}{unit}"


def _mean_costs(runs: Sequence[Run]) -> dict[str, float]:
    totals = [costs_at(run, max(row.update for row in run.updates)) for run in runs if run.updates]
    return {cost: sum(total[cost] for total in totals) / len(totals) for cost in COSTS} if totals else {}


def amount(value: float) -> str:
    """Return a number with three digits and the unit that fits, such as `1.23k`."""
    if not math.isfinite(value):
        return MISSING
    rounded = float(f"{value:.3g}")
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rounded >= limit:
            return f"{rounded / limit:.3g}{unit}"
    return f"{rounded:.3g}"


def _size(one: Condition) -> str:
    puzzles = len({row.instance_key for row in one.records})
    return f"{counted([puzzles], 'puzzle')} \N{MULTIPLICATION SIGN} {counted([len(one.seeds)], 'seed')}"


def _attempts(conditions: Sequence[Condition]) -> str:
    ks = sorted({one.k for one in conditions})
    return "k = " + ", ".join(map(str, ks)) + "."


def _probability(value: float) -> str:
    return f"{value:.4f}" if 0 < value < 1 else MISSING
