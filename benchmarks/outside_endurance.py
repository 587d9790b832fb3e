"""Plays many episodes of a world from outside and watches what they leave behind: memory, processes, files.

    python benchmarks/outside_endurance.py scienceworld --episodes 1000
    python benchmarks/outside_endurance.py alfworld --episodes 1000 --data FOLDER

Every second episode is the expert's, the others are random and short. Exit status 1 if anything grew.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.outside.alfworld import ALFWorld
from horizon_bench.outside.scienceworld import ScienceWorld
from horizon_bench.outside.world import World
from horizon_bench.policies.expert import ExpertPolicy, RandomPolicy

RANDOM_DECISIONS = 5
ALLOWED_GROWTH = 1.1
"""Of memory, from the first third of the run to the last."""


class Sample(NamedTuple):
    """What the run holds at one moment."""

    own_mib: int
    children_mib: int
    children: int
    files: int
    drafts: int
    """Files and folders in the folder for temporary ones."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("world", choices=["scienceworld", "alfworld"])
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--data", type=Path, help="ALFWorld's data folder")
    parser.add_argument("--longest", type=int, default=30, help="gold commands of a ScienceWorld task at most")
    parser.add_argument("--minutes", type=float, default=60.0, help="stop after this time")
    chosen = parser.parse_args(arguments)
    world: World = ScienceWorld() if chosen.world == "scienceworld" else ALFWorld(chosen.data)
    tasks = [text for level in world.levels() for text in world.starts(level, "train")]
    if isinstance(world, ScienceWorld):
        tasks = [text for text in tasks if len(world.gold(text)) <= chosen.longest]
    samples, reasons = play(world, tasks, chosen.episodes, 60 * chosen.minutes)
    world.close()
    after = sample()
    print(f"ends: {dict(sorted(reasons.items()))}; after closing: {after.children} children, {after.files} files open")
    return int(grown(samples, after))


def play(world: World, tasks: Sequence[str], episodes: int, seconds: float) -> tuple[list[Sample], Counter[str]]:
    """Play episodes; return a sample for each tenth of them, and how they ended."""
    env = PuzzleEnv(puzzle=lambda: world, instance=tasks[0], interface="atomic", on_error="stay")
    samples, reasons, began = [], Counter[str](), time.monotonic()
    generator = np.random.default_rng(0)
    for number in range(episodes):
        observation, _ = env.reset(options={"instance": tasks[number // 2 % len(tasks)]})
        policy, most = (ExpertPolicy(1), 10_000) if number % 2 == 0 else (RandomPolicy(), RANDOM_DECISIONS)
        over, decisions = False, 0
        while not over and decisions < most:
            reply = policy.reply([observation], [env], [generator])[0]
            observation, _, terminated, truncated, info = env.step(reply.text)
            over, decisions = terminated or truncated, decisions + 1
        reasons[info["end_reason"] or "stopped"] += 1
        if (number + 1) % max(1, episodes // 10) == 0:
            samples.append(sample())
            print(f"{number + 1} episodes, {time.monotonic() - began:.0f} s: {samples[-1]}", flush=True)
        if time.monotonic() - began > seconds:
            print(f"stopped after {number + 1} episodes: the time is up")
            break
    return samples, reasons


def sample() -> Sample:
    """Return what this process and its children hold now (Linux)."""
    children = _children()
    return Sample(
        _mib("self"),
        sum(map(_mib, children)),
        len(children),
        len(list(Path("/proc/self/fd").iterdir())),
        len(list(Path(tempfile.gettempdir()).glob("horizon-bench-*"))),
    )


def grown(samples: Sequence[Sample], after: Sample) -> bool:
    """Return whether a run left anything behind, and say what."""
    third = max(1, len(samples) // 3)
    first, last = samples[:third], samples[-third:]
    found = []
    for name in ("own_mib", "children_mib"):
        before, now = (np.mean([getattr(each, name) for each in part]) for part in (first, last))
        if now > ALLOWED_GROWTH * before:
            found.append(f"{name} grew from {before:.0f} to {now:.0f}")
    for name in ("children", "files", "drafts"):
        if last[-1]._asdict()[name] > first[0]._asdict()[name]:
            found.append(f"{name} grew from {getattr(first[0], name)} to {getattr(last[-1], name)}")
    if after.children:
        found.append(f"{after.children} children are left")
    print("; ".join(found) or "nothing grew, nothing is left")
    return bool(found)


def _children() -> list[str]:
    """Return the numbers of this process's children."""
    return [
        number for thread in Path("/proc/self/task").iterdir() for number in (thread / "children").read_text().split()
    ]


def _mib(process: str) -> int:
    """Return the resident memory of a process in MiB; 0 if it has ended."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * 4096 // 2**20


if __name__ == "__main__":
    sys.exit(main())
