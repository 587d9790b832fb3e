"""Speed of the small model's SFT: forward and backward of one step by the kernels and by the operations of torch.

    python benchmarks/sft_speed.py [--rounds 5]

Both take turns on the same batch of expert traces, on one core; CPU seconds of the process, the best round counts.
The optimiser's step and the making of traces are left out.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1")

import numpy as np
import torch

from curricula import load_bank
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training import sft
from horizon_bench.training.collator import SharedPrefixCollator
from horizon_bench.training.settings import tiny_model, tiny_settings
from puzzles.sudoku import Sudoku

BOARDS = ((4, "T1"), (6, "M1"))


def step(size: int, level: str, *, thoughts: bool) -> Callable[[bool], None]:
    """Return what computes loss and gradients of one batch of the preset's SFT, with the kernels or without."""
    shape, config = tiny_model(size), replace(tiny_settings(size, thoughts=thoughts).sft, steps=2)
    policy = TinyPolicy.create(Sudoku(size), size * size, hidden_size=shape.hidden_size, layers=shape.layers)
    rows, layout = sft.build_rows(policy, Sudoku(size), load_bank(level), config, np.random.default_rng(0))
    batch = SharedPrefixCollator(layout)([rows[index] for index in range(config.boards)])
    trainer: Any = sft.WeightedTrainer.__new__(sft.WeightedTrainer)
    trainer.action_weight = config.action_weight
    trainer.thought_end, trainer.end = policy.marks.thought_end, policy.marks.end

    def learn(fast: bool) -> None:
        sft.is_fast = lambda model: fast
        policy.model.zero_grad()
        trainer.compute_loss(policy.model, batch).backward()

    return learn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each measurement; the best counts")
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    print(f"{'':24}{'kernels':>10}{'torch':>10}{'ratio':>8}")
    for size, level in BOARDS:
        for thoughts in (False, True):
            learn, best = step(size, level, thoughts=thoughts), {True: np.inf, False: np.inf}
            for _ in range(rounds + 1):
                for fast in best:
                    began = time.process_time()
                    learn(fast)
                    best[fast] = min(best[fast], time.process_time() - began)
            name = f"{size}x{size}{', with thoughts' if thoughts else ''}"
            print(f"{name:24}{best[True] * 1e3:7.1f} ms{best[False] * 1e3:7.1f} ms{best[False] / best[True]:8.2f}")


if __name__ == "__main__":
    main()
