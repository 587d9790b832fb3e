"""Solve, count and enumerate Sudokus of any size, one at a time or in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import overload

import numpy as np
from numpy.typing import NDArray

from puzzles.sudoku import Sudoku, SudokuState, sudoku_size
from puzzles.sudoku_layout import BOX_SHAPES
from puzzles.sudoku_symmetry import board_text
from solvers import sudoku_bands
from solvers.sudoku_search import count_batch, run_search, start_search, unit_table

Uint8Array = NDArray[np.uint8]
NO_LIMIT = int(np.iinfo(np.int64).max)
"""The limit that stands for `None`."""

_CHUNK = 256


class SolutionCount(int):
    """A number of solutions that knows whether it is exact.

    It is an `int`; as text a lower bound reads `>=2`.
    """

    exact: bool
    """False if the count stopped at its limit, so that there may be more solutions."""

    def __new__(cls, count: int, exact: bool) -> SolutionCount:
        """Return the count with its claim."""
        number = super().__new__(cls, count)
        number.exact = exact
        return number

    def __str__(self) -> str:
        return f"{int(self)}" if self.exact else f">={int(self)}"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec) if spec == "" else format(int(self), spec)

    def __repr__(self) -> str:
        return f"SolutionCount({int(self)}, exact={self.exact})"

    def __reduce__(self) -> tuple[type[SolutionCount], tuple[int, bool]]:
        return SolutionCount, (int(self), self.exact)


@cache
def _puzzle_of(size: int) -> Sudoku:
    return Sudoku(size)


def puzzle_array(puzzle: str | SudokuState) -> Uint8Array:
    """Return the digits that a puzzle's text or state shows, shape [cells], 0 where blank.

    Raises:
        ValueError: if a text is no Sudoku board.
    """
    if isinstance(puzzle, SudokuState):
        return np.frombuffer(puzzle.values, dtype=np.uint8)
    return np.frombuffer(_puzzle_of(sudoku_size(puzzle)).parse(puzzle).values, dtype=np.uint8)


def grid_text(digits: Uint8Array) -> str:
    """Return a board of digits as one line, `.` where blank."""
    return board_text(digits.tobytes())


def checked_limit(limit: int | None) -> int:
    """Return `limit` as a number.

    Raises:
        ValueError: if it is under 1.
    """
    if limit is None:
        return NO_LIMIT
    if limit < 1:
        raise ValueError(f"limit must be at least 1, or None for an exact count, not {limit!r}")
    return int(limit)


def checked_grids(grids: Uint8Array) -> tuple[Uint8Array, int]:
    """Return a batch as a contiguous array of digits with its board size.

    Raises:
        ValueError: if the shape is not [puzzles, cells] of a known board, or an entry is no digit of it.
    """
    batch = np.asarray(grids)
    sizes = {size * size: size for size in BOX_SHAPES}
    if batch.ndim != 2 or batch.shape[1] not in sizes:
        raise ValueError(f"a batch has shape [puzzles, {' | '.join(map(str, sizes))}], not {list(batch.shape)}")
    size = sizes[batch.shape[1]]
    if batch.size and (batch.dtype.kind not in "iu" or batch.min() < 0 or batch.max() > size):
        raise ValueError(f"a batch of {size}x{size} boards holds integers from 0 (blank) to {size}")
    return np.ascontiguousarray(batch, dtype=np.uint8), size


def _count_part(grids: Uint8Array, size: int, wanted: int, counts: NDArray[np.int64], solutions: Uint8Array) -> None:
    """Count one part of a batch into `counts` and `solutions`."""
    if size == 9:
        sudoku_bands.count_batch(grids, wanted, counts, solutions)
    else:
        count_batch(grids, unit_table(size), wanted, counts, solutions)


def solve_batch(grids: Uint8Array, limit: int | None = 2, threads: int = 1) -> tuple[NDArray[np.int64], Uint8Array]:
    """Count the solutions of many boards of one size.

    Args:
        grids: digits, shape [puzzles, cells], 0 where blank.
        limit: number of solutions at which a count stops; a count equal to it is a lower bound. None counts all.
        threads: number of threads that share the batch.

    Returns:
        Counts, shape [puzzles], and the first solution found of each, shape [puzzles, cells], zeros where none.

    Raises:
        ValueError: if shape, entries, limit or threads are out of range.
    """
    batch, size = checked_grids(grids)
    wanted = checked_limit(limit)
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads!r}")
    counts = np.zeros(len(batch), np.int64)
    solutions = np.zeros_like(batch)
    if threads == 1:
        _count_part(batch, size, wanted, counts, solutions)
        return counts, solutions
    starts = range(0, len(batch), _CHUNK)
    with ThreadPoolExecutor(threads) as pool:
        parts = [slice(start, start + _CHUNK) for start in starts]
        list(pool.map(lambda part: _count_part(batch[part], size, wanted, counts[part], solutions[part]), parts))
    return counts, solutions


@overload
def count_solutions(puzzle: str | SudokuState, limit: int | None = 2) -> SolutionCount: ...  # type: ignore[overload-overlap]
@overload
def count_solutions(puzzle: Sequence[str | SudokuState], limit: int | None = 2) -> list[SolutionCount]: ...
def count_solutions(
    puzzle: str | SudokuState | Sequence[str | SudokuState], limit: int | None = 2
) -> SolutionCount | list[SolutionCount]:
    """Return the number of solutions of a puzzle, or of each puzzle of a list.

    Args:
        puzzle: text or state, or a list of them; sizes may be mixed.
        limit: number at which counting stops; the count is then a lower bound. None counts all, however many.

    Returns:
        The count; `exact` says whether it is one or a lower bound. Conflicting givens have 0 solutions.

    Raises:
        ValueError: if a text is no Sudoku board, or the limit is under 1.
    """
    wanted = checked_limit(limit)
    if isinstance(puzzle, (str, SudokuState)):
        return count_solutions([puzzle], limit)[0]
    grids = [puzzle_array(one) for one in puzzle]
    found = [SolutionCount(0, True)] * len(grids)
    for cells in {len(grid) for grid in grids}:
        members = [index for index, grid in enumerate(grids) if len(grid) == cells]
        counts, _ = solve_batch(np.stack([grids[index] for index in members]), limit)
        for index, count in zip(members, counts.tolist(), strict=True):
            found[index] = SolutionCount(count, count < wanted)
    return found


def solve(puzzle: str | SudokuState) -> str | None:
    """Return a solution as one line of digits, or None if there is none.

    It is *the* solution where `count_solutions` says 1; else one of several, the same every time.

    Raises:
        ValueError: if a text is no Sudoku board.
    """
    counts, solutions = solve_batch(puzzle_array(puzzle)[None], 1)
    return grid_text(solutions[0]) if counts[0] else None


def enumerate_solutions(puzzle: str | SudokuState, limit: int | None = None) -> Iterator[str]:
    """Yield the solutions one by one, each once, in a fixed order; at most `limit` of them.

    Raises:
        ValueError: if a text is no Sudoku board, or the limit is under 1.
    """
    return _solutions(puzzle_array(puzzle), checked_limit(limit))


def _solutions(givens: Uint8Array, wanted: int) -> Iterator[str]:
    """Yield solutions from a search that rests between chunks."""
    proceed = _search(givens)
    found, depth = np.zeros((_CHUNK, len(givens)), np.uint8), 0
    while proceed is not None and wanted > 0 and depth >= 0:
        count, depth = proceed(depth, min(wanted, _CHUNK), found)
        wanted -= count
        for solution in found[:count]:
            yield grid_text(solution)


def _search(givens: Uint8Array) -> Callable[[int, int, Uint8Array], tuple[int, int]] | None:
    """Return what continues a search from a depth for some solutions; None if the givens conflict."""
    size = round(len(givens) ** 0.5)
    if size == 9:
        levels = np.zeros(sudoku_bands.LEVELS * sudoku_bands.LEVEL, np.int64)
        return partial(sudoku_bands.run, levels) if sudoku_bands.load(levels, givens) else None
    units, values, used = unit_table(size), np.zeros_like(givens), np.zeros(3 * size, np.int64)
    trail = np.zeros((len(givens) + 1, 2), np.int64)
    if not start_search(givens, units, used, values):
        return None
    return partial(run_search, values, units, used, trail)
