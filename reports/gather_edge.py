"""From conditions to the edge of macros: how much they gain over single actions, against the risk of a decision."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reports.conditions import PHASES, Condition
from reports.gather_success import difference
from reports.intervals import Estimate
from reports.panels import Panel, Point, Series, marked, nearest_first, on_error, other_settings, schedule, sizes

SMALLEST_SPREAD = 1.0
"""Points of risk between the safest and the riskiest condition, under which no curve against risk is drawn."""
ALL = "all distances"


@dataclass(frozen=True)
class Edge:
    """What a macro gains over single actions under one risk."""

    study: str
    phase: str
    rule: str
    """What follows an error; "" where nobody said."""
    risk: float
    """Decisions of the atomic policy that were lost, in percent of all."""
    gaps: dict[str, Estimate]
    """Macro minus atomic, paired by seed and puzzle, over all levels (`ALL`) and by level."""
    distances: dict[str, float]
    """Mean goal distance of each level, in atomic actions."""
    attempts: frozenset[int]
    """Attempts that the puzzles had."""

    @property
    def title(self) -> str:
        """Phase and rule in words."""
        rule = f", on error: {self.rule}" if self.rule else ""
        return f"{self.study}: {PHASES.get(self.phase, self.phase)}{rule}"


def edges(conditions: Sequence[Condition]) -> list[Edge]:
    """Return the edge of each pair of a macro and an atomic condition of one study that differ in nothing else."""
    atomic, macro = (
        {_twin(one): one for one in conditions if one.interface == interface} for interface in ("atomic", "macro")
    )
    found = []
    for twin, plain in atomic.items():
        risk = plain.share(lambda row: row.lost_decisions, lambda row: row.decisions)
        if twin in macro and set(plain.seeds) & set(macro[twin].seeds) and np.isfinite(risk):
            long = macro[twin]
            levels = [level for level in plain.levels if level in long.levels]
            gaps = {ALL: difference(long, plain), **{level: difference(long, plain, level) for level in levels}}
            distances = {level: plain.distance(level) for level in levels}
            where = (plain.cell.study, plain.phase, on_error(plain.cell))
            found.append(Edge(*where, 100 * risk, gaps, distances, plain.tries | long.tries))
    return sorted(found, key=lambda edge: (edge.study, edge.phase != "sft", edge.rule, edge.risk))


def edge_panels(conditions: Sequence[Condition]) -> tuple[Panel, ...]:
    """Return the edge against the share of lost decisions, a panel for each study, phase and rule on errors.

    The share of lost decisions is the atomic condition's own. One curve over all distances, and one for each level.
    """
    groups: dict[str, list[Edge]] = defaultdict(list)
    for edge in edges(conditions):
        groups[edge.title].append(edge)
    return tuple(
        _panel(title, members)
        for title, members in groups.items()
        if members[-1].risk - members[0].risk >= SMALLEST_SPREAD
    )


def _panel(title: str, members: Sequence[Edge]) -> Panel:
    distances = {level: distance for edge in members for level, distance in edge.distances.items()}
    series = [
        Series(
            name if name == ALL else f"{name}, distance {distances[name]:.1f}",
            "macro" if name == ALL else "distance",
            "outcome",
            members[0].phase,
            tuple(Point(edge.risk, edge.gaps[name], name) for edge in members if name in edge.gaps),
        )
        for name in (*nearest_first(distances), ALL)
    ]
    estimates = [point.estimate for one in series[:-1] for point in one.points]
    return Panel(
        title,
        "decisions lost to a slip (% of the atomic policy's)",
        "success, macro minus atomic (points)",
        marked(series),
        note=f"{sizes(estimates, {count for edge in members for count in edge.attempts})}; "
        "bars: 95 % intervals of the paired difference over seeds and puzzles",
    )


def _twin(one: Condition) -> tuple[object, ...]:
    """Return all that must agree between a macro and an atomic condition to be compared."""
    learned = (schedule(one.cell), one.cell.reward, one.cell.estimator) if one.phase == "rl" else ()
    board = (one.cell.study, one.cell.puzzle, one.cell.size, one.cell.policy)
    return (*board, one.phase, one.variant, learned, other_settings(one.cell))
