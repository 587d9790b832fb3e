"""Grading speed against hodoku-py, a Python port of HoDoKu, on puzzles that both grade; one core.

hodoku-py is GPL and no dependency: install it into an environment of its own and name its interpreter:

    python benchmarks/grading.py --hodoku path/to/other/environment/bin/python

Puzzles are generated here, as many of each kind: singles only, up to jellyfish, beyond jellyfish. Compile time is
reported apart.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time

import numpy as np

from curricula.sudoku_generator import generate
from solvers.techniques import TECHNIQUES, grade, grade_batch

KINDS = ("singles", "up to jellyfish", "beyond jellyfish")

HODOKU = """
import json, sys, time
from hodoku import Solver
solver, out = Solver(), {}
for kind, puzzles in json.load(sys.stdin).items():
    solver.rate(puzzles[0])
    start = time.process_time()
    scores = [solver.rate(puzzle).score for puzzle in puzzles]
    out[kind] = len(puzzles) / (time.process_time() - start)
json.dump(out, sys.stdout)
"""


def kind_of(hardest: str) -> str:
    order = next(technique.order for technique in TECHNIQUES if technique.name == hardest)
    return KINDS[0] if order <= 300 else KINDS[1] if order <= 2400 else KINDS[2]


def make_puzzles(count: int, seed: int) -> dict[str, list[str]]:
    """Return `count` puzzles of each kind that the techniques solve."""
    chosen: dict[str, list[str]] = {kind: [] for kind in KINDS}
    rng = np.random.default_rng(seed)
    while min(map(len, chosen.values())) < count:
        for puzzle in generate(100, 9, (46, 57), rng=rng):
            result = grade(puzzle.givens)
            if result.solved and result.hardest and len(chosen[kind_of(result.hardest)]) < count:
                chosen[kind_of(result.hardest)].append(puzzle.givens)
    return chosen


def rate(puzzles: list[str]) -> float:
    """Return puzzles a processor-second, over at least a second."""
    done, start = 0, time.process_time()
    while time.process_time() - start < 1:
        grade_batch(puzzles)
        done += len(puzzles)
    return done / (time.process_time() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hodoku", help="interpreter of an environment with hodoku-py; left out: ours only")
    parser.add_argument("--count", type=int, default=60, help="puzzles of each kind")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    start = time.process_time()
    puzzles = make_puzzles(arguments.count, arguments.seed)
    print(f"making the puzzles, with compilation or loading of compiled code: {time.process_time() - start:.1f} s")
    theirs: dict[str, float] = {}
    if arguments.hodoku:
        answer = subprocess.run(
            [arguments.hodoku, "-c", HODOKU], input=json.dumps(puzzles), capture_output=True, text=True, check=True
        )
        theirs = json.loads(answer.stdout)
    for kind in KINDS:
        ours = rate(puzzles[kind])
        ratio = f"  hodoku-py {theirs[kind]:6.1f}/s  ratio {ours / theirs[kind]:7.0f}" if theirs else ""
        print(f"{kind:18} ours {ours:8.0f}/s{ratio}")


if __name__ == "__main__":
    main()
