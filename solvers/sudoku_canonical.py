"""Canonical texts of whole banks of Sudokus, compiled: the same texts as `puzzles.sudoku_symmetry.canonical_text`."""

from __future__ import annotations

from collections.abc import Sequence

import numba
import numpy as np
from numpy.typing import NDArray

from puzzles.sudoku import SudokuState
from puzzles.sudoku_layout import sudoku_layout
from puzzles.sudoku_symmetry import LARGEST_CANONICAL, board_text, canonical_text, line_orders
from solvers.sudoku_solve import checked_grids, puzzle_array

Uint8Array = NDArray[np.uint8]
Int64Array = NDArray[np.int64]


@numba.njit(cache=True, nogil=True)
def _compare_row(
    cells: Uint8Array, order: Int64Array, names: Uint8Array, best: Uint8Array, known: bool, scratch: Uint8Array
) -> int:
    """Name the cells of one row of a copy into `scratch` and compare with `best`: 1 smaller, 0 equal, -1 larger.

    `names` holds the name of each digit and, at index 0, the number of digits named; it is extended in place.
    """
    verdict = 0 if known else 1
    for column in range(order.shape[0]):
        digit = cells[order[column]]
        name = 0
        if digit:
            name = names[digit]
            if name == 0:
                names[0] += 1
                name = names[0]
                names[digit] = name
        if verdict == 0:
            if name > best[column]:
                return -1
            if name < best[column]:
                verdict = 1
        scratch[column] = name
    return verdict


