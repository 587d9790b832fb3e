"""Makes results folders whose truth is known: closed-form success, one collapsing run, episodes of real moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from horizon_bench.episodes import Episode, Turn
from horizon_bench.mira.calibration import calibration_metrics
from horizon_bench.mira.replay import Replayed, write_part
from reports.done import seal
from reports.records import (
    CellRecord,
    EvaluationRecord,
    Record,
    StoredEpisode,
    TimingRecord,
    UpdateRecord,
    append,
    write_cell,
    write_episodes,
)

LEVELS = {"T1": (4, 5), "T2": (6, 7), "T3": (8, 9), "T4": (10, 10), "T5": (11, 12)}
SOLVED = ("1234341221434321", "1234341243212143", "2143341212344321")
"""Solved 4x4 grids."""


@dataclass(frozen=True)
class Arm:
    """A cell and the per-action success of its policy after SFT and after RL."""

    name: str
    label: str
    interface: str = "atomic"
    reward: str = "outcome"
    estimator: str = "reinforce"
    train: tuple[str, ...] = ("T3",)
    before: float = 0.86
    after: float = 0.93
    collapsing_seeds: tuple[int, ...] = ()
    study: str = "horizon"
    techniques: tuple[str, ...] = ("-",)
    voided: float = 0.0
    critics: bool = False
    """Whether the runs have MiRA's critics and a replay buffer."""


ARMS = (
    Arm("study-sudoku-atomic-t2-outcome", "atomic, trained on T2", train=("T2",), after=0.92),
    Arm("study-sudoku-macro-t2-outcome", "macro, trained on T2", "macro", train=("T2",), before=0.87, after=0.94),
    Arm("study-sudoku-atomic-t3-outcome", "atomic, trained on T3", after=0.95, collapsing_seeds=(1,)),
    Arm("study-sudoku-macro-t3-outcome", "macro, trained on T3", "macro", before=0.87, after=0.96),
    Arm(
        "study-sudoku-atomic-t3-subgoal",
        "atomic + subgoals, trained on T3",
        "atomic",
        "subgoal",
        "subgoal-next",
        after=0.94,
    ),
)


@dataclass(frozen=True)
class Makers:
    """What a test needs to make results of its own."""

    results: Callable[..., Path]
    run: Callable[..., Path]
    arm: type[Arm]
    arms: tuple[Arm, ...]
    stored_episodes: Callable[..., list[StoredEpisode]]


