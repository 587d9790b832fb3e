"""Tables and figures of the failure analyser: shares, changes by training, and how far subgoals were completed."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

import numpy as np

from horizon_bench.episodes import Episode
from reports.conditions import Condition, by_board
from reports.failures import CLASSES
from reports.failures_shares import (
    FailureChange,
    FailureShares,
    changes,
    class_grid,
    classified,
    share_grid,
    shares_of,
    stored_by_condition,
)
from reports.panels import Heat, counted, study_board
from reports.results import Results
from reports.table import MISSING, Table

TENTHS = 10
"""Parts of an episode's decisions, the columns of the heat map."""
MOST_MAPS = 12
"""Heat maps drawn, the first in the reading order of conditions."""


def title_of(name: str) -> str:
    """Return a class of failure as readers call it."""
    return name.replace("-", " ")


def failures_table(shares: Sequence[FailureShares]) -> Table:
    """Return the share of each class of failure, a line for each condition."""
    rows = []
    for one in shares:
        cells = [_cell(one, name) for name in CLASSES]
        way = MISSING if math.isnan(one.way) else f"{100 * one.way:.0f} ({one.diverged} of {one.failed})"
        label = one.condition.label + (" (stored episodes)" if one.stored_only else "")
        failed = f"{one.failed} of {one.attempts}"
        rows.append((one.condition.cell.study, label, failed, *cells, way))
    columns = ("study", "condition", "failed", *map(title_of, CLASSES), "leaves the expert's way at (%)")
    note = (
        "Percent of all attempts with 95 % intervals over seeds and puzzles; in brackets percent of the failed ones. "
        "An attempt belongs to the first class, from left to right, whose criterion holds. Last: mean share of the "
        "goal distance walked before the first move off the expert's way (Sudoku: a wrong fill; Rush Hour: one that "
        "raises the optimal distance), and how many failed attempts made one."
    )
    return Table("failures", "Why attempts failed", columns, tuple(rows), note)


def _cell(one: FailureShares, name: str) -> str:
    text = one.of_attempts[name].format()
    if name in one.of_failures:
        text += f"; ({one.of_failures[name].format()})"
    return text


def changes_table(found: Sequence[FailureChange]) -> Table:
    """Return how training changed the share of each class, a line for each trained condition."""
    rows = tuple(
        (
            one.after.condition.cell.study,
            f"{one.after.condition.label} minus {one.before.condition.label}",
            *(one.differences[name].format(sign=True) for name in CLASSES),
        )
        for one in found
    )
    columns = ("study", "condition", *map(title_of, CLASSES))
    note = "Points of all attempts, after training minus before, paired by seed and puzzle; 95 % intervals over both."
    return Table("failures-change", "What training did to the failures", columns, rows, note, columns[2:])


def failure_tables(results: Results, conditions: Sequence[Condition]) -> tuple[Table, Table]:
    """Return both tables of a results folder, by the usual thresholds."""
    shares = [shares_of(one, stored) for one, stored in classified(results, conditions)]
    return failures_table(shares), changes_table(changes(shares))


def share_maps(results: Results, conditions: Sequence[Condition]) -> list[Heat]:
    """Return one coloured table for each study and board: conditions by classes, shares of all attempts."""
    failing = [one for one, _ in classified(results, conditions) if not all(row.solved for row in one.records)]
    return [_share_map(title, members) for title, members in by_board(failing).items()]


def _share_map(title: str, members: Sequence[Condition]) -> Heat:
    values = [
        (
            float(np.nanmean(share_grid(one, lambda row: row.solved).values)),
            *(float(np.nanmean(class_grid(one, name).values)) for name in CLASSES),
        )
        for one in members
    ]
    attempts = counted({len(one.records) for one in members}, "attempt")
    return Heat(
        title=title,
        x_label="what became of the attempts (%)",
        y_label="",
        columns=("solved", *(name.replace("-", "\n") for name in CLASSES)),
        rows=tuple(one.label for one in members),
        values=tuple(values),
        texts=tuple(tuple(f"{100 * value:.0f}" if value else "" for value in row) for row in values),
        note=f"n = {attempts} a line. Intervals: in the table of failures.",
    )


def subgoal_maps(results: Results, conditions: Sequence[Condition]) -> list[Heat]:
    """Return for each condition how much its failed episodes had completed by when; from stored episodes."""
    stored = stored_by_condition(results)
    maps = []
    for one in conditions:
        failed = [each.episode for each in stored.get(one.key, ()) if not each.episode.solved and each.episode.turns]
        if failed:
            maps.append(subgoal_map(textwrap.fill(f"{study_board(one.cell)}, {one.label}", 62), failed))
    return maps[:MOST_MAPS]


def subgoal_map(title: str, episodes: Sequence[Episode]) -> Heat:
    """Return the share of episodes that had completed so many subgoals by each tenth of their decisions.

    Args:
        title: of the panel.
        episodes: failed episodes, each with at least one decision.
    """
    most = max(1, max(sum(len(turn.subgoals_reached) for turn in one.turns) for one in episodes))
    values = np.zeros((most, TENTHS))
    for one in episodes:
        done = np.cumsum([len(turn.subgoals_reached) for turn in one.turns])
        ends = [max(1, math.ceil(len(done) * part / TENTHS)) for part in range(1, TENTHS + 1)]
        values += np.array([done[end - 1] >= np.arange(1, most + 1) for end in ends]).T
    values /= len(episodes)
    return Heat(
        title=title,
        x_label="decisions of the episode taken (%)",
        y_label="subgoals completed",
        columns=tuple(str(10 * part) for part in range(1, TENTHS + 1)),
        rows=tuple(f"\N{GREATER-THAN OR EQUAL TO} {count}" for count in range(1, most + 1)),
        values=tuple(map(tuple, values.tolist())),
        texts=tuple(tuple(f"{100 * value:.0f}" if value else "" for value in row) for row in values.tolist()),
        note=f"n = {counted([len(episodes)], 'failed episode')} (stored ones); percent of them.",
    )
