"""Plays and generates for long, and watches memory, speed and promises.

    python benchmarks/soak.py                                   # 10^6 steps a puzzle and interface, 10^5 instances
    python benchmarks/soak.py --steps 50000 --instances 2000    # the same, shorter
    python benchmarks/soak.py --only rush-hour:split generate:shop

Replies are random legal moves, several at once, so that some are illegal, and garbage; in three of ten episodes the
legal ones are the expert's. Nothing ends an episode but the goal and the budgets, so that long ones occur. Each part is
written to the results file when it is finished, and a part that stands there with at least as many steps is not run
again. Exit status 1 if anything grew, slowed or broke.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium
import numpy as np
from scipy import stats

import horizon_bench
from curricula import rush_hour, shop, sudoku_generator
from curricula.levels import LEVELS
from puzzles import PUZZLES
from solvers import oracle, sudoku_canonical, sudoku_solve
from solvers import rush_hour as rush_hour_solver

SUBJECTS = {"sudoku-4x4": "T3", "sudoku-9x9": "L3", "rush-hour": "R2", "shop": "S3"}
"""Level of each puzzle that is played and generated."""
SAMPLES = 50
"""Looks at the memory in each part."""
WARM_UP = 0.2
"""Share of a part after which caches must be full; memory is judged from there on."""
MOST_GROWTH = 0.02
"""Of the memory held, in the rest of the part, at the upper end of the interval."""
MOST_SLOWING = 0.15
"""Loss of speed from the first tenth to the last that counts as none."""
PIECES = (
    "<think>",
    "</think>",
    "```",
    "\n",
    "value(",
    ")",
    "r1c1",
    "9",
    "move(B, up, 1)",
    "search(",
    ",",
    "what(",
    "\0",
)


@dataclass(frozen=True)
class Result:
    """What one part of the soak found."""

    part: str
    count: int
    """Steps taken or instances made."""
    seconds: float
    """Processor seconds."""
    first_speed: float
    """Steps or instances a processor second in the first tenth."""
    last_speed: float
    memory_mib: float
    """Resident at the end."""
    slope: float
    """Growth of the memory after the warm-up, in KiB for 1,000 steps or instances."""
    slope_low: float
    slope_high: float
    episodes: int
    repeats: int
    """Instances whose content key had come up before."""
    broken: tuple[str, ...]

    def faults(self) -> list[str]:
        """Return what is wrong."""
        found = list(self.broken)
        rest = self.count * (1 - WARM_UP)
        if self.slope_low > 0 and self.slope_low * rest / 1000 / 1024 > MOST_GROWTH * self.memory_mib:
            found.append(f"memory grows by {self.slope:.2f} KiB for 1,000")
        if self.last_speed < (1 - MOST_SLOWING) * self.first_speed:
            found.append(f"speed fell from {self.first_speed:.0f} to {self.last_speed:.0f}")
        return found


class Watch:
    """Samples of memory and processor time along a part."""

    def __init__(self, total: int) -> None:
        self.total, self.every = total, max(1, total // SAMPLES)
        self.counts: list[int] = [0]
        self.seconds: list[float] = [time.process_time()]
        self.memory: list[float] = [memory_mib()]

    def look(self, count: int) -> None:
        """Take a sample if one is due."""
        if count - self.counts[-1] >= self.every:
            self.counts.append(count)
            self.seconds.append(time.process_time())
            self.memory.append(memory_mib())

    def result(self, part: str, *, episodes: int = 0, repeats: int = 0, broken: Sequence[str] = ()) -> Result:
        """Return the whole part in numbers."""
        tenth = max(1, (len(self.counts) - 1) // 10)
        slope, half = self._slope()
        return Result(
            part,
            self.counts[-1],
            self.seconds[-1] - self.seconds[0],
            self._speed(1, 1 + tenth) if len(self.counts) > tenth + 1 else self._speed(0, tenth),
            self._speed(-1 - tenth, -1),
            self.memory[-1],
            slope,
            slope - half,
            slope + half,
            episodes,
            repeats,
            tuple(broken),
        )

    def _speed(self, begin: int, end: int) -> float:
        return (self.counts[end] - self.counts[begin]) / max(1e-9, self.seconds[end] - self.seconds[begin])

    def _slope(self) -> tuple[float, float]:
        """Return the growth in KiB for 1,000 and half its 95 % interval, over the samples after the warm-up."""
        kept = [index for index, count in enumerate(self.counts) if count >= WARM_UP * self.total]
        if len(kept) < 4:
            return math.nan, math.nan
        x = np.array([self.counts[index] / 1000 for index in kept])
        y = np.array([self.memory[index] * 1024 for index in kept])
        line = stats.linregress(x, y)
        return float(line.slope), float(line.stderr * stats.t.ppf(0.975, len(kept) - 2))


def memory_mib() -> float:
    """Return the resident memory of this process in MiB; where the system does not tell, the most it ever had."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def random_reply(env: Any, interface: str, guided: bool, rng: np.random.Generator) -> str:
    """Return a reply: half of them legal moves, or the expert's where the episode is guided; the others are garbage."""
    kind = rng.random()
    puzzle, state = env.puzzle, env.state
    if kind < 0.5:
        moves = (guided and env.oracle.expert_moves(state)) or puzzle.moves(state)
        if not moves:
            return ""
        if interface == "split":
            words = puzzle.format_action(moves[rng.integers(len(moves))]).rstrip(")").partition("(")[2].split(",", 1)
            return (f"what({words[0].strip()})", f"where({words[-1].strip()})")[int(rng.integers(2))]
        count = 1 if interface == "atomic" else int(rng.integers(1, 4))
        return "\n".join(puzzle.format_action(moves[rng.integers(len(moves))]) for _ in range(count))
    if kind < 0.7:
        return "".join(PIECES[rng.integers(len(PIECES))] for _ in range(int(rng.integers(12))))
    if kind < 0.75:
        return "x" * int(rng.integers(5000))
    return "".join(chr(int(rng.integers(1, 0xD7FF))) for _ in range(int(rng.integers(60))))