@pytest.fixture(scope="session")
def make() -> Makers:
    """Return the makers of synthetic results."""
    return Makers(make_results, make_run, Arm, ARMS, stored_episodes)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a results folder of two conditions and two seeds, of which one run collapses; tests only read it."""
    folder = tmp_path_factory.mktemp("results")
    return make_results(folder, (ARMS[2], ARMS[3]), seeds=2, puzzles=12)


def make_results(folder: Path, arms: tuple[Arm, ...] = ARMS, seeds: int = 3, puzzles: int = 30) -> Path:
    """Write a results folder; returns it."""
    for arm in arms:
        for seed in range(seeds):
            make_run(folder, arm, seed, puzzles)
    return folder


def make_run(folder: Path, arm: Arm, seed: int, puzzles: int = 30, updates: int = 80) -> Path:
    """Write one run; returns its folder."""
    rng = np.random.default_rng([seed, len(arm.name), ord(arm.name[-1])])
    run = folder / arm.study / arm.name / str(seed)
    write_cell(run, cell_of(arm, seed))
    records: list[Record] = evaluations(arm, seed, "sft", 0, arm.before, puzzles, rng)
    for update in range(1, updates + 1):
        skill = _skill(arm, seed, update / updates)
        records.append(update_record(arm, seed, update, skill, rng))
        if update % 10 == 0:
            records += evaluations(arm, seed, "rl", update, skill, puzzles // 2, rng, split="validation")
    records += evaluations(arm, seed, "rl", updates, _skill(arm, seed, 1.0), puzzles, rng)
    append(run / "records.jsonl", records)
    speed = 0.5 if arm.interface == "atomic" else 0.7
    append(run / "timings.jsonl", (timing(arm, seed, update, speed) for update in range(1, updates + 1)))
    write_episodes(run / "episodes.parquet", stored_episodes(arm, seed, updates, rng))
    if arm.critics:
        write_replay(run, arm, seed, updates)
    seal(run, {})
    return run


def write_replay(run: Path, arm: Arm, seed: int, updates: int) -> None:
    """Write the last part of a replay buffer: one solved and one failed attempt, with what critics expected."""
    rng = np.random.default_rng(5)
    attempts = [episode("T3", 0, attempt, arm, rng) for attempt in range(30)]
    rows = []
    for one in attempts:
        count = len(one.turns)
        values = tuple(np.linspace(0.4, 0.9 if one.solved else 0.2, count).tolist())
        potentials = tuple(np.linspace(0.0, 0.9, count).tolist())
        rows.append(Replayed(one, updates - 1, 0, seed, arm.interface, 0.8, "-", "pool", values, potentials))
    write_part(run / "replay" / f"update-{updates - 1:06d}.parquet", rows)


def cell_of(arm: Arm, seed: int) -> CellRecord:
    """Return the settings of a run."""
    return CellRecord(
        arm.study,
        arm.name,
        seed,
        arm.label,
        "sudoku",
        4,
        arm.interface,
        arm.reward,
        arm.estimator,
        arm.train,
        tuple(LEVELS),
        preset="cpu",
        settings={
            "cell": {"interface": arm.interface, "on_error": "semi", "slip": arm.voided},
            "rollout": {"puzzles": 48, "attempts": 4},
            "learning_rate": 1e-3,
        },
        versions={"python": "3.11.2", "numpy": "2.4.0"},
    )


def evaluations(
    arm: Arm,
    seed: int,
    phase: str,
    update: int,
    skill: float,
    puzzles: int,
    rng: np.random.Generator,
    split: str = "test",
) -> list[Record]:
    """Return four attempts at each puzzle of each level, solved with probability skill ** distance."""
    rows: list[Record] = []
    for level, (low, high) in LEVELS.items():
        for index in range(puzzles):
            distance = low + index % (high - low + 1)
            technique = arm.techniques[index % len(arm.techniques)]
            for attempt in range(4):
                solved = bool(rng.random() < skill ** (distance + 2 * arm.techniques.index(technique)))
                decisions = distance if arm.interface == "atomic" else -(-distance // 3)
                rows.append(
                    EvaluationRecord(
                        arm.study,
                        arm.name,
                        seed,
                        phase,
                        update,
                        "sudoku",
                        arm.interface,
                        level,
                        distance,
                        f"{split}-{level}-{index}",
                        attempt,
                        solved,
                        decisions,
                        distance,
                        12 * decisions,
                        "solved" if solved else "wrong",
                        split=split,
                        technique=technique,
                        actions_written=distance,
                        lost_decisions=int(rng.binomial(decisions, arm.voided)),
                    )
                )
    return rows


def update_record(arm: Arm, seed: int, update: int, skill: float, rng: np.random.Generator) -> UpdateRecord:
    """Return the metrics of one update."""
    success = rng.binomial(192, skill**8.5) / 192
    macro = arm.interface == "macro"
    metrics = {
        "success": success,
        "episodes": 192.0,
        "groups": 48.0,
        "group_reward_std": 0.5 * np.sqrt(success * (1 - success)) + 0.01,
        "invalid_share": float(np.clip(1.2 * (1 - skill) + rng.normal(0, 0.01), 0, 1)),
        "voided_share": arm.voided,
        "capped_share": 0.0,
        "gradient_norm": float(rng.lognormal(0, 0.3)),
        "effective_sample_size": 0.95 - arm.voided * (update % 20) / 20,
        "approximate_kl": 1e-4,
        "entropy": float(0.4 * (1.1 - skill) + 0.2),
        "macro_length": 2.5 + 0.01 * update if macro else 1.0,
        "loss": float(rng.normal(0, 0.1)),
        "masked_share": arm.voided * (1 - skill),
        "car": 0.2 + arm.voided,
        "egr": 0.8 - arm.voided,
        "zar": 0.3 * arm.voided,
        "ccr": 1.1 + arm.voided,
    }
    if arm.critics:
        for critic in ("value", "potential"):
            chances = rng.random(400)
            metrics |= calibration_metrics(critic, chances, (rng.random(400) < chances).astype(float))
    calls = 192 * (3 if macro else 9) * update
    return UpdateRecord(
        arm.study, arm.name, seed, "rl", update, "+".join(arm.train), metrics, 12 * calls, calls, 192 * 9 * update
    )


def timing(arm: Arm, seed: int, update: int, seconds: float) -> TimingRecord:
    """Return the time of one update."""
    return TimingRecord(arm.study, arm.name, seed, "rl", update, seconds, seconds * update)


def stored_episodes(arm: Arm, seed: int, update: int, rng: np.random.Generator) -> list[StoredEpisode]:
    """Return four attempts at one puzzle of each of three levels, made of real moves."""
    return [
        StoredEpisode(
            arm.study,
            arm.name,
            seed,
            "rl",
            update,
            "sudoku",
            4,
            arm.interface,
            episode(level, group, attempt, arm, rng),
        )
        for group, level in enumerate(("T1", "T3", "T5"))
        for attempt in range(4)
    ]


def episode(level: str, group: int, attempt: int, arm: Arm, rng: np.random.Generator) -> Episode:
    """Return an attempt that fills blanks in order and may end with a wrong digit."""
    solution = SOLVED[group % len(SOLVED)]
    distance = LEVELS[level][0]
    blanks = sorted(np.random.default_rng(group).permutation(16)[:distance].tolist())
    start = "".join("." if cell in blanks else digit for cell, digit in enumerate(solution))
    size = 1 if arm.interface == "atomic" else 3
    fails_at = int(rng.integers(1, 2 * distance))
    turns: list[Turn] = []
    for first in range(0, distance, size):
        part = blanks[first : first + size]
        wrong = first <= fails_at < first + size
        moves = [f"value({solution[cell]}, r{cell // 4 + 1}c{cell % 4 + 1})" for cell in part]
        if wrong:
            cell = part[-1]
            moves[-1] = f"value({int(solution[cell]) % 4 + 1}, r{cell // 4 + 1}c{cell % 4 + 1})"
        last = first + size >= distance
        turns.append(turn(moves, distance - first, last and not wrong, wrong, first))
        if wrong:
            break
    solved = not wrong
    return Episode(
        f"key-{group}",
        start,
        level,
        distance,
        group,
        attempt,
        tuple(turns),
        solved,
        True,
        False,
        "solved" if solved else "wrong",
    )


def turn(moves: list[str], before: int, solved: bool, wrong: bool, index: int) -> Turn:
    """Return one decision that carries out `moves`."""
    return Turn(
        observation="board",
        reply=f"<think> b1 <3 & more> </think> {' '.join(moves)}",
        prompt_ids=np.arange(5),
        reply_ids=np.arange(12),
        sampling_logprobs=np.full(12, -0.1, dtype=np.float32),
        entropy=0.3,
        capped=False,
        format_ok=True,
        legal=not wrong,
        actions_written=len(moves),
        moves=tuple(moves),
        illegal_actions=0,
        reward=float(solved),
        step_reward=0.1,
        subgoals_reached=(index % 4,) if index % 3 == 2 else (),
        own_subgoal=index % 4,
        state_hash=2**63 + index,
        distance_before=before,
        distance_after=None if wrong else before - len(moves),
    )


def _skill(arm: Arm, seed: int, progress: float) -> float:
    if seed in arm.collapsing_seeds and progress > 0.45:
        return 0.5
    return arm.before + (arm.after - arm.before) * min(1.0, progress / 0.6)
