"""Exact search on 9x9 Sudokus, compiled, on bit boards of one band and one digit each.

A board of candidates is 27 integers: for each band (three rows) and digit the cells of the band where the digit can
still go. Bit 9k + 3r + s stands for row r of the band, stack s, column k of the stack, so that the nine *minirows* (a
row within a box) lie under one another: `x | x >> 9 | x >> 18` tells which of them hold a candidate. A digit takes one
minirow in each row and each box of a band; a table of 512 entries keeps the minirows that some such choice uses, which
settles locked candidates and hidden singles of rows and boxes at once.

A search is a stack of levels in one flat array (see `LEVEL`), so that a caller can take some solutions and come back.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.extending import intrinsic
from numpy.typing import NDArray

Uint8Array = NDArray[np.uint8]
Int64Array = NDArray[np.int64]

OPEN_ROWS = 27
"""Offset in a level of the rows without the digit yet, one integer per band, bit 3 * digit + row."""
OPEN_CELLS = 30
"""Offset of the cells without a digit yet, one integer per band."""
CHANGED = 33
"""Offset of the bit boards that changed and wait to be looked at, bit 9 * band + digit."""
PAIRS = 34
"""Offset of the cells with exactly two candidates, one integer per band."""
LEVEL = 40
"""Integers of one level: the 27 bit boards at 9 * band + digit, then the offsets above."""
LEVELS = 82
"""Levels that a search can need: one per guessed cell."""

_FULL = (1 << 27) - 1
_MINIROWS = (1 << 9) - 1
_EACH_COLUMN = 0o007007007
_THREE_PLANES = 1 | 1 << 9 | 1 << 18


def _bit(row: int, column: int) -> int:
    """Return the bit number of a cell within its band."""
    return 9 * (column % 3) + 3 * (row % 3) + column // 3


def _usable_minirows() -> Int64Array:
    """Return for each set of possible minirows the cells of those that some full choice uses, shape [512]."""
    table = np.zeros(512, dtype=np.int64)
    choices = [sum(1 << (3 * row + stack) for row, stack in enumerate(order)) for order in permutations(range(3))]
    for possible in range(512):
        used = 0
        for choice in choices:
            if choice & possible == choice:
                used |= choice
        table[possible] = used * _THREE_PLANES
    return table


def _cell_masks() -> tuple[Int64Array, Int64Array]:
    """Return for each bit the cells of its band that keep a digit placed there, and those of its column, shape [27]."""
    keeps, columns = np.zeros(27, dtype=np.int64), np.zeros(27, dtype=np.int64)
    cells = [(row, column) for row in range(3) for column in range(9)]
    for row, column in cells:
        bit = _bit(row, column)
        keeps[bit] = 1 << bit | sum(
            1 << _bit(other, across) for other, across in cells if other != row and across // 3 != column // 3
        )
        columns[bit] = sum(1 << _bit(other, column) for other in range(3))
    return keeps, columns


_USABLE = _usable_minirows()
_KEEPS, _COLUMN = _cell_masks()
_ROW = np.array([0o7 << 3 * row for row in range(3)], dtype=np.int64) * _THREE_PLANES
_BIT_OF_CELL = np.array([_bit(cell // 9, cell % 9) for cell in range(81)], dtype=np.int64)
_CELL_OF_BIT = np.array(
    [[27 * band + int(np.flatnonzero(_BIT_OF_CELL[:27] == bit)[0]) for bit in range(27)] for band in range(3)],
    dtype=np.int64,
)


@intrinsic
def lowest(typing_context: Any, mask: Any) -> Any:
    """Return the number of the lowest set bit of a mask that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return mask(mask), generate