def play(name: str, interface: str, steps: int) -> Result:
    """Return what `steps` decisions of one puzzle under one interface did to memory and speed."""
    level = LEVELS[SUBJECTS[name]]
    wrapped = gymnasium.make(horizon_bench.ready_id(level.name, interface), on_error="stay", max_decisions=200)
    env: Any = wrapped.unwrapped
    rng = np.random.default_rng(np.random.SeedSequence(0))
    wrapped.reset(seed=0)
    watch, ends, guided = Watch(steps), Counter[str](), False
    for count in range(1, steps + 1):
        _, reward, terminated, truncated, info = wrapped.step(random_reply(env, interface, guided, rng))
        if not math.isfinite(float(reward)):
            return watch.result(f"{name}:{interface}", broken=[f"reward {reward} at step {count}"])
        if terminated or truncated:
            ends[info["end_reason"]] += 1
            wrapped.reset()
            guided = bool(rng.random() < 0.3)
        watch.look(count)
    print(f"  ends: {dict(sorted(ends.items()))}", file=sys.stderr)
    return watch.result(f"{name}:{interface}", episodes=sum(ends.values()))


def generate(name: str, instances: int) -> Result:
    """Return what making instances did, and every promise that one of them broke."""
    # Fingerprints in memory that is taken at once, so that what grows is not this list.
    keys = np.full(instances, 2**64 - 1, np.uint64)
    watch, broken = Watch(instances), list[str]()
    for made, (key, faults) in enumerate(MAKERS[name](name, instances), start=1):
        keys[made - 1] = int.from_bytes(blake2b(key.encode(), digest_size=8).digest(), "big")
        broken += faults
        watch.look(made)
    repeats = instances - len(np.unique(keys))
    return watch.result(f"generate:{name}", repeats=repeats, broken=broken[:5])


Made = Iterator[tuple[str, list[str]]]


