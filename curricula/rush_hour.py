"""Rush Hour boards of any asked goal distance: far states of random clusters.

A random board seldom lies far from its goal, but the cluster of states it can reach has far ones. So each try places
vehicles at random, measures the whole cluster, and takes one of its states at an asked distance. Each board comes from
a try of its own; nothing is shared between the boards of one seed.
"""

from __future__ import annotations

import numpy as np

from puzzles.rush_hour import RushHour, RushHourState, Vehicle
from puzzles.rush_hour_layout import NAMES
from solvers.rush_hour import DistanceMap, SearchBudgetError, distance_map
from solvers.rush_hour_map import blockers

NEAREST = 2
"""Fewest steps of a board with a vehicle in the way: one for it, one for the primary car."""

MAX_TRIES = 3_000
"""Default budget: random clusters measured for one board."""

_CLUSTER_STATES = 60_000
_SPARSEST, _DENSEST = 0.45, 0.85
"""Share of the board that vehicles cover."""
_TRUCKS = 0.3
"""Probability that a vehicle has three cells."""
_PLACINGS = 40
"""How often a place for a vehicle is drawn before the board counts as full."""


def random_board(rng: np.random.Generator, puzzle: RushHour, walls: int = 0) -> RushHourState:
    """Return a board with vehicles at random places, solvable or not.

    Args:
        rng: source of randomness.
        puzzle: shape of the board.
        walls: number of walls.

    Raises:
        ValueError: if the walls do not fit.
    """
    rows, columns, exit_row = puzzle.rows, puzzle.columns, puzzle.exit_row
    if not 0 <= walls <= rows * columns // 4:
        raise ValueError(f"walls is {walls}, must be 0 to {rows * columns // 4} on this board")
    placed = [Vehicle(exit_row, int(rng.integers(columns - 2)), 2, True, NAMES[0])]
    taken = set(placed[0].cells())
    free = [(row, column) for row in range(rows) for column in range(columns) if row != exit_row]
    wall_cells = [free[index] for index in rng.choice(len(free), size=walls, replace=False)]
    taken.update(wall_cells)
    wanted = rng.uniform(_SPARSEST, _DENSEST) * rows * columns
    for _ in range(_PLACINGS * len(NAMES)):
        if len(taken) >= wanted or len(placed) == len(NAMES):
            break
        vehicle = _draw(rng, puzzle, NAMES[len(placed)])
        cells = vehicle.cells()
        if taken.isdisjoint(cells):
            placed.append(vehicle)
            taken.update(cells)
    return puzzle.from_vehicles(placed, wall_cells)


def generate(
    low: int,
    high: int,
    rng: np.random.Generator,
    puzzle: RushHour | None = None,
    walls: int = 0,
    max_tries: int = MAX_TRIES,
) -> RushHourState:
    """Return a board whose goal distance lies in a range, with a vehicle in the primary car's way.

    Args:
        low: smallest goal distance, in steps; at least 1.
        high: largest goal distance, in steps.
        rng: source of randomness; the same stream gives the same board.
        puzzle: shape of the board; 6x6 by default.
        walls: number of walls.
        max_tries: budget of random clusters.

    Raises:
        ValueError: if the range is empty, or the budget is used up; the message says how far the tries got.
    """
    if not 1 <= low <= high or high < NEAREST:
        raise ValueError(f"the range of steps must satisfy 1 <= low <= high and high >= {NEAREST}, got {low} to {high}")
    puzzle = puzzle or RushHour()
    farthest, skipped = 0, 0
    for _ in range(max_tries):
        board = random_board(rng, puzzle, walls)
        try:
            cluster = distance_map(board, max_states=_CLUSTER_STATES)
        except SearchBudgetError:
            skipped += 1
            continue
        farthest = max(farthest, cluster.farthest or 0)
        found = _pick(cluster, low, high, rng)
        if found is not None:
            return puzzle.parse(puzzle.key(found))
    raise ValueError(
        f"no board of {low} to {high} steps found: {max_tries} random clusters tried ({skipped} above "
        f"{_CLUSTER_STATES} states left out), the farthest board lay at {farthest} steps"
    )


def _draw(rng: np.random.Generator, puzzle: RushHour, letter: str) -> Vehicle:
    """Return a vehicle at a random place; horizontal ones in the exit row only to the left half of the board."""
    length = 3 if rng.random() < _TRUCKS else 2
    horizontal = bool(rng.random() < 0.5)
    row = int(rng.integers(puzzle.rows if horizontal else puzzle.rows - length + 1))
    column = int(rng.integers(puzzle.columns - length + 1 if horizontal else puzzle.columns))
    if horizontal and row == puzzle.exit_row:
        # Ahead of the primary car it would make the board unsolvable; a vertical one is as good.
        return Vehicle(int(rng.integers(puzzle.rows - length + 1)), column, length, False, letter)
    return Vehicle(row, column, length, horizontal, letter)


def _pick(cluster: DistanceMap, low: int, high: int, rng: np.random.Generator) -> RushHourState | None:
    """Return a state at a random one of the asked distances that the cluster has, None if it has none."""
    if (cluster.farthest or 0) < low:
        return None
    present = np.unique(cluster.distances[(cluster.distances >= low) & (cluster.distances <= high)])
    for distance in rng.permutation(present):
        numbers = cluster.states_at(int(distance))
        for number in rng.choice(numbers, size=min(4, len(numbers)), replace=False):
            state = cluster.state(int(number))
            if blockers(state):
                return state
    return None
