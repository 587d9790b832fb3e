"""Does a small model read its milestone field, and does it help?

`python benchmarks/milestone_field.py [SEEDS] [STEPS]`; by default 3 seeds of 300 steps.

For each seed two models learn from the same 4x4 boards for as many steps, one with the field and one without. Then each
plays the same test puzzles; the one with the field also with the milestones of each plan in random order. A model that
ignores its field plays alike under both orders. Minutes a seed on one core.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from curricula import Instance, load_bank
from curricula.levels import make_puzzle
from horizon_bench.envs.settings import Settings
from horizon_bench.evaluation import evaluate
from horizon_bench.milestones import MilestonePlan, MilestonePolicy, solver_plan
from horizon_bench.milestones.field import usual_slots
from horizon_bench.milestones.policy import Planner
from horizon_bench.policies import Policy, Seat
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.settings import tiny_model, tiny_settings
from horizon_bench.training.sft import train_sft

ROWS, TRAINED, TESTED, PUZZLES, ATTEMPTS = 4, ("T1", "T2", "T3"), ("T2", "T3", "T4"), 60, 4


def trained(slots: int, seed: int, steps: int) -> TinyPolicy:
    """Return a model after SFT, with a field of that many slots."""
    puzzle, size = make_puzzle("sudoku", ROWS), tiny_model(ROWS, "sudoku")
    policy = TinyPolicy.create(
        puzzle, ROWS * ROWS, hidden_size=size.hidden_size, layers=size.layers, milestone_slots=slots, seed=seed
    )
    config = replace(tiny_settings(ROWS, "sudoku").sft, steps=steps, seed=seed)
    report = train_sft(policy, puzzle, [one for level in TRAINED for one in load_bank(level, "train")], config)
    print(f"seed {seed}, {slots} slots: first actions right", _shares(report.accuracy), flush=True)
    return policy


def _shares(accuracy: dict[str, float]) -> str:
    return ", ".join(f"{name.split('_')[0]} {share:.1%}" for name, share in accuracy.items() if "first" in name)


def shuffled(rng: np.random.Generator) -> Planner:
    """Return a planner that puts the solver's milestones in random order."""

    def planner(seat: Seat) -> MilestonePlan:
        plan = solver_plan(seat.puzzle, seat.oracle)
        return MilestonePlan(tuple(plan.milestones[index] for index in rng.permutation(len(plan))), "shuffled")

    return planner


def success(policy: Policy, tests: dict[str, list[Instance]], interface: str, seed: int) -> dict[str, float]:
    """Return the share of solved attempts at each level."""
    settings = Settings(observation="compact", interface=interface, on_error="semi")
    return {
        level: float(np.mean([one.solved for one in evaluate(policy, bank, settings, ATTEMPTS, 0.8, seed)]))
        for level, bank in tests.items()
    }


def main() -> None:
    """Print success by level for every model, order of milestones and interface."""
    words = sys.argv[1:]
    seeds, steps = int(words[0]) if words else 3, int(words[1]) if len(words) > 1 else 300
    rng = np.random.default_rng(0)
    tests = {level: load_bank(level, "test")[:PUZZLES] for level in TESTED}
    for seed in range(seeds):
        plain, fielded = trained(0, seed, steps), trained(usual_slots(make_puzzle("sudoku", ROWS)), seed, steps)
        guided = MilestonePolicy(fielded)
        players: dict[str, Policy] = {
            "no field": plain,
            "solver's order": guided,
            "random order": MilestonePolicy(fielded, planner=shuffled(rng)),
        }
        for interface in ("atomic", "macro"):
            for name, player in players.items():
                found = success(player, tests, interface, seed)
                shares = "  ".join(f"{level} {share:.1%}" for level, share in found.items())
                print(f"  {interface:<8}{name:<16}{shares}", flush=True)
        print(f"  {guided.costs.text()}", flush=True)


if __name__ == "__main__":
    main()
