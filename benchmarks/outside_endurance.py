"""Plays many episodes of a world and watches what they leave behind: memory, processes, files, sockets, threads.

    python benchmarks/outside_endurance.py scienceworld --longest 8 --decisions 1 --kills 5
    python benchmarks/outside_endurance.py alfworld --data FOLDER --kills 10
    python benchmarks/outside_endurance.py textworld-played --kills 10
    python benchmarks/outside_endurance.py textworld
    python benchmarks/outside_endurance.py shop

Every fourth episode is the expert's, to its end; the others are random and short. In the last fifth of the run the
world's processes are killed, each at a random moment of a random episode: no kill may cost more than its episode. Exit
status 1 if memory grew before, if more was open in the end than at first, or if anything is left after closing.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from curricula.banks import load_bank
from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.outside.alfworld import ALFWorld
from horizon_bench.outside.scienceworld import ScienceWorld
from horizon_bench.outside.textworld import TextWorld
from horizon_bench.outside.textworld_played import TextWorldPlayed
from horizon_bench.policies.expert import ExpertPolicy, RandomPolicy
from puzzles.base import Puzzle
from puzzles.shop import Shop

APART = {"scienceworld": ScienceWorld, "alfworld": ALFWorld, "textworld-played": TextWorldPlayed}
"""Worlds that run in processes of their own."""
WITHIN = {"textworld": TextWorld, "shop": Shop}
STARTS = 25
"""Of each level, so that caches of what is known about a start are full long before memory is compared."""
EXPERT_EVERY = 4
ALLOWED_GROWTH = 1.1
"""Of memory, from the first third of the samples to the last."""
PEACEFUL = 0.8
"""Share of the run without kills, in which memory is watched."""


class Sample(NamedTuple):
    """What the run holds at one moment."""

    own_mib: int
    children_mib: int
    children: int
    files: int
    """Open files, pipes and devices of this process."""
    sockets: int
    threads: int
    drafts: int
    """Temporary files and folders."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("world", choices=[*APART, *WITHIN])
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--decisions", type=int, default=5, help="of a random episode (default 5)")
    parser.add_argument("--kills", type=int, default=0, help="processes of the world that are killed (default 0)")
    parser.add_argument("--data", type=Path, help="ALFWorld's data folder")
    parser.add_argument("--longest", type=int, default=30, help="gold commands of a ScienceWorld task at most")
    chosen = parser.parse_args(arguments)
    if chosen.kills and chosen.world not in APART:
        parser.error(f"{chosen.world} runs in this process: there is nothing to kill; leave --kills out")
    puzzle, tasks = world_and_tasks(chosen)
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        samples, reasons = play(puzzle, tasks, chosen)
        puzzle.close()
        time.sleep(1.0)
        after = sample()
        tempfile.tempdir = None
    used = sum(os.times()[:4])
    print(f"ends: {dict(sorted(reasons.items()))}; {used:.0f} s of CPU")
    print(f"after closing: {after}")
    return int(grown(samples, after) or reasons["crashed"] > chosen.kills)


def world_and_tasks(chosen: argparse.Namespace) -> tuple[Puzzle[Any, Any], list[str]]:
    """Return the world and the texts of its training starts, levels in turn."""
    puzzle: Any = ALFWorld(chosen.data) if chosen.world == "alfworld" else (APART | WITHIN)[chosen.world]()
    if chosen.world == "shop":
        return puzzle, [one.start for level in ("S1", "S2", "S3", "S4") for one in load_bank(level, "train")[:STARTS]]
    by_level = [list(puzzle.starts(level, "train")) for level in puzzle.levels()]
    if chosen.world == "scienceworld":
        by_level = [[text for text in texts if len(puzzle.gold(text)) <= chosen.longest] for texts in by_level]
    return puzzle, [texts[number % len(texts)] for number in range(STARTS) for texts in by_level if texts]


def play(
    puzzle: Puzzle[Any, Any], tasks: Sequence[str], chosen: argparse.Namespace
) -> tuple[list[Sample], Counter[str]]:
    """Play episodes; return a sample for each twentieth of them, and how they ended."""
    env = PuzzleEnv(puzzle=lambda: puzzle, instance=tasks[0], interface="atomic", on_error="stay")
    generator = np.random.default_rng(0)
    first_kill, episodes = int(PEACEFUL * chosen.episodes), chosen.episodes
    doomed = Counter(generator.integers(first_kill, episodes, size=chosen.kills).tolist())
    samples, reasons, began = [], Counter[str](), time.monotonic()
    for number in range(episodes):
        mean = (time.monotonic() - began) / max(number, 1)
        killers = [
            threading.Timer(generator.random() * mean, kill_one, (generator.random(),)) for _ in range(doomed[number])
        ]
        for killer in killers:
            killer.start()
        reasons[episode(env, tasks[number % len(tasks)], number, chosen.decisions, generator)] += 1
        for killer in killers:
            killer.join()
        if (number + 1) % max(1, episodes // 20) == 0:
            samples.append(sample())
            print(f"{number + 1} episodes, {time.monotonic() - began:.0f} s: {samples[-1]}", flush=True)
    return samples, reasons


def episode(env: PuzzleEnv, task: str, number: int, most: int, generator: np.random.Generator) -> str:
    """Play one episode; return how it ended."""
    observation, _ = env.reset(options={"instance": task})
    policy: Any = RandomPolicy()
    if number % EXPERT_EVERY == 0:
        policy, most = ExpertPolicy(), sys.maxsize
    for _ in range(most):
        reply = policy.reply([observation], [env], [generator])[0]
        observation, _, terminated, truncated, info = env.step(reply.text)
        if terminated or truncated:
            return str(info["end_reason"])
    return "stopped"


def kill_one(share: float) -> None:
    """Kill one of the children; `share` of 0 to 1 says which."""
    children = _children()
    if children:
        os.kill(int(children[int(share * len(children))]), signal.SIGKILL)


def sample() -> Sample:
    """Return what this process and its children hold now (Linux)."""
    children = _children()
    opened = [str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    sockets = sum(each.startswith("socket:") for each in opened)
    return Sample(
        _mib("self"),
        sum(map(_mib, children)),
        len(children),
        len(opened) - sockets,
        sockets,
        threading.active_count(),
        len(list(Path(tempfile.gettempdir()).iterdir())),
    )


def grown(samples: Sequence[Sample], after: Sample) -> bool:
    """Return whether a run left anything behind, and say what."""
    peaceful = samples[: int(PEACEFUL * len(samples))]
    third = max(1, len(peaceful) // 3)
    found = []
    for name in ("own_mib", "children_mib"):
        before, now = (
            np.mean([getattr(each, name) for each in part]) for part in (peaceful[:third], peaceful[-third:])
        )
        print(f"{name}: {before:.0f} in the first third before any kill, {now:.0f} in the last")
        if now > ALLOWED_GROWTH * before:
            found.append(f"{name} grew")
    for name in ("children", "files", "sockets", "threads", "drafts"):
        first, last = getattr(peaceful[third - 1], name), getattr(samples[-1], name)
        if last > first:
            found.append(f"{name} grew from {first} to {last}")
    found += [
        f"{name} left: {getattr(after, name)}" for name in ("children", "sockets", "drafts") if getattr(after, name)
    ]
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
