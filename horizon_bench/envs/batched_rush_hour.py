"""Rush Hour in the structured atomic form: boards and masks of all lanes in one compiled loop.

Distances come from each lane's map, one look-up a step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numba import njit

from horizon_bench.envs.batched import BatchedEnv, BoolArray, IntArray
from horizon_bench.envs.instances import Prepared
from horizon_bench.envs.puzzle_env import PuzzleEnv
from puzzles.rush_hour import LETTERS, RushHourState

_MOST_VEHICLES = len(LETTERS)


class BatchedRushHour(BatchedEnv):
    """Lanes of Rush Hour; see `BatchedEnv`."""

    def __init__(self, single: PuzzleEnv, num_envs: int, mode: AutoresetMode) -> None:
        """Make the lanes."""
        puzzle: Any = single.puzzle
        self._rows: int = puzzle.rows
        self._columns: int = puzzle.columns
        # One row a letter: position along the line, length, line, 1 where horizontal; length 0 where there is none.
        self._vehicles = np.zeros((num_envs, _MOST_VEHICLES, 4), dtype=np.int64)
        self._letters: list[list[int]] = [[] for _ in range(num_envs)]
        super().__init__(single, num_envs, mode)
        self._grid = self.boards.reshape(num_envs, self._rows * self._columns)

    def most_subgoals(self) -> int:
        """Return room for every subgoal: thresholds, or blockers and the exit."""
        return max(8, self._columns + 1)

    def load(self, lane: int, opened: tuple[Any, ...]) -> None:
        """Set the lane's board to the start."""
        self._grid[lane], self._vehicles[lane], self.mask[lane], self._letters[lane] = opened

    def open_start(self, prepared: Prepared) -> tuple[Any, Any, Any, list[int]]:
        """Return board, vehicles, mask and letters of a start."""
        layout, positions, _ = prepared.start
        letters = [LETTERS.index(letter) for letter in layout.letters]
        vehicles = np.zeros((_MOST_VEHICLES, 4), dtype=np.int64)
        vehicles[letters] = np.array([positions, layout.lengths, layout.lines, layout.horizontal], dtype=np.int64).T
        grid = self.single.puzzle.encode(prepared.start).ravel()
        mask = np.zeros(len(self.moves), dtype=np.int8)
        _mask(vehicles, grid, self._rows, self._columns, mask)
        return grid, vehicles, mask, letters

    def move(self, actions: IntArray, active: BoolArray) -> tuple[BoolArray, IntArray]:
        """Take each active lane's step where that is legal."""
        legal = np.zeros(self.num_envs, dtype=np.bool_)
        own = np.full(self.num_envs, -1, dtype=np.int64)
        self.changed[:] = active
        before = [self._own(lane, actions) for lane in np.flatnonzero(active).tolist()]
        _step(actions, active, self._vehicles, self._grid, self._rows, self._columns, self.mask, legal)
        for lane, worked_on in zip(np.flatnonzero(active).tolist(), before, strict=True):
            prepared = self.prepared[lane]
            if legal[lane] and prepared is not None:
                own[lane] = worked_on
                state = self.state(lane)
                togo = prepared.oracle.distance_to_go(state)
                self.togo[lane] = -1 if togo is None else togo
                truths = prepared.oracle.subgoals_done(state)
                self.done[lane, : len(truths)] = truths
        return legal, own

    def _own(self, lane: int, actions: IntArray) -> int:
        prepared = self.prepared[lane]
        if prepared is None or not self.mask[lane, actions[lane]]:
            return -1
        worked_on = prepared.oracle.own_subgoal(self.state(lane), self.moves[actions[lane]])
        return -1 if worked_on is None else worked_on

    def state(self, lane: int) -> Any:
        """Return the state of a lane, as the puzzle has it."""
        prepared = self.prepared[lane]
        if prepared is None:
            raise RuntimeError("there is no episode yet; call reset() first")
        layout = prepared.start.layout
        positions = tuple(self._vehicles[lane, self._letters[lane], 0].tolist())
        occupied = layout.walls
        for vehicle, position in enumerate(positions):
            occupied |= layout.mask(vehicle, position)
        return RushHourState(layout, positions, occupied)

    def texts(self) -> Iterator[str]:
        """Return each lane's letter map."""
        return (self.single.puzzle.format(self.state(lane)) for lane in range(self.num_envs))


@njit(cache=True)
def _cell(line, position, horizontal, columns):  # type: ignore[no-untyped-def]
    return line * columns + position if horizontal else position * columns + line


@njit(cache=True)
def _mask(vehicles, grid, rows, columns, mask):  # type: ignore[no-untyped-def]
    """Set which steps are legal: letter * 4 + (up, down, left, right)."""
    mask[:] = 0
    for letter in range(vehicles.shape[0]):
        position, length, line, horizontal = vehicles[letter]
        if length == 0:
            continue
        room = columns if horizontal else rows
        first = 2 if horizontal else 0
        if position > 0 and grid[_cell(line, position - 1, horizontal, columns)] == 0:
            mask[letter * 4 + first] = 1
        if position + length < room and grid[_cell(line, position + length, horizontal, columns)] == 0:
            mask[letter * 4 + first + 1] = 1


@njit(cache=True)
def _step(actions, active, vehicles, grid, rows, columns, mask, legal):  # type: ignore[no-untyped-def]
    """Take one step in each active lane, in place."""
    for lane in range(actions.shape[0]):
        action = actions[lane]
        if not active[lane] or mask[lane, action] == 0:
            continue
        legal[lane] = True
        letter, way = action // 4, action % 4
        position, length, line, horizontal = vehicles[lane, letter]
        forward = way % 2 == 1
        leaves = position if forward else position + length - 1
        enters = position + length if forward else position - 1
        old = _cell(line, leaves, horizontal, columns)
        grid[lane, _cell(line, enters, horizontal, columns)] = grid[lane, old]
        grid[lane, old] = 0
        vehicles[lane, letter, 0] = position + 1 if forward else position - 1
        _mask(vehicles[lane], grid[lane], rows, columns, mask[lane])
