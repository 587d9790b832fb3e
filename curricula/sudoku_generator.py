"""Sudokus to order: exactly the blanks asked for, exactly one solution and, if asked, a known technique.

Equal seeds give equal puzzles; neighbouring seeds have nothing in common. A request that cannot be met ends in a
`GenerationError` that says what was tried and how far it got.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from puzzles.sudoku_symmetry import board_text
from solvers.sudoku_digging import dig_batch
from solvers.sudoku_search import peer_table, unit_table

if TYPE_CHECKING:
    from curricula.sudoku_techniques import TechniqueRequest

MOST_BLANKS: dict[int, int] = {4: 12, 6: 28, 9: 64}
"""Most blanks that a puzzle with one solution can have, by size (4, 8 and 17 givens are the proven minima)."""

Seed = int | np.random.SeedSequence


class GenerationError(ValueError):
    """The request was not met within its budget; the message says what was tried and how far it got."""


@dataclass(frozen=True)
class GeneratedSudoku:
    """One generated puzzle with the facts it was made to."""

    givens: str
    """The puzzle as one line, `.` where blank."""
    solution: str
    """Its only solution."""
    blanks: int
    """Blank cells, counted."""


def generate(
    count: int,
    size: int = 9,
    blanks: tuple[int, int] | int = (41, 45),
    seed: Seed = 0,
    *,
    technique: str | Collection[str] | None = None,
    restrict: Collection[str] | None = None,
    rng: np.random.Generator | None = None,
    attempts: int | None = None,
) -> list[GeneratedSudoku]:
    """Return `count` puzzles, each with exactly one solution and a number of blanks drawn evenly from a range.

    Puzzle number i is the same whatever `count` is.

    Args:
        count: number of puzzles.
        size: rows of the board: 4, 6 or 9.
        blanks: lowest and highest number of blanks, or the one number.
        seed: seed of everything drawn; ignored where `rng` is given.
        technique: hardest technique that a puzzle must need, by its name in `solvers.techniques.TECHNIQUES`; of several
            names any one.
        restrict: names of techniques that together must suffice.
        rng: generator to draw from instead of the seed.
        attempts: grids to try for each puzzle before giving up; by default 400, with a technique 100.

    Raises:
        GenerationError: if a puzzle was not found within `attempts` grids.
        ValueError: if an argument is out of range.
    """
    low, high = (blanks, blanks) if isinstance(blanks, int) else blanks
    plain = technique is None and restrict is None
    budget = (400 if plain else 100) if attempts is None else attempts
    _check_request(count, size, low, high, budget)
    drawing = rng if rng is not None else np.random.default_rng(seed)
    seeds = drawing.integers(0, 2**64, size=(count, 2), dtype=np.uint64)
    targets = low + (seeds[:, 1] % np.uint64(high - low + 1)).astype(np.int64)
    if plain:
        return _dig_all(size, np.ascontiguousarray(seeds[:, 0]), targets, budget)
    # The technique checker is imported here only: most banks do without.
    from curricula.sudoku_techniques import TechniqueRequest

    request = TechniqueRequest.of(technique, restrict)
    numbers = zip(seeds[:, 0].tolist(), targets.tolist(), strict=True)
    return [_by_technique(size, target, request, number, budget) for number, target in numbers]


def _check_request(count: int, size: int, low: int, high: int, attempts: int) -> None:
    """Raise `ValueError` for a request that is wrong or proven impossible."""
    if size not in MOST_BLANKS:
        raise ValueError(f"size must be one of {', '.join(map(str, MOST_BLANKS))}, not {size!r}")
    if count < 0 or attempts < 1:
        raise ValueError(f"count must be at least 0 and attempts at least 1, not {count!r} and {attempts!r}")
    if not 0 <= low <= high:
        raise ValueError(f"blanks must be a range from low to high, not {low!r} to {high!r}")
    if high > MOST_BLANKS[size]:
        raise GenerationError(
            f"{high} blanks asked: no {size}x{size} Sudoku with more than {MOST_BLANKS[size]} blanks has one solution "
            "(proven); nothing was tried"
        )


def _dig_all(size: int, seeds: NDArray[np.uint64], targets: NDArray[np.int64], attempts: int) -> list[GeneratedSudoku]:
    """Dig one puzzle per seed and target."""
    puzzles = np.zeros((len(seeds), size * size), np.uint8)
    solutions, reached = np.zeros_like(puzzles), np.zeros(len(seeds), np.int64)
    digs = dig_batch(seeds, targets, unit_table(size), peer_table(size), attempts, 20, puzzles, solutions, reached)
    missed = np.flatnonzero(reached < targets)
    if len(missed):
        index = int(missed[0])
        raise GenerationError(
            f"{targets[index]} blanks with one solution asked on {size}x{size}: {attempts} grids and {digs} digs "
            f"reached {reached[index]} blanks; ask for fewer blanks or allow more attempts"
        )
    return [
        GeneratedSudoku(board_text(puzzle.tobytes()), board_text(solution.tobytes()), int(blanks))
        for puzzle, solution, blanks in zip(puzzles, solutions, reached, strict=True)
    ]


def _by_technique(size: int, target: int, request: TechniqueRequest, seed: int, attempts: int) -> GeneratedSudoku:
    """Return one puzzle that meets a technique request."""
    from curricula.sudoku_techniques import technique_puzzle

    givens, solution, account = technique_puzzle(size, target, request, seed, attempts)
    if not givens:
        raise GenerationError(
            f"{target} blanks with one solution and {request} asked on {size}x{size}: {account}; "
            "ask for other blanks or techniques, or allow more attempts"
        )
    return GeneratedSudoku(givens, solution, givens.count("."))
