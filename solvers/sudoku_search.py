"""Exact Sudoku search on boards of any size, compiled: depth-first over the cell with the fewest candidates.

Serves 4x4, 6x6 and 16x16; `solvers.sudoku_bands` is the faster one for 9x9. Both leave their search in an array,
so that a caller can take some solutions and come back for more.
"""

from __future__ import annotations

from functools import cache

import numba
import numpy as np
from numpy.typing import NDArray

from puzzles.sudoku_layout import sudoku_layout

Int64Array = NDArray[np.int64]
Uint8Array = NDArray[np.uint8]


@cache
def unit_table(size: int) -> Int64Array:
    """Return row, column and box of each cell numbered as units from 0 to 3*size - 1, shape [cells, 3]."""
    layout = sudoku_layout(size)
    columns = np.array(layout.column_of) + size
    boxes = np.array(layout.box_of) + 2 * size
    return np.stack([np.array(layout.row_of), columns, boxes], axis=1).astype(np.int64)


@cache
def peer_table(size: int) -> Int64Array:
    """Return the cells that share a unit with each cell, shape [cells, peers]."""
    return np.array(sudoku_layout(size).peers, dtype=np.int64)


@numba.njit(cache=True, nogil=True)
def _bit_count(mask: int) -> int:
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@numba.njit(cache=True, nogil=True)
def _digit_of(bit: int) -> int:
    digit = 0
    while bit:
        bit >>= 1
        digit += 1
    return digit


@numba.njit(cache=True, nogil=True)
def start_search(givens: Uint8Array, units: Int64Array, used: Int64Array, values: Uint8Array) -> bool:
    """Enter the givens into `used` (bit mask of each unit) and `values`; return whether none conflict."""
    used[:] = 0
    for cell in range(givens.shape[0]):
        digit = givens[cell]
        values[cell] = digit
        if digit:
            bit = 1 << (np.int64(digit) - 1)
            for kind in range(3):
                unit = units[cell, kind]
                if used[unit] & bit:
                    return False
                used[unit] |= bit
    return True


@numba.njit(cache=True, nogil=True)
def _hidden_bit(
    values: Uint8Array, units: Int64Array, used: Int64Array, once: Int64Array, twice: Int64Array, full: int
) -> tuple[int, int]:
    """Return a cell and the bit of a digit with no other place in some unit; (-1, 0) if none, (-2, 0) if dead."""
    once[:] = 0
    twice[:] = 0
    for cell in range(values.shape[0]):
        if values[cell] == 0:
            free = full & ~(used[units[cell, 0]] | used[units[cell, 1]] | used[units[cell, 2]])
            for kind in range(3):
                unit = units[cell, kind]
                twice[unit] |= once[unit] & free
                once[unit] |= free
    for unit in range(once.shape[0]):
        if (once[unit] | used[unit]) != full:
            return -2, 0
    for cell in range(values.shape[0]):
        if values[cell] == 0:
            free = full & ~(used[units[cell, 0]] | used[units[cell, 1]] | used[units[cell, 2]])
            for kind in range(3):
                unit = units[cell, kind]
                single = free & ~twice[unit]
                if single:
                    return cell, single & -single
    return -1, 0


@numba.njit(cache=True, nogil=True)
def choose_cell(
    values: Uint8Array, units: Int64Array, used: Int64Array, once: Int64Array, twice: Int64Array, full: int
) -> tuple[int, int]:
    """Return the cell to fill next and its candidates; (-1, 0) if the board is full, candidates 0 if it is dead."""
    best, best_free, fewest = -1, 0, 99
    for cell in range(values.shape[0]):
        if values[cell] == 0:
            free = full & ~(used[units[cell, 0]] | used[units[cell, 1]] | used[units[cell, 2]])
            count = _bit_count(free)
            if count < fewest:
                best, best_free, fewest = cell, free, count
                if count < 2:
                    return best, best_free
    if best >= 0:
        cell, bit = _hidden_bit(values, units, used, once, twice, full)
        if cell == -2:
            return best, 0
        if cell >= 0:
            return cell, bit
    return best, best_free


@numba.njit(cache=True, nogil=True)
def clear_cell(values: Uint8Array, units: Int64Array, used: Int64Array, cell: int) -> None:
    """Take the digit out of a cell, if it has one."""
    if values[cell]:
        bit = 1 << (int(values[cell]) - 1)
        values[cell] = 0
        for kind in range(3):
            used[units[cell, kind]] ^= bit


@numba.njit(cache=True, nogil=True)
def fill_cell(values: Uint8Array, units: Int64Array, used: Int64Array, cell: int, bit: int) -> None:
    """Write the digit of a bit into a blank cell."""
    values[cell] = _digit_of(bit)
    for kind in range(3):
        used[units[cell, kind]] |= bit


@numba.njit(cache=True, nogil=True)
def run_search(
    values: Uint8Array,
    units: Int64Array,
    used: Int64Array,
    trail: Int64Array,
    depth: int,
    wanted: int,
    found: Uint8Array,
) -> tuple[int, int]:
    """Continue a search until `wanted` solutions are counted or nothing is left.

    Args:
        values: the board, shape [cells]; owned by the search.
        units: from `unit_table`.
        used: digits in each unit as bit masks, shape [3*size]; owned by the search.
        trail: cell and untried candidates of each choice, shape [cells + 1, 2]; owned by the search.
        depth: 0 at first, later what the last call returned.
        wanted: number of solutions at which to stop.
        found: receives the first solutions, shape [any, cells].

    Returns:
        Number of solutions counted, and the depth to continue from; depth -1 means that the search is complete.
    """
    size = used.shape[0] // 3
    full = (1 << size) - 1
    once = np.zeros_like(used)
    twice = np.zeros_like(used)
    count = 0
    descend = depth == 0
    while True:
        if descend:
            cell, free = choose_cell(values, units, used, once, twice, full)
            if cell >= 0:
                trail[depth, 0], trail[depth, 1] = cell, free
                depth += 1
            else:
                if count < found.shape[0]:
                    found[count] = values
                count += 1
                if count >= wanted:
                    return count, depth if depth else -1
        if depth == 0:
            return count, -1
        cell, free = trail[depth - 1, 0], trail[depth - 1, 1]
        clear_cell(values, units, used, cell)
        descend = free != 0
        if descend:
            trail[depth - 1, 1] = free & (free - 1)
            fill_cell(values, units, used, cell, free & -free)
        else:
            depth -= 1


@numba.njit(cache=True, nogil=True)
def count_batch(grids: Uint8Array, units: Int64Array, wanted: int, counts: Int64Array, solutions: Uint8Array) -> None:
    """Count the solutions of each grid up to `wanted` and keep the first one.

    Args:
        grids: shape [puzzles, cells], 0 where blank.
        units: from `unit_table`.
        wanted: number of solutions at which a count stops.
        counts: receives the counts, shape [puzzles].
        solutions: receives the first solutions, shape [puzzles, cells].
    """
    cells = grids.shape[1]
    values = np.zeros(cells, np.uint8)
    used = np.zeros(3 * int(np.sqrt(cells) + 0.5), np.int64)
    trail = np.zeros((cells + 1, 2), np.int64)
    for puzzle in range(grids.shape[0]):
        counts[puzzle] = 0
        if start_search(grids[puzzle], units, used, values):
            counts[puzzle] = run_search(values, units, used, trail, 0, wanted, solutions[puzzle : puzzle + 1])[0]
