"""Generate 9x9 Sudokus with one solution on one core, against lib-sudoku (Rust) and reasoning-gym in the same run.

Run `python benchmarks/sudoku_generation.py` with `pip install lib-sudoku reasoning-gym` beside the project; a package
that is not installed is named and left out, as are blanks that it does not offer. Every puzzle of every package is
checked for exact blanks and one solution. Times are processor time; compiling is timed apart.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from curricula.sudoku_generator import generate
from solvers.sudoku import solve_batch

Draw = Callable[[int], list[int]]
"""Digits of one new puzzle with the given number of blanks."""


def lib_sudoku_draw() -> Draw | None:
    try:
        import lib_sudoku
    except ImportError:
        return None
    return lambda blanks: list(lib_sudoku.gen_unsolved(81 - blanks))


def reasoning_gym_draw() -> Draw | None:
    try:
        import reasoning_gym
    except ImportError:
        return None
    sets: dict[int, object] = {}
    numbers = iter(range(10**9))

    def draw(blanks: int) -> list[int]:
        if blanks not in sets:
            sets[blanks] = reasoning_gym.create_dataset(
                "sudoku", min_empty=blanks, max_empty=blanks, size=10**9, seed=1
            )
        puzzle = sets[blanks][next(numbers)]["metadata"]["puzzle"]
        return [digit for row in puzzle for digit in row]

    return draw


def kept(puzzles: list[list[int]], blanks: int) -> int:
    """Return how many puzzles have exactly the blanks asked for and one solution."""
    grids = np.array(puzzles, dtype=np.uint8)
    counts, _ = solve_batch(grids, limit=2)
    return int(((counts == 1) & ((grids == 0).sum(axis=1) == blanks)).sum())


def compare(blanks: int, count: int, seconds: float) -> None:
    start = time.process_time()
    puzzles = generate(count, 9, blanks, seed=3)
    ours = count / (time.process_time() - start)
    good = kept([[int(digit) for digit in puzzle.givens.replace(".", "0")] for puzzle in puzzles], blanks)
    print(f"{blanks} blanks: {ours:,.0f}/s, {good} of {count} as asked")
    for name, draw in {"lib-sudoku": lib_sudoku_draw(), "reasoning-gym": reasoning_gym_draw()}.items():
        if draw is None:
            print(f"  {name}: not installed")
            continue
        try:
            draw(blanks)
        except ValueError as error:
            print(f"  {name}: {error}")
            continue
        drawn: list[list[int]] = []
        start = time.process_time()
        while time.process_time() - start < seconds:
            drawn.append(draw(blanks))
        spent = time.process_time() - start
        good = kept(drawn, blanks)
        all_of = f"{len(drawn) / spent:,.1f}/s, ratio {ours * spent / len(drawn):,.1f}"
        print(f"  {name}: {all_of}; {good} of {len(drawn)} as asked ({good / spent:,.1f}/s)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=3000, help="puzzles that this project makes")
    parser.add_argument("--seconds", type=float, default=8.0, help="time for each other package")
    options = parser.parse_args()
    start = time.process_time()
    generate(1, 9, 20)
    print(f"compiling or loading the compiled generator: {time.process_time() - start:.1f} s")
    for blanks in (30, 45, 54):
        compare(blanks, options.count, options.seconds)


if __name__ == "__main__":
    main()
