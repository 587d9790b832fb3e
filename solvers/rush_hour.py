"""Exact Rush Hour: shortest ways in steps and slides, whole-cluster distance maps, numbers of shortest ways.

Boards are given as text (6x6 unless a `puzzle` says otherwise) or as states. A **step** moves a vehicle one cell; a
**slide** moves it any number of free cells in one direction. The two distances rank boards differently.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from puzzles.rush_hour import Layout, RushHour, RushHourState
from solvers import rush_hour_search as search
from solvers.rush_hour_map import DistanceMap, count_shortest
from solvers.rush_hour_tables import METRICS, Coding
from solvers.rush_hour_workspace import MAX_STATES, SearchBudgetError, workspace

__all__ = [
    "METRICS",
    "DistanceMap",
    "SearchBudgetError",
    "Slide",
    "Solution",
    "count_optimal",
    "distance",
    "distance_batch",
    "distance_map",
    "solve",
]

Board = str | RushHourState


class Slide(NamedTuple):
    """One vehicle, any number of cells in one direction."""

    vehicle: str
    direction: str
    cells: int

    def __str__(self) -> str:
        return f"move({self.vehicle}, {self.direction}, {self.cells})"


@dataclass(frozen=True)
class Solution:
    """An optimal way to the goal, or the proof that there is none."""

    metric: str
    """`steps` or `slides`."""
    distance: int | None
    """Fewest moves in that metric; None if no goal is reachable."""
    moves: tuple[Slide, ...] | None
    """One optimal way, the same every time (in `steps` each moves one cell); None if no goal is reachable."""
    states: int
    """States found. Without a goal these are all reachable states, none of them a goal: the proof."""

    @property
    def path(self) -> str:
        """The moves as text, joined by `;`; `-` if no goal is reachable."""
        return "-" if self.moves is None else ";".join(map(str, self.moves))


def solve(
    board: Board,
    metric: str = "steps",
    *,
    puzzle: RushHour | None = None,
    max_states: int = MAX_STATES,
    max_seconds: float | None = None,
) -> Solution:
    """Return an optimal way from a board to the goal.

    Args:
        board: text or state.
        metric: `steps` or `slides`.
        puzzle: reads the text; 6x6 by default.
        max_states: budget of states found.
        max_seconds: budget of time; None: unlimited.

    Raises:
        ValueError: if the board or the metric is wrong.
        SearchBudgetError: if a budget is used up before there is an answer.
    """
    state = _state(board, puzzle)
    space = workspace()
    built, code = space.run(state, metric, search.STOP_AT_GOAL, max_states, max_seconds)
    if space.goal is None:
        return Solution(metric, None, None, space.found)
    way = space.path(space.goal)
    fields = [(int(shift), int(mask)) for shift, mask in zip(built.shift, built.mask, strict=True)]
    moves = tuple(_slide(state.layout, code, fields, *pair) for pair in pairwise(way))
    return Solution(metric, len(moves), moves, space.found)


@overload
def distance(
    board: Board,
    metric: str = ...,
    *,
    puzzle: RushHour | None = ...,
    max_states: int = ...,
    max_seconds: float | None = ...,
) -> int | None: ...
@overload
def distance(
    board: list[str] | list[RushHourState],
    metric: str = ...,
    *,
    puzzle: RushHour | None = ...,
    max_states: int = ...,
    max_seconds: float | None = ...,
) -> list[int | None]: ...
def distance(
    board: Board | list[str] | list[RushHourState],
    metric: str = "steps",
    *,
    puzzle: RushHour | None = None,
    max_states: int = MAX_STATES,
    max_seconds: float | None = None,
) -> int | list[int | None] | None:
    """Return the fewest moves from a board to the goal, None if it is out of reach; for a list, a list of them.

    The budgets hold for each board; see `solve`.
    """
    if isinstance(board, (str, RushHourState)):
        return _distance(_state(board, puzzle), metric, max_states, max_seconds)
    return [_distance(_state(item, puzzle), metric, max_states, max_seconds) for item in board]


def distance_batch(
    boards: Iterable[Board], metric: str = "steps", *, puzzle: RushHour | None = None, threads: int = 1
) -> NDArray[np.int16]:
    """Return the fewest moves of many boards, -1 where the goal is out of reach, shape [boards].

    Args:
        boards: texts or states.
        metric: `steps` or `slides`.
        puzzle: reads the texts; 6x6 by default.
        threads: how many boards are searched at once; the search itself runs outside the interpreter's lock.
    """
    states = [_state(board, puzzle) for board in boards]
    if threads == 1:
        found = [_distance(state, metric) for state in states]
    else:
        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(lambda state: _distance(state, metric), states))
    return np.array([-1 if number is None else number for number in found], dtype=np.int16)


def distance_map(
    board: Board,
    metric: str = "steps",
    *,
    puzzle: RushHour | None = None,
    max_states: int = MAX_STATES,
    max_seconds: float | None = None,
) -> DistanceMap:
    """Return the distance to go of every state reachable from a board.

    Raises:
        ValueError: if the board or the metric is wrong.
        SearchBudgetError: if a budget is used up first.
    """
    return DistanceMap(_state(board, puzzle), metric, max_states, max_seconds)


def count_optimal(board: Board, metric: str = "steps", *, puzzle: RushHour | None = None) -> int:
    """Return how many different shortest ways lead from a board to a goal; 0 if none does."""
    return count_shortest(_state(board, puzzle), metric)


def _state(board: Board, puzzle: RushHour | None) -> RushHourState:
    if isinstance(board, RushHourState):
        return board
    return (puzzle or RushHour()).parse(board)


def _distance(
    state: RushHourState, metric: str, max_states: int = MAX_STATES, max_seconds: float | None = None
) -> int | None:
    space = workspace()
    space.run(state, metric, search.STOP_AT_GOAL, max_states, max_seconds)
    return None if space.goal is None else len(space.path(space.goal)) - 1


def _slide(layout: Layout, code: Coding, fields: list[tuple[int, int]], before: int, after: int) -> Slide:
    """Return the move that turns one key into the other; `fields` are shift and mask of each line."""
    line = next(line for line, (shift, mask) in enumerate(fields) if (before ^ after) >> shift & mask)
    shift, mask = fields[line]
    old, new = code.positions[line][before >> shift & mask], code.positions[line][after >> shift & mask]
    place = next(place for place, position in enumerate(old) if position != new[place])
    vehicle, moved = code.members[line][place], new[place] - old[place]
    ways = ("left", "right") if layout.horizontal[vehicle] else ("up", "down")
    return Slide(layout.letters[vehicle], ways[moved > 0], abs(moved))
