"""What independent errors alone explain: the success of a noisy expert beside the closed form (1 - e)^d."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reports.conditions import Condition
from reports.intervals import Estimate, mean_estimate, paired_difference
from reports.panels import board_name, on_error, other_settings


@dataclass(frozen=True)
class Accumulation:
    """One level of a noisy expert."""

    study: str
    board: str
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

    @property
    def agrees(self) -> bool:
        """Whether the interval of the difference holds 0."""
        return self.difference.low <= 0 <= self.difference.high


def accumulations(conditions: Sequence[Condition]) -> list[Accumulation]:
    """Return every level of every noisy expert that takes one action a decision, and acts where none fails."""
    return [
        _accumulation(one, float(settings["mistake"]), level)
        for one, settings in ((one, dict(other_settings(one.cell))) for one in conditions)
        if one.cell.policy == "noisy-expert" and one.interface == "atomic" and "mistake" in settings
        if float(settings.get("failure", 0)) == 0
        for level in one.levels
    ]


def _accumulation(one: Condition, mistake: float, level: str) -> Accumulation:
    grid = one.grid("avg", lambda row: row.level == level)
    expected = replace(grid, values=grid.values * 0.0 + (1.0 - mistake) ** grid.distances)
    measured = mean_estimate(grid, one.generator("avg", level))
    closed = float(((1.0 - mistake) ** grid.distances).mean())
    difference = paired_difference(grid, expected, one.generator("closed form", level))
    if measured.method == "wilson":
        difference = replace(measured, value=difference.value, low=measured.low - closed, high=measured.high - closed)
    return Accumulation(
        one.cell.study,
        board_name(one.cell),
        on_error(one.cell),
        mistake,
        level,
        one.distance(level),
        measured,
        closed,
        difference,
    )
