"""Count solutions up to two on one core, against python-sat's Cadical153 and rustoku in the same run.

Run `python benchmarks/sudoku_search.py [--puzzles FILE]` with `pip install python-sat rustoku` beside the project; a
package that is not installed is named and left out. Without a file the 17-clue puzzles are random symmetric copies of a
few of Gordon Royle's collection; the others come from the generator. Times are processor time, compiling apart.
"""

from __future__ import annotations

import argparse
import itertools
import pathlib
import time
from collections.abc import Callable

import numpy as np

from curricula.sudoku_generator import generate
from puzzles.sudoku import Sudoku
from puzzles.sudoku_symmetry import board_text, random_symmetry
from solvers.sudoku import count_solutions, solve_batch

ROYLE = (
    "4..8..5........1..........2...73..4...6....8..1.......3.....69.....12......4.....",
    ".83........5...6......1....17.....8....2...5.4........7..6..4.....5.3.........1..",
    ".1...3......2...7....6.....2.....3.57...4............1..2....8.6..3.........5.1..",
    "71..........6..2.........3.6.38............914............5.6.7....19........7...",
)
"""17-clue puzzles of Gordon Royle's collection."""

Count = Callable[[str], int]


def symmetric_copies(texts: tuple[str, ...], count: int) -> list[str]:
    rng, puzzle = np.random.default_rng(1), Sudoku(9)
    boards = [puzzle.parse(text).givens for text in texts]
    return [board_text(random_symmetry(9, rng).apply(boards[number % len(boards)])) for number in range(count)]


def as_array(texts: list[str]) -> np.ndarray:
    return np.array([[int(digit) for digit in text.replace(".", "0")] for text in texts], dtype=np.uint8)


def cadical_clauses() -> list[list[int]]:
    """Every cell has a digit, every unit each digit, and no two of either; variable 81 * digit + cell + 1."""
    units = Sudoku(9).layout.units
    groups = [[81 * digit + cell + 1 for digit in range(9)] for cell in range(81)]
    groups += [[81 * digit + cell + 1 for cell in unit] for unit in units for digit in range(9)]
    return groups + [[-first, -second] for group in groups for first, second in itertools.combinations(group, 2)]


def cadical_counter(fresh: bool) -> Count | None:
    """Count to two by Cadical153, in a new solver per puzzle or in one that keeps what it has learned."""
    try:
        from pysat.solvers import Cadical153
    except ImportError:
        return None
    clauses = cadical_clauses()
    shared = Cadical153(bootstrap_with=clauses)
    switches = itertools.count(730)

    def count(text: str) -> int:
        solver = Cadical153(bootstrap_with=clauses) if fresh else shared
        switch = next(switches)
        givens = [81 * (int(digit) - 1) + cell + 1 for cell, digit in enumerate(text) if digit != "."]
        if not solver.solve(assumptions=givens):
            return 0
        solver.add_clause([-switch, *(-literal for literal in solver.get_model()[:729] if literal > 0)])
        found = 2 if solver.solve(assumptions=[*givens, switch]) else 1
        if fresh:
            solver.delete()
        else:
            solver.add_clause([-switch])
        return found

    return count


def rustoku_counter() -> Count | None:
    try:
        import rustoku
    except ImportError:
        return None
    return lambda text: len(rustoku.solve_all(text))


def rate(count: Count, texts: list[str], seconds: float) -> tuple[float, list[int]]:
    """Return puzzles per second over at most `seconds`, and the counts."""
    counts: list[int] = []
    start = time.process_time()
    while len(counts) < len(texts) and time.process_time() - start < seconds:
        counts.append(count(texts[len(counts)]))
    return len(counts) / (time.process_time() - start), counts


def best_batch_rate(grids: np.ndarray, repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        solve_batch(grids, limit=2)
        best = min(best, time.process_time() - start)
    return len(grids) / best


def compare(name: str, texts: list[str], seconds: float) -> None:
    ours = best_batch_rate(as_array(texts), repeats=5)
    single, expected = rate(lambda text: int(count_solutions(text, limit=2)), texts, seconds)
    print(f"{name}: {ours:,.0f}/s as a batch of {len(texts)} arrays, {single:,.0f}/s one by one from text")
    others = {
        "python-sat Cadical153, new solver each": cadical_counter(fresh=True),
        "python-sat Cadical153, one solver": cadical_counter(fresh=False),
        "rustoku": rustoku_counter(),
    }
    for other, count in others.items():
        if count is None:
            print(f"  {other}: not installed")
            continue
        theirs, counts = rate(count, texts, seconds)
        same = "same counts" if counts[: len(expected)] == expected[: len(counts)] else "COUNTS DIFFER"
        print(f"  {other}: {theirs:,.0f}/s, ratio {ours / theirs:,.1f} ({same} on {len(counts)})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--puzzles", type=pathlib.Path, help="file of 17-clue (or other) puzzles, one a line")
    parser.add_argument("--count", type=int, default=4000, help="puzzles of each kind")
    parser.add_argument("--seconds", type=float, default=5.0, help="time for each other package")
    options = parser.parse_args()
    start = time.process_time()
    count_solutions("." * 81, limit=1)
    print(f"compiling or loading the compiled search: {time.process_time() - start:.1f} s")
    lines = options.puzzles.read_text().split() if options.puzzles else symmetric_copies(ROYLE, options.count)
    compare(f"17 clues ({options.puzzles or 'copies of 4'})", lines, options.seconds)
    for blanks in (30, 54):
        puzzles = [puzzle.givens for puzzle in generate(options.count, 9, blanks, seed=1)]
        compare(f"{blanks} blanks", puzzles, options.seconds)


if __name__ == "__main__":
    main()
