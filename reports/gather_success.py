"""From conditions to the panels about final scores: success by distance, H50, the technique map."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from reports.conditions import Condition, at_level, by_board
from reports.intervals import Estimate, paired_difference
from reports.panels import (
    Heat,
    Panel,
    Point,
    Series,
    counted,
    marked,
    other_settings,
    sizes,
    trained_on,
)

MOST_IN_A_PANEL = 8
"""Conditions in one panel, beyond which it is split by their settings."""
Facet = tuple[str, Sequence[Condition]]


def success_panels(conditions: Sequence[Condition], score: str = "avg") -> tuple[Panel, ...]:
    """Return success against goal distance, a panel for each study, board and training levels.

    Args:
        conditions: what to draw.
        score: `avg` (avg@k, with the fitted curve) or `pass` (pass@k).
    """
    panels = []
    for title, members in facets(conditions):
        series = [_success_series(one, score) for one in members]
        k = min(one.k for one in members)
        name = f"{score}@{k}"
        estimates = [point.estimate for one in series for point in one.points]
        panels.append(
            Panel(
                title,
                "goal distance (atomic actions)",
                f"success, {name} (%)",
                marked(series),
                note=f"{sizes(estimates, _tries(members))}; bars: 95 % intervals over seeds and puzzles",
            )
        )
    return tuple(panels)


def horizon_panels(conditions: Sequence[Condition]) -> tuple[Panel, ...]:
    """Return H50 of every condition, a panel for each study and board."""
    return tuple(_horizon_panel(title, members) for title, members in by_board(conditions).items())


def technique_maps(conditions: Sequence[Condition]) -> tuple[Heat, ...]:
    """Return success by distance and hardest technique, a map for each condition with more than one technique."""
    return tuple(_technique_map(one) for one in conditions if len({row.technique for row in one.records} - {"-"}) > 1)


def difference(one: Condition, other: Condition, level: str | None = None) -> Estimate:
    """Return avg@k of one condition minus another's, paired by seed and puzzle.

    Raises:
        ValueError: if they share no puzzle within a seed.
    """
    grid, taken_off = (part.grid("avg", at_level(level)) for part in (one, other))
    return paired_difference(grid, taken_off, one.generator("minus", other.label, level or "all"))


def facets(conditions: Sequence[Condition]) -> list[Facet]:
    """Return the conditions by study, board and training levels; untrained policies stand beside all of their board.

    A facet of many conditions is split once more, by the other settings in which they differ.
    """
    result: list[Facet] = []
    for board, members in by_board(conditions).items():
        shared = [one for one in members if one.phase != "rl"]
        trained: dict[str, list[Condition]] = defaultdict(list)
        for one in members:
            if one.phase == "rl":
                trained[f"{board}, {trained_on(one.cell)}"].append(one)
        for title, group in (trained or {board: []}).items():
            result += _split(title, [*shared, *group])
    return result


def _split(title: str, members: Sequence[Condition]) -> list[Facet]:
    """Return one facet, or several where many conditions differ in their settings."""
    settings = [dict(other_settings(one.cell)) for one in members]
    varying = sorted({name for one in settings for name, value in one.items() if value != settings[0].get(name)})
    if len(members) <= MOST_IN_A_PANEL or not varying:
        return [(title, members)]
    groups: dict[str, list[Condition]] = defaultdict(list)
    for one, values in zip(members, settings, strict=True):
        words = ", ".join(f"{name.replace('_', ' ')} {values.get(name, '-')}" for name in varying)
        groups[f"{title}, {words}"].append(one)
    return list(groups.items())


def _success_series(one: Condition, score: str) -> Series:
    points = tuple(Point(one.distance(level), one.estimate(score, level), level) for level in one.levels)
    curve: tuple[tuple[float, float], ...] = ()
    if score == "avg" and len(points) > 1 and any(row.distance for row in one.records):
        fit = one.horizon
        distances = np.linspace(fit.nearest, fit.furthest, 60)
        curve = tuple(zip(distances.tolist(), fit.success(distances).tolist(), strict=True))
    reward = one.cell.reward if one.phase == "rl" else "outcome"
    return Series(one.label, one.interface, reward, one.phase, points, curve=curve)


def _horizon_panel(title: str, members: Sequence[Condition]) -> Panel:
    series = []
    notes = []
    for one in members:
        fit = one.horizon
        edge = 1.25 * fit.furthest
        value, low, high = (float(np.clip(number, 0, edge)) for number in (fit.h50, fit.low, fit.high))
        estimate = Estimate(value, low, high, fit.puzzles, fit.seeds)
        series.append(
            Series(one.label, one.interface, one.cell.reward, one.phase, (Point(value, estimate, fit.format()),))
        )
        notes.append(estimate)
    label = "H50: goal distance at which half succeed (atomic actions)"
    note = f"{sizes(notes, _tries(members))} over all levels; bars: 95 % intervals over seeds and puzzles"
    return Panel(title, label, "", marked(series), percent=False, note=note)


def _tries(members: Sequence[Condition]) -> set[int]:
    return {count for one in members for count in one.tries}


def _technique_map(one: Condition) -> Heat:
    techniques = _easiest_first({row.technique for row in one.records} - {"-"})
    values, texts = [], []
    for technique in techniques:
        line, words = [], []
        for level in one.levels:
            kept = [row for row in one.records if row.level == level and row.technique == technique]
            rate = float(np.mean([row.solved and row.seed not in one.collapsed for row in kept])) if kept else np.nan
            line.append(rate)
            words.append(f"{100 * rate:.0f} %\nn={len({row.instance_key for row in kept})}" if kept else "")
        values.append(tuple(line))
        texts.append(tuple(words))
    return Heat(
        f"{one.cell.study}: {one.label}",
        "level (goal distance, atomic actions)",
        "hardest technique needed",
        tuple(f"{level}\n~{one.distance(level):.0f}" for level in one.levels),
        tuple(techniques),
        tuple(values),
        tuple(texts),
        note=f"avg@{one.k}; n: puzzles that differ by more than symmetry; {counted([len(one.seeds)], 'seed')}",
    )


def _easiest_first(names: set[str]) -> list[str]:
    """Return technique names in the order of the technique checker, unknown ones last."""
    from solvers.techniques import TECHNIQUES

    order = [technique.name.lower() for technique in TECHNIQUES]
    return sorted(names, key=lambda name: (order.index(name.lower()) if name.lower() in order else len(order), name))
