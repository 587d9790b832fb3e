"""What independent errors alone explain: the success of a noisy expert beside the closed form (1 - e)^d."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reports.conditions import Condition, at_level
from reports.intervals import Estimate, mean_estimate, paired_difference
from reports.panels import on_error, other_settings, study_board


@dataclass(frozen=True)
class Accumulation:
    """One level of a noisy expert."""

    board: str
    """Study and board."""
    rule: str
    """What follows an error."""
    mistake: float
    """Probability e that a decision errs."""
    level: str
    distance: float
    """Mean goal distance d, in atomic actions."""
    measured: Estimate
    closed_form: float
    """Mean of (1 - e)^d over the level's puzzles: success if one error is the end and nothing else can go wrong."""
    difference: Estimate
    """Measured minus closed form: what recovery saves; 0 where an error ends the episode.

    Where all attempts ended alike, its interval is the measured one's (Wilson), moved by the closed form.
    """

    final: bool
    """Whether an error is the end in this condition: no attempt was solved in more decisions than the goal distance."""

    @property
    def agrees(self) -> bool:
        """Whether the interval of the difference holds 0."""
        return self.difference.low <= 0 <= self.difference.high


def accumulations(conditions: Sequence[Condition]) -> list[Accumulation]:
    """Return every level of every noisy expert that takes one action a decision, and acts where none fails.

    By board and rule, then by rising probability of an error; levels nearest first.
    """
    found = []
    for one in conditions:
        settings = dict(other_settings(one.cell))
        plain = one.cell.policy == "noisy-expert" and one.interface == "atomic"
        if plain and "mistake" in settings and float(settings.get("failure", 0)) == 0:
            found += [_accumulation(one, float(settings["mistake"]), level) for level in one.levels]
    return sorted(found, key=lambda row: (row.board, row.rule, row.mistake))


def _accumulation(one: Condition, mistake: float, level: str) -> Accumulation:
    grid = one.grid("avg", at_level(level))
    seen = grid.values * 0.0  # NaN where a run did not see a puzzle
    expected = replace(grid, values=seen + (1.0 - mistake) ** grid.distances)
    measured = mean_estimate(grid, one.generator("avg", level))
    closed = float(((1.0 - mistake) ** grid.distances).mean())
    difference = paired_difference(grid, expected, one.generator("closed form", level))
    if measured.method == "wilson":
        difference = replace(measured, value=difference.value, low=measured.low - closed, high=measured.high - closed)
    return Accumulation(
        board=study_board(one.cell),
        rule=on_error(one.cell),
        mistake=mistake,
        level=level,
        distance=one.distance(level),
        measured=measured,
        closed_form=closed,
        difference=difference,
        final=all(row.decisions == row.distance for row in one.records if row.solved),
    )
