"""Published scores of the horizon-length study (arXiv 2605.02572) as data, and our conditions beside them.

They were measured with a 1.7-billion-parameter model on 9x9 Sudoku and 6x6 Rush Hour. Ours beside them come from other
sizes of model, board and training: the two show whether the same thing happens, never how large it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reports.conditions import Condition
from reports.panels import schedule


@dataclass(frozen=True)
class PublishedRow:
    """One row of a published table: avg@4 in percent by level."""

    label: str
    puzzle: str
    interface: str
    reward: str
    phase: str
    trained: str
    """`short`, `long`, `short then long`, or "" for no RL."""
    scores: tuple[tuple[str, float], ...]


def _sudoku(label: str, interface: str, reward: str, phase: str, trained: str, *scores: float) -> PublishedRow:
    levels = ("L3", "L4", "L5", "L6", "L7")
    return PublishedRow(label, "sudoku", interface, reward, phase, trained, tuple(zip(levels, scores, strict=True)))


def _rush_hour(label: str, trained: str, *scores: float) -> PublishedRow:
    levels = ("R2", "R3", "R4", "R5")
    named = tuple(zip(levels, scores, strict=True))
    return PublishedRow(label, "rush-hour", "macro", "outcome", "rl", trained, named)


PUBLISHED: tuple[PublishedRow, ...] = (
    _sudoku("macro, SFT only", "macro", "outcome", "sft", "", 26.25, 8.75, 2.00, 0.00, 0.00),
    _sudoku("macro, RL on 11-20 blanks", "macro", "outcome", "rl", "short", 68.75, 41.75, 26.25, 8.25, 2.50),
    _sudoku("macro, RL on 21-30 blanks", "macro", "outcome", "rl", "long", 87.25, 69.50, 54.00, 30.75, 14.00),
    _sudoku("atomic, RL on 11-20 blanks", "atomic", "outcome", "rl", "short", 43.25, 13.75, 4.00, 0.50, 0.00),
    _sudoku(
        "atomic, RL on 21-30 blanks, before collapse", "atomic", "outcome", "rl", "long", 29.75, 8.75, 3.25, 0.00, 0.00
    ),
    _sudoku(
        "atomic + subgoals, RL on 21-30 blanks", "atomic", "subgoal", "rl", "long", 51.00, 28.75, 11.50, 3.00, 0.00
    ),
    _rush_hour("macro, RL on 4-9 steps", "short", 30.36, 4.25, 0.75, 0.00),
    _rush_hour("macro, RL on 10-12 steps", "long", 32.14, 5.50, 0.75, 0.25),
    _rush_hour("macro, RL on 4-9, then 10-12 steps", "short then long", 56.18, 20.25, 5.00, 2.25),
)
"""Success by level."""

PUBLISHED_RECIPE: tuple[tuple[str, float], ...] = (
    ("full recipe", 96.0),
    ("sequence truncation only", 91.4),
    ("geometric mask only", 89.4),
    ("without reward normalisation", 44.4),
)
"""avg@4 in percent of the training recipe and its ablations."""


def beside(row: PublishedRow, conditions: Sequence[Condition]) -> list[Condition]:
    """Return our conditions of the same kind as a published row: puzzle, interface, reward, phase and training length.

    Short and long are relative: the nearest and the furthest levels that the conditions of a study were trained on.
    """
    return [
        one
        for one in conditions
        if (one.cell.puzzle, one.interface, one.phase) == (row.puzzle, row.interface, row.phase)
        and one.cell.interface == one.interface
        and not one.variant
        and (row.phase == "sft" or (one.cell.reward == row.reward and training_length(one, conditions) == row.trained))
    ]


def training_length(one: Condition, conditions: Sequence[Condition]) -> str:
    """Return whether a condition was trained on the `short` or the `long` levels of its study, or first on the ones.

    "" where the study trained on one set of levels only, or for a set in between.
    """
    if len(schedule(one.cell)) > 1:
        return "short then long"
    peers = [
        other
        for other in conditions
        if (other.cell.study, other.cell.puzzle, other.cell.size) == (one.cell.study, one.cell.puzzle, one.cell.size)
        and other.phase == "rl"
        and len(schedule(other.cell)) <= 1
    ]
    sets = sorted({other.cell.train_levels for other in peers}, key=lambda levels: _mean_distance(levels, peers))
    if len(sets) < 2 or one.cell.train_levels not in (sets[0], sets[-1]):
        return ""
    return "short" if one.cell.train_levels == sets[0] else "long"


def _mean_distance(levels: Sequence[str], peers: Sequence[Condition]) -> float:
    distances = [other.distance(level) for other in peers for level in levels if level in other.levels]
    return sum(distances) / len(distances) if distances else 0.0
