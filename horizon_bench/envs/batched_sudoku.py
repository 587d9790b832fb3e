"""Sudoku in the structured atomic form, all lanes in one compiled loop.

Without overwriting, a fill only ever takes legal moves away, so that a lane's mask is kept up to date by clearing the
filled cell and the digit at its peers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numba import njit
from numpy.typing import NDArray

from horizon_bench.envs.batched import BatchedEnv, BoolArray, IntArray
from horizon_bench.envs.instances import Prepared
from horizon_bench.envs.puzzle_env import PuzzleEnv
from puzzles.sudoku_layout import SudokuLayout
from puzzles.sudoku_symmetry import board_text


class BatchedSudoku(BatchedEnv):
    """Lanes of Sudoku; see `BatchedEnv`."""

    def __init__(self, single: PuzzleEnv, num_envs: int, mode: AutoresetMode) -> None:
        """Make the lanes."""
        puzzle: Any = single.puzzle
        layout = puzzle.layout
        self._size: int = puzzle.size
        self._layout = layout
        self._cleared = _cleared(layout)
        self._box_of = np.array(layout.box_of, dtype=np.int64)
        self._solution = np.zeros((num_envs, layout.cells), dtype=np.int8)
        self._missing, self._column = np.zeros((2, num_envs, puzzle.size), dtype=np.int64)
        super().__init__(single, num_envs, mode)
        self._values = self.boards.reshape(num_envs, layout.cells)

    def most_subgoals(self) -> int:
        """Return the number of boxes."""
        return self._size

    def load(self, lane: int, opened: tuple[Any, ...]) -> None:
        """Set the lane's board to the start."""
        values, solution, mask, missing, column = opened
        self._values[lane], self._solution[lane], self.mask[lane] = values, solution, mask
        self._missing[lane], self._column[lane] = missing, column

    def open_start(self, prepared: Prepared) -> tuple[NDArray[Any], ...]:
        """Return board, solution, mask, missing cells and subgoal of each box of a start."""
        oracle: Any = prepared.oracle
        values = np.frombuffer(prepared.start.values, dtype=np.int8)
        legal = {cell * self._size + digit - 1 for cell, digit in self.single.puzzle.moves(prepared.start)}
        mask = np.zeros(values.size * self._size, dtype=np.int8)
        mask[sorted(legal)] = 1
        missing = np.bincount(self._box_of[values == 0], minlength=self._size)
        column = np.where(missing > 0, np.cumsum(missing > 0) - 1, -1)
        return values, np.frombuffer(oracle.solution, dtype=np.int8), mask, missing, column

    def move(self, actions: IntArray, active: BoolArray) -> tuple[BoolArray, IntArray]:
        """Fill each active lane's cell where that is legal."""
        legal = np.zeros(self.num_envs, dtype=np.bool_)
        own = np.full(self.num_envs, -1, dtype=np.int64)
        _fill(
            actions,
            active,
            self._values,
            self.mask,
            self._solution,
            self._missing,
            self._column,
            self.done,
            self.togo,
            self.changed,
            self._cleared,
            self._box_of,
            self._size,
            legal,
            own,
        )
        return legal, own

    def texts(self) -> Iterator[str]:
        """Return each lane's board as one line."""
        return (board_text(row.tobytes()) for row in self._values)


def _cleared(layout: SudokuLayout) -> NDArray[np.uint16]:
    """Return the moves that each fill takes away: all of its cell, and its digit at the cell's peers.

    Shape [moves, digits + peers].
    """
    size = layout.size
    return np.array(
        [
            [*range(cell * size, cell * size + size), *(peer * size + digit for peer in layout.peers[cell])]
            for cell in range(layout.cells)
            for digit in range(size)
        ],
        dtype=np.uint16,
    )


@njit(cache=True)
def _fill(  # type: ignore[no-untyped-def]
    actions,
    active,
    values,
    mask,
    solution,
    missing,
    column,
    done,
    togo,
    changed,
    cleared,
    box_of,
    size,
    legal,
    own,
):
    """Carry out one fill in each active lane, in place."""
    for lane in range(actions.shape[0]):
        action = actions[lane]
        changed[lane] = False
        if not active[lane] or mask[lane, action] == 0:
            continue
        legal[lane] = True
        cell, digit = action // size, action % size
        values[lane, cell] = digit + 1
        for index in range(cleared.shape[1]):
            mask[lane, cleared[action, index]] = 0
        box = box_of[cell]
        own[lane] = column[lane, box]
        if solution[lane, cell] != digit + 1:
            togo[lane] = -1
            continue
        missing[lane, box] -= 1
        if missing[lane, box] == 0:
            changed[lane] = done[lane, column[lane, box]] = True
        if togo[lane] > 0:
            togo[lane] -= 1
