"""Random full grids, and puzzles dug out of them with exactly one solution, compiled.

The generator in `curricula` decides what to ask for and what to do when it cannot be had; this module only digs.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from solvers.sudoku_bands import LEVEL, LEVELS, has_other_solution
from solvers.sudoku_search import choose_cell, clear_cell, fill_cell, run_search, start_search

Uint8Array = NDArray[np.uint8]
Int64Array = NDArray[np.int64]
Uint64Array = NDArray[np.uint64]

_MOST_REFILLED = 6


@numba.njit(cache=True, nogil=True)
def _draw(stream: Uint64Array, bound: int) -> int:
    """Return the next integer under `bound` of the stream (splitmix64; the bias is under 2^-40 for small bounds)."""
    stream[0] += np.uint64(0x9E3779B97F4A7C15)
    mixed = stream[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed = mixed ^ (mixed >> np.uint64(31))
    return int(((mixed >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@numba.njit(cache=True, nogil=True)
def _shuffle(items: Int64Array, count: int, stream: Uint64Array) -> None:
    for last in range(count - 1, 0, -1):
        other = _draw(stream, last + 1)
        items[last], items[other] = items[other], items[last]


@numba.njit(cache=True, nogil=True)
def _random_bit(mask: int, stream: Uint64Array) -> int:
    """Return one of the set bits of a mask, each as likely."""
    count = 0
    rest = mask
    while rest:
        rest &= rest - 1
        count += 1
    for _ in range(_draw(stream, count)):
        mask &= mask - 1
    return mask & -mask


@numba.njit(cache=True, nogil=True)
def random_grid(values: Uint8Array, units: Int64Array, stream: Uint64Array) -> None:
    """Write a random full grid into `values`: random digits where fewest candidates are, undone at dead ends."""
    cells = values.shape[0]
    size = units[cells - 1, 0] + 1
    full = (1 << size) - 1
    used = np.zeros(3 * size, np.int64)
    once = np.zeros(3 * size, np.int64)
    twice = np.zeros(3 * size, np.int64)
    trail = np.zeros((cells, 2), np.int64)
    values[:] = 0
    depth = 0
    descend = True
    while True:
        if descend:
            cell, free = choose_cell(values, units, used, once, twice, full)
            if cell < 0:
                return
            trail[depth, 0], trail[depth, 1] = cell, free
            depth += 1
        cell, free = trail[depth - 1, 0], trail[depth - 1, 1]
        clear_cell(values, units, used, cell)
        descend = free != 0
        if descend:
            bit = _random_bit(free, stream)
            trail[depth - 1, 1] = free ^ bit
            fill_cell(values, units, used, cell, bit)
        else:
            depth -= 1


@numba.njit(cache=True, nogil=True)
def _forced(puzzle: Uint8Array, cell: int, digit: int, units: Int64Array, peers: Int64Array) -> bool:
    """Return whether a single proves `digit` in the blank `cell`: then blanking it kept the solution unique."""
    seen = 0
    for index in range(peers.shape[1]):
        seen |= 1 << int(puzzle[peers[cell, index]])
    size = units[puzzle.shape[0] - 1, 0] + 1
    if seen | 1 | (1 << digit) == (1 << (size + 1)) - 1:
        return True
    for kind in range(3):
        alone = True
        for index in range(peers.shape[1]):
            other = peers[cell, index]
            if puzzle[other] == 0 and units[other, kind] == units[cell, kind]:
                barred = False
                for further in range(peers.shape[1]):
                    if puzzle[peers[other, further]] == digit:
                        barred = True
                        break
                if not barred:
                    alone = False
                    break
        if alone:
            return True
    return False


@numba.njit(cache=True, nogil=True)
def still_unique(
    puzzle: Uint8Array, cell: int, digit: int, units: Int64Array, peers: Int64Array, levels: Int64Array
) -> bool:
    """Return whether the puzzle, unique with `digit` in the now blank `cell`, is still unique without it."""
    if _forced(puzzle, cell, digit, units, peers):
        return True
    size = units[puzzle.shape[0] - 1, 0] + 1
    if size == 9:
        return not has_other_solution(levels, puzzle, cell, digit)
    values = np.zeros_like(puzzle)
    used = np.zeros(3 * size, np.int64)
    trail = np.zeros((puzzle.shape[0] + 1, 2), np.int64)
    nowhere = np.zeros((0, puzzle.shape[0]), np.uint8)
    for other in range(1, size + 1):
        if other != digit:
            puzzle[cell] = other
            possible = start_search(puzzle, units, used, values)
            puzzle[cell] = 0
            if possible and run_search(values, units, used, trail, 0, 1, nowhere)[0]:
                return False
    return True


@numba.njit(cache=True, nogil=True)
def _dig(
    puzzle: Uint8Array,
    solution: Uint8Array,
    target: int,
    units: Int64Array,
    peers: Int64Array,
    levels: Int64Array,
    stream: Uint64Array,
) -> int:
    """Blank givens in random order while the solution stays unique, up to `target` blanks; return the blanks."""
    order = np.arange(puzzle.shape[0])
    _shuffle(order, puzzle.shape[0], stream)
    blanks = 0
    for cell in range(puzzle.shape[0]):
        blanks += int(puzzle[cell] == 0)
    for place in range(puzzle.shape[0]):
        cell = int(order[place])
        if blanks >= target:
            break
        if puzzle[cell]:
            puzzle[cell] = 0
            if still_unique(puzzle, cell, solution[cell], units, peers, levels):
                blanks += 1
            else:
                puzzle[cell] = solution[cell]
    return blanks


@numba.njit(cache=True, nogil=True)
def _refill(puzzle: Uint8Array, solution: Uint8Array, count: int, stream: Uint64Array) -> None:
    """Give `count` random blanks their digit back."""
    while count:
        cell = _draw(stream, puzzle.shape[0])
        if puzzle[cell] == 0:
            puzzle[cell] = solution[cell]
            count -= 1


@numba.njit(cache=True, nogil=True)
def _dig_grid(
    kept: Uint8Array,
    grid: Uint8Array,
    target: int,
    units: Int64Array,
    peers: Int64Array,
    stream: Uint64Array,
    rounds: int,
) -> tuple[int, int]:
    """Dig a full grid into `kept`; where that gets stuck, refill some blanks and dig elsewhere, `rounds` times.

    Returns:
        Most blanks reached, and digs done.
    """
    levels = np.zeros(LEVELS * LEVEL, np.int64)
    kept[:] = grid
    reached = 0
    for turn in range(rounds + 1):
        trial = kept.copy()
        if turn:
            _refill(trial, grid, 1 + _draw(stream, min(reached, _MOST_REFILLED)), stream)
        blanks = _dig(trial, grid, target, units, peers, levels, stream)
        if blanks >= reached:
            reached = blanks
            kept[:] = trial
        if reached >= target:
            return reached, turn + 1
    return reached, rounds + 1


@numba.njit(cache=True, nogil=True)
def dig_puzzle(
    puzzle: Uint8Array,
    solution: Uint8Array,
    target: int,
    units: Int64Array,
    peers: Int64Array,
    stream: Uint64Array,
    attempts: int,
    rounds: int,
) -> tuple[int, int]:
    """Dig a puzzle of exactly `target` blanks with one solution.

    Args:
        puzzle: receives the puzzle with most blanks so far, shape [cells].
        solution: receives its grid, shape [cells].
        target: blanks asked for.
        units: from `unit_table`.
        peers: from `peer_table`.
        stream: state of the random stream, shape [1]; advanced.
        attempts: grids to try.
        rounds: refills to try on each grid.

    Returns:
        Most blanks reached, and digs done.
    """
    best, digs = -1, 0
    grid, kept = np.zeros_like(solution), np.zeros_like(solution)
    for _ in range(attempts):
        random_grid(grid, units, stream)
        reached, turns = _dig_grid(kept, grid, target, units, peers, stream, rounds)
        digs += turns
        if reached > best:
            best = reached
            puzzle[:] = kept
            solution[:] = grid
        if best >= target:
            break
    return best, digs


@numba.njit(cache=True, nogil=True)
def dig_batch(
    seeds: Uint64Array,
    targets: Int64Array,
    units: Int64Array,
    peers: Int64Array,
    attempts: int,
    rounds: int,
    puzzles: Uint8Array,
    solutions: Uint8Array,
    reached: Int64Array,
) -> int:
    """Dig one puzzle for each seed and target; stop after the first that misses its target.

    Returns:
        Digs done for the last puzzle tried; `reached` holds the blanks of each, 0 where none was tried.
    """
    digs = 0
    for index in range(seeds.shape[0]):
        stream = seeds[index : index + 1].copy()
        blanks, digs = dig_puzzle(
            puzzles[index], solutions[index], targets[index], units, peers, stream, attempts, rounds
        )
        reached[index] = blanks
        if blanks < targets[index]:
            break
    return digs