def sudoku(name: str, count: int) -> Made:
    """Make Sudoku puzzles; the search for a second solution is another program than the one that digs."""
    level, batch = LEVELS[SUBJECTS[name]], 500
    for sequence in np.random.SeedSequence(1).spawn(-(-count // batch)):
        rng = np.random.default_rng(sequence)
        made = sudoku_generator.generate(min(batch, count), level.size, (level.low, level.high), rng=rng)
        grids = np.stack([sudoku_solve.puzzle_array(each.givens) for each in made])
        solutions, _ = sudoku_solve.solve_batch(grids, limit=2)
        for each, number, key in zip(
            made, solutions, sudoku_canonical.keys([each.givens for each in made]), strict=True
        ):
            blanks = each.givens.count(".")
            faults = [] if number == 1 else [f"{each.givens} has {number} solutions"]
            if not level.low <= blanks <= level.high or blanks != each.blanks:
                faults.append(f"{each.givens} has {blanks} blanks, not those of {level.name}")
            if any(given not in (".", digit) for given, digit in zip(each.givens, each.solution, strict=True)):
                faults.append(f"{each.solution} does not solve {each.givens}")
            yield key, faults


def rush_hour_boards(name: str, count: int) -> Made:
    """Make boards; the plan is found by another search than the one that made the board, and played."""
    level, puzzle = LEVELS[SUBJECTS[name]], PUZZLES["rush-hour"]()
    for sequence in np.random.SeedSequence(2).spawn(count):
        board = rush_hour.generate(level.low, level.high, np.random.default_rng(sequence))
        steps = rush_hour_solver.distance(board)
        plan = oracle(puzzle, board).plan(board)
        yield puzzle.key(board), _checked(puzzle, board, plan, steps, level)


def shopping_lists(name: str, count: int) -> Made:
    """Make shopping lists; the plan is played to its end."""
    level = LEVELS[SUBJECTS[name]]
    puzzle = PUZZLES["shop"](size=level.size)
    for sequence in np.random.SeedSequence(3).spawn(count):
        state = puzzle.parse(shop.generate(level.low, level.high, np.random.default_rng(sequence), puzzle))
        known = oracle(puzzle, state)
        yield puzzle.key(state), _checked(puzzle, state, known.plan(state), known.distance, level)


def _checked(puzzle: Any, start: Any, plan: Any, distance: int | None, level: Any) -> list[str]:
    text = puzzle.format(start)
    if plan is None or distance is None:
        return [f"{text} cannot be solved"]
    faults = [] if level.low <= distance <= level.high else [f"{text} takes {distance}, not those of {level.name}"]
    state = start
    for move in plan:
        state = puzzle.apply(state, move)
    if not puzzle.solved(state) or len(plan) != distance:
        faults.append(f"a plan of {len(plan)} moves for {text}, at distance {distance}, ends elsewhere")
    return faults


MAKERS: dict[str, Callable[[str, int], Made]] = {
    "sudoku-4x4": sudoku,
    "sudoku-9x9": sudoku,
    "rush-hour": rush_hour_boards,
    "shop": shopping_lists,
}


def table(results: Sequence[Result]) -> str:
    """Return the results as a table in Markdown."""
    lines = [
        "| part | steps or instances | processor seconds | a second, first tenth | last tenth | MiB at the end "
        "| growth, KiB for 1,000 [95 %] | repeated keys | verdict |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {each.part} | {each.count:,} | {each.seconds:.0f} | {each.first_speed:,.0f} | {each.last_speed:,.0f} "
        f"| {each.memory_mib:.0f} | {each.slope:.2f} [{each.slope_low:.2f}, {each.slope_high:.2f}] "
        f"| {each.repeats if each.part.startswith('generate') else '-'} | {'; '.join(each.faults()) or 'holds'} |"
        for each in results
    ]
    return "\n".join(lines)


def read(path: Path) -> dict[str, Result]:
    """Return the finished parts of a results file, the longest of each."""
    found: dict[str, Result] = {}
    for line in path.read_text(encoding="utf8").splitlines() if path.exists() else []:
        fields = json.loads(line)
        result = Result(**{**fields, "broken": tuple(fields["broken"])})
        if result.part not in found or found[result.part].count <= result.count:
            found[result.part] = result
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10**6, help="decisions for each puzzle and interface")
    parser.add_argument("--instances", type=int, default=10**5, help="instances made of each puzzle")
    parser.add_argument("--only", nargs="+", metavar="PART", help="puzzle:interface or generate:puzzle; part of a name")
    parser.add_argument("--results", type=Path, default=Path("soak.jsonl"))
    chosen = parser.parse_args(arguments)
    parts = [f"{name}:{interface}" for name in SUBJECTS for interface in horizon_bench.INTERFACES]
    parts += [f"generate:{name}" for name in SUBJECTS]
    wanted = [part for part in parts if chosen.only is None or any(word in part for word in chosen.only)]
    if not wanted:
        parser.error(f"no part is named so; known: {', '.join(parts)}")
    for part in wanted:
        first, _, second = part.partition(":")
        total = chosen.instances if first == "generate" else chosen.steps
        known = read(chosen.results).get(part)
        if known is not None and known.count >= total - total // SAMPLES:
            continue
        result = generate(second, total) if first == "generate" else play(first, second, total)
        with chosen.results.open("a", encoding="utf8") as file:
            file.write(json.dumps(asdict(result)) + "\n")
        print(f"{part}: {result.count / result.seconds:,.0f} a second; {result.faults() or 'holds'}", file=sys.stderr)
    results = read(chosen.results)
    print(table([results[part] for part in parts if part in results]))
    return int(any(each.faults() for each in results.values()))


if __name__ == "__main__":
    sys.exit(main())