@numba.njit(cache=True, nogil=True)
def _doubled(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return the records with as much room again."""
    larger = np.empty((2 * array.shape[0], array.shape[1]), array.dtype)
    larger[: array.shape[0]] = array
    return larger


@numba.njit(cache=True, nogil=True)
def _first_rows(board: Uint8Array, box_columns: int) -> Uint8Array:
    """Return for each row whether it can come first: its blank cells, gathered as far left as they go, are most.

    A row's best copy puts the stacks with most blanks left and in each the blanks first; so rows compare by their
    blanks in stacks, from most to least. Where a row repeats a digit, every row may come first.
    """
    size = board.shape[0]
    stacks = size // box_columns
    chosen = np.ones(size, np.uint8)
    for row in range(size):
        for column in range(size):
            for other in range(column):
                if board[row, column] and board[row, column] == board[row, other]:
                    return chosen
    shapes = np.zeros((size, stacks), np.int64)
    for row in range(size):
        for column in range(size):
            if board[row, column] == 0:
                shapes[row, column // box_columns] += 1
        for stack in range(1, stacks):
            place = stack
            while place and shapes[row, place - 1] < shapes[row, place]:
                larger = shapes[row, place]
                shapes[row, place] = shapes[row, place - 1]
                shapes[row, place - 1] = larger
                place -= 1
    for row in range(size):
        for other in range(size):
            for stack in range(stacks):
                if shapes[other, stack] != shapes[row, stack]:
                    if shapes[other, stack] > shapes[row, stack]:
                        chosen[row] = 0
                    break
    return chosen


@numba.njit(cache=True, nogil=True)
def _may_follow(used: int, row: int, level: int, box_rows: int) -> bool:
    """Return whether a row may be the next one: in the band that is under way, else in a band not yet begun."""
    if used >> row & 1:
        return False
    band = row // box_rows * box_rows
    begun = used >> band & ((1 << box_rows) - 1)
    if level % box_rows == 0:
        return begun == 0
    return begun != 0 and begun != (1 << box_rows) - 1


@numba.njit(cache=True, nogil=True)
def _every_copy(sides: int, orders: int) -> Int64Array:
    """Return side, column order and rows used so far (none) of the copies that a search starts from."""
    place = np.zeros((sides * orders, 3), np.int64)
    for copy in range(place.shape[0]):
        place[copy, 0], place[copy, 1] = copy // orders, copy % orders
    return place


@numba.njit(cache=True, nogil=True)
def _smallest_copy(
    boards: Uint8Array, orders: Int64Array, box_rows: int, box_columns: int, smallest: Uint8Array
) -> None:
    """Write the smallest symmetric copy into `smallest`, searched row by row over all copies that still tie.

    Args:
        boards: the board and, where boxes are square, its transpose, shape [sides, size, size].
        orders: every column order, shape [orders, size].
        box_rows: rows of a box.
        box_columns: columns of a box.
        smallest: receives the copy, shape [size, size].
    """
    size = boards.shape[1]
    chosen = np.zeros((boards.shape[0], size), np.uint8)
    for side in range(boards.shape[0]):
        chosen[side] = _first_rows(boards[side], box_columns)
    place = _every_copy(boards.shape[0], orders.shape[0])
    names = np.zeros((place.shape[0], size + 1), np.uint8)
    scratch = np.zeros(size, np.uint8)
    trial = np.zeros(size + 1, np.uint8)
    for level in range(size):
        following = np.empty((64, 3), np.int64)
        following_names = np.empty((64, size + 1), np.uint8)
        count = 0
        for copy in range(place.shape[0]):
            side, order, used = place[copy, 0], place[copy, 1], place[copy, 2]
            for row in range(size):
                if (level == 0 and not chosen[side, row]) or not _may_follow(used, row, level, box_rows):
                    continue
                trial[:] = names[copy]
                verdict = _compare_row(boards[side, row], orders[order], trial, smallest[level], count > 0, scratch)
                if verdict < 0:
                    continue
                if verdict > 0:
                    smallest[level] = scratch
                    count = 0
                if count == following.shape[0]:
                    following, following_names = _doubled(following), _doubled(following_names)
                following[count, 0], following[count, 1], following[count, 2] = side, order, used | 1 << row
                following_names[count] = trial
                count += 1
        place, names = following[:count], following_names[:count]


@numba.njit(cache=True, nogil=True)
def _smallest_copies(grids: Uint8Array, orders: Int64Array, box_rows: int, box_columns: int, found: Uint8Array) -> None:
    """Write the smallest symmetric copy of each board, shapes [boards, size, size]."""
    sides = 2 if box_rows == box_columns else 1
    boards = np.zeros((sides, grids.shape[1], grids.shape[1]), np.uint8)
    for index in range(grids.shape[0]):
        boards[0] = grids[index]
        if sides == 2:
            boards[1] = grids[index].T
        _smallest_copy(boards, orders, box_rows, box_columns, found[index])


def canonical_batch(grids: Uint8Array) -> Uint8Array:
    """Return the canonical form of each board of a batch up to 9x9, shape [boards, cells], blanks 0.

    Raises:
        ValueError: if the batch is no batch of boards of one size up to 9x9.
    """
    batch, size = checked_grids(grids)
    if size > LARGEST_CANONICAL:
        raise ValueError(f"canonical forms reach to {LARGEST_CANONICAL}x{LARGEST_CANONICAL} boards, not {size}x{size}")
    layout = sudoku_layout(size)
    boards = batch.reshape(-1, size, size)
    found = np.zeros_like(boards)
    filled = boards.any(axis=(1, 2))
    part = found[filled]
    _smallest_copies(boards[filled], line_orders(size, layout.box_columns), layout.box_rows, layout.box_columns, part)
    found[filled] = part
    return found.reshape(batch.shape)


def keys(puzzles: Sequence[str | SudokuState]) -> list[str]:
    """Return the content key of each puzzle, equal to `Sudoku.key`; texts and sizes may be mixed.

    Raises:
        ValueError: if a text is no Sudoku board.
    """
    grids = [puzzle_array(puzzle) for puzzle in puzzles]
    found = [""] * len(grids)
    for cells in sorted({len(grid) for grid in grids}):
        members = [index for index, grid in enumerate(grids) if len(grid) == cells]
        size = round(cells**0.5)
        if size > LARGEST_CANONICAL:
            texts = [canonical_text(grids[index].tobytes(), size) for index in members]
        else:
            batch = canonical_batch(np.stack([grids[index] for index in members]))
            texts = [board_text(board.tobytes()) for board in batch]
        for index, text in zip(members, texts, strict=True):
            found[index] = text
    return found
