"""What the small model learns in the shop: SFT, success by level, a few RL updates, success again. About 40 s of CPU.

    python benchmarks/shop_trial.py --updates 12

Figures in docs/outside/shop.md come from here (seed 0); a share of 100 lists has a standard error of up to 5 points.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict

import numpy as np

from curricula.banks import load_bank
from curricula.levels import SHOP_SIZE
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.policies.vocabulary import FEEDBACK
from horizon_bench.rollout import rollout
from horizon_bench.training.configs import RolloutConfig, UpdateConfig
from horizon_bench.training.rl import train_rl
from horizon_bench.training.settings import tiny_model, tiny_settings
from horizon_bench.training.sft import grade, train_sft
from horizon_bench.training.traces import MODE_TOKENS, expert_states
from puzzles.shop import Shop
from studies.factors import Cell
from studies.recipe import environment
from studies.training_settings import SFT_LEVELS, taught

LEVELS = ("S1", "S2", "S3", "S4")
LISTS, TRAINED = 100, "S3"


def success(policy: TinyPolicy, cell: Cell, interface: str, lists: int) -> str:
    """Return the share of test lists that are met, by level."""
    settings, shares = environment(cell, interface), []
    for level in LEVELS:
        episodes = rollout(policy, load_bank(level, "test")[:lists], settings, seed=3)
        shares.append(f"{level} {sum(episode.solved for episode in episodes) / len(episodes):.2f}")
    return f"{interface}: {', '.join(shares)}"


def by_operation(policy: TinyPolicy, puzzle: Shop) -> dict[str, str]:
    """Return how many first actions are right, by the operation of the expert's own, on its ways through new lists."""
    generator, counts = np.random.default_rng(1), defaultdict[str, list[bool]](list)
    starts = [one.start for level in ("S2", "S3") for one in load_bank(level, "validation")[:20]]
    places = list(expert_states(puzzle, starts, generator))
    prompts = [" ".join((*puzzle.compact(state), FEEDBACK[0], MODE_TOKENS["atomic"])) for _, state in places]
    for (oracle, state), reply in zip(places, policy.reply(prompts, (), generator.spawn(len(prompts))), strict=True):
        right = grade(puzzle, oracle, state, reply.text).right[:1]
        counts[oracle.expert_moves(state)[0].operation].append(right == (True,))
    return {operation: f"{sum(rights)}/{len(rights)}" for operation, rights in counts.items()}


def main() -> None:
    """Train and print."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--interface", default="atomic", choices=("atomic", "macro", "split"))
    reader.add_argument("--updates", type=int, default=12)
    reader.add_argument("--seed", type=int, default=0)
    asked = reader.parse_args()
    cell = Cell("shop", "s", asked.interface, ((TRAINED,),), run_as="atomic" if asked.interface == "split" else "")
    puzzle, size = Shop(SHOP_SIZE), tiny_model(SHOP_SIZE, "shop")
    lists = [one for level in SFT_LEVELS["s"] for one in load_bank(level, "train")]
    board = len(puzzle.compact(puzzle.parse(lists[0].start)))
    policy = TinyPolicy.create(puzzle, board, hidden_size=size.hidden_size, layers=size.layers, seed=asked.seed)
    clock = time.process_time()
    made = train_sft(policy, puzzle, lists, taught(cell, tiny_settings(SHOP_SIZE, "shop").sft))
    print(f"SFT: {time.process_time() - clock:.0f} s of CPU", {k: round(v, 2) for k, v in made.accuracy.items()})
    print("right after SFT:", by_operation(policy, puzzle))
    faces = dict.fromkeys((asked.interface, "atomic"))
    for face in faces:
        print("after SFT,", success(policy, cell, face, LISTS))
    clock = time.process_time()
    rollouts, updates = RolloutConfig(groups=24, attempts=8), UpdateConfig(updates=asked.updates)
    train_rl(policy, load_bank(TRAINED, "train"), environment(cell, asked.interface), rollouts, updates, seed=1)
    print(f"RL on {TRAINED}: {time.process_time() - clock:.0f} s of CPU")
    for face in faces:
        print("after RL,", success(policy, cell, face, LISTS))


if __name__ == "__main__":
    main()