@numba.njit(cache=True, nogil=True, inline="always")
def _place(levels: Int64Array, base: int, band: int, digit: int, bit: int) -> None:
    """Leave `digit` no other place than `bit` in the row, column and box of that cell."""
    index = 9 * band + digit
    levels[base + index] &= _KEEPS[bit]
    changed = levels[base + CHANGED] | 1 << index
    for other in range(3):
        if other != band:
            lost = levels[base + 9 * other + digit] & _COLUMN[bit]
            levels[base + 9 * other + digit] ^= lost
            changed |= (lost != 0) << (9 * other + digit)
    levels[base + CHANGED] = changed


@numba.njit(cache=True, nogil=True)
def load(levels: Int64Array, givens: Uint8Array) -> bool:
    """Enter the givens into the first level; return whether none conflict."""
    for index in range(27):
        levels[index] = _FULL
    for band in range(3):
        levels[OPEN_ROWS + band] = _FULL
        levels[OPEN_CELLS + band] = _FULL
    levels[CHANGED] = 0
    for cell in range(81):
        if givens[cell]:
            band, digit, bit = cell // 27, int(givens[cell]) - 1, _BIT_OF_CELL[cell]
            if not levels[9 * band + digit] >> bit & 1:
                return False
            _place(levels, 0, band, digit, bit)
            levels[OPEN_ROWS + band] ^= 1 << (3 * digit + cell // 9 % 3)
            levels[OPEN_CELLS + band] ^= 1 << bit
    for band in range(3):
        for digit in range(9):
            placed = 0
            for row in range(3):
                if not levels[OPEN_ROWS + band] >> (3 * digit + row) & 1:
                    placed |= int(_ROW[row])
            levels[9 * band + digit] &= levels[OPEN_CELLS + band] | placed
    levels[CHANGED] = _FULL
    return True


@numba.njit(cache=True, nogil=True)
def _propagate(levels: Int64Array, base: int) -> bool:
    """Follow every change to its end; return False at a contradiction."""
    changed = levels[base + CHANGED]
    while changed:
        index = lowest(changed)
        changed &= changed - 1
        board = levels[base + index]
        board &= _USABLE[(board | board >> 9 | board >> 18) & _MINIROWS]
        if board == 0:
            return False
        levels[base + index] = board
        band = index // 9
        digit = index - 9 * band
        columns = (board | board >> 3 | board >> 6) & _EACH_COLUMN
        first, second, third = columns & 7, columns >> 9 & 7, columns >> 18
        alone = (first ^ second ^ third) & ~(first & second & third)
        if alone:
            taken = (columns & (alone * _THREE_PLANES)) * 0o111
            for other in range(digit, 27, 9):
                if other != index:
                    lost = levels[base + other] & taken
                    levels[base + other] ^= lost
                    changed |= (lost != 0) << other
        rows = levels[base + OPEN_ROWS + band] >> 3 * digit & 7
        while rows:
            row = lowest(rows)
            rows &= rows - 1
            cell = board & _ROW[row]
            if cell & (cell - 1) == 0:
                levels[base + OPEN_ROWS + band] ^= 1 << (3 * digit + row)
                levels[base + OPEN_CELLS + band] &= ~cell
                for other in range(9 * band, 9 * band + 9):
                    lost = levels[base + other] & cell
                    if other != index:
                        levels[base + other] ^= lost
                        changed |= (lost != 0) << other
    levels[base + CHANGED] = 0
    return True


@numba.njit(cache=True, nogil=True)
def _naked_singles(levels: Int64Array, base: int) -> int:
    """Place every naked single: 1 if there was one, 0 if not, -1 at a cell without candidates. Notes the pairs."""
    result = 0
    for band in range(3):
        once, twice, thrice = 0, 0, 0
        for index in range(base + 9 * band, base + 9 * band + 9):
            board = levels[index]
            thrice |= twice & board
            twice |= once & board
            once |= board
        if once != _FULL:
            return -1
        levels[base + PAIRS + band] = twice & ~thrice
        singles = once & ~twice & levels[base + OPEN_CELLS + band]
        while singles:
            bit = lowest(singles)
            singles &= singles - 1
            digit = 0
            while digit < 9 and not levels[base + 9 * band + digit] >> bit & 1:
                digit += 1
            if digit == 9:
                return -1
            _place(levels, base, band, digit, bit)
            result = 1
    return result


@numba.njit(cache=True, nogil=True)
def _guess(levels: Int64Array, base: int) -> None:
    """Open the next level with one candidate placed, and take that candidate away in this one."""
    band = 0
    while band < 2 and levels[base + PAIRS + band] == 0:
        band += 1
    cells = levels[base + PAIRS + band]
    if cells == 0:
        band = 0
        while levels[base + OPEN_CELLS + band] == 0:
            band += 1
        cells = levels[base + OPEN_CELLS + band]
    bit = lowest(cells)
    digit = 0
    while not levels[base + 9 * band + digit] >> bit & 1:
        digit += 1
    for index in range(LEVEL):
        levels[base + LEVEL + index] = levels[base + index]
    _place(levels, base + LEVEL, band, digit, bit)
    levels[base + 9 * band + digit] ^= 1 << bit
    levels[base + CHANGED] = 1 << (9 * band + digit)


@numba.njit(cache=True, nogil=True)
def _read(levels: Int64Array, base: int, solution: Uint8Array) -> None:
    """Write the digits of a level whose every row is settled."""
    for band in range(3):
        for digit in range(9):
            board = levels[base + 9 * band + digit]
            while board:
                solution[_CELL_OF_BIT[band, lowest(board)]] = digit + 1
                board &= board - 1


@numba.njit(cache=True, nogil=True)
def run(levels: Int64Array, depth: int, wanted: int, found: Uint8Array) -> tuple[int, int]:
    """Continue a search until `wanted` solutions are counted or nothing is left.

    Args:
        levels: the search, shape [LEVELS * LEVEL]; from `load` at first.
        depth: 0 at first, later what the last call returned.
        wanted: number of solutions at which to stop.
        found: receives the first solutions, shape [any, 81].

    Returns:
        Number of solutions counted, and the depth to continue from; depth -1 means that the search is complete.
    """
    count = 0
    while depth >= 0:
        base = depth * LEVEL
        if not _propagate(levels, base):
            depth -= 1
        elif levels[base + OPEN_ROWS] | levels[base + OPEN_ROWS + 1] | levels[base + OPEN_ROWS + 2] == 0:
            if count < found.shape[0]:
                _read(levels, base, found[count])
            count += 1
            depth -= 1
            if count >= wanted:
                return count, depth
        else:
            outcome = _naked_singles(levels, base)
            if outcome < 0:
                depth -= 1
            elif outcome == 0:
                _guess(levels, base)
                depth += 1
    return count, depth


@numba.njit(cache=True, nogil=True)
def has_other_solution(levels: Int64Array, givens: Uint8Array, cell: int, digit: int) -> bool:
    """Return whether the blank `cell` can hold anything but `digit` in a solution; overwrites the search."""
    if not load(levels, givens):
        return False
    levels[9 * (cell // 27) + digit - 1] &= ~(1 << _BIT_OF_CELL[cell])
    return run(levels, 0, 1, np.zeros((0, 81), np.uint8))[0] > 0


@numba.njit(cache=True, nogil=True)
def count_batch(grids: Uint8Array, wanted: int, counts: Int64Array, solutions: Uint8Array) -> None:
    """Count the solutions of each grid up to `wanted` and keep the first one.

    Args:
        grids: shape [puzzles, 81], 0 where blank.
        wanted: number of solutions at which a count stops.
        counts: receives the counts, shape [puzzles].
        solutions: receives the first solutions, shape [puzzles, 81].
    """
    levels = np.zeros(LEVELS * LEVEL, np.int64)
    for puzzle in range(grids.shape[0]):
        counts[puzzle] = 0
        if load(levels, grids[puzzle]):
            counts[puzzle] = run(levels, 0, wanted, solutions[puzzle : puzzle + 1])[0]
