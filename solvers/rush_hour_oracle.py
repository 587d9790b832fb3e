"""What the exact solver knows about one Rush Hour instance, behind the `Oracle` protocol."""

from __future__ import annotations

from puzzles.rush_hour import RushHour, RushHourState, Step
from solvers.breadth_first import BreadthFirstOracle


class RushHourOracle(BreadthFirstOracle[RushHourState, Step]):
    """Oracle of one board."""

    def __init__(self, puzzle: RushHour, start: RushHourState) -> None:
        super().__init__(puzzle, start, max_states=2_000_000)
