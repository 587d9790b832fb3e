"""A few updates of a small model, for one process or several; what came out is written by the leader.

Usage: two_processes.py FOLDER MICRO_BATCH, where FOLDER/policy holds the policy to begin with.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch

from curricula import load_bank
from horizon_bench.envs import Settings
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.configs import RolloutConfig, UpdateConfig
from horizon_bench.training.rl import train_rl
from horizon_bench.training.team import Team

SETTINGS = Settings(observation="compact", on_error="semi", interface="macro", reward="subgoal")
CONFIG = UpdateConfig(
    updates=2, loss="ppo-token", reduction="token-mean", steps_per_epoch=2, learning_rate=1e-4, warmup_updates=0,
    checkpoint_every=1,
)  # fmt: skip


def train(folder: Path, micro_batch: int) -> dict[str, Any]:
    policy = TinyPolicy.load(folder / "policy")
    # Followers begin with other weights, so that a team that does not adopt its leader's is found out.
    if os.environ.get("RANK", "0") != "0":
        with torch.no_grad():
            policy.model.lm_head.weight.add_(1.0)
    metrics: list[dict[str, float]] = []
    sizes: list[list[int]] = []

    def on_update(update: int, numbers: dict[str, float], episodes: list[Any]) -> None:
        metrics.append(numbers)
        sizes.append([episode.decisions for episode in episodes])

    config = UpdateConfig(**{**vars(CONFIG), "micro_batch": micro_batch})
    report = train_rl(
        policy, load_bank("T2")[:3], SETTINGS, RolloutConfig(groups=5, attempts=3), config, seed=3,
        folder=folder / "checkpoints", on_update=on_update,
    )  # fmt: skip
    weights = {name: weight.tolist() for name, weight in policy.model.named_parameters()}
    gradients = {name: w.grad.tolist() for name, w in policy.model.named_parameters() if w.grad is not None}
    return {"metrics": metrics, "sizes": sizes, "weights": weights, "gradients": gradients, "updates": report.updates}


if __name__ == "__main__":
    found = train(Path(sys.argv[1]), int(sys.argv[2]))
    found["team"] = Team.current().size
    if Team.current().leads:
        (Path(sys.argv[1]) / "result.json").write_text(json.dumps(found), encoding="utf8")
