"""A puzzle that the suite has never seen goes through SFT, RL and evaluation with no edit here."""

from __future__ import annotations

import importlib
import itertools
import pathlib
from dataclasses import dataclass

import numpy as np
import pytest

from horizon_bench.envs import Settings
from horizon_bench.evaluation import evaluate
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.configs import RolloutConfig, SftConfig, UpdateConfig
from horizon_bench.training.rl import train_rl
from horizon_bench.training.sft import train_sft
from solvers import oracle

DOCS = pathlib.Path(__file__).resolve().parents[3] / "docs"


@dataclass(frozen=True)
class Board:
    start: str
    puzzle: str = "lights_out:LightsOut"
    size: int = 2
    level: str = "-"

    @property
    def key(self) -> str:
        return self.start


def test_lights_out_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    puzzle = importlib.import_module("lights_out").LightsOut(2)
    boards = []
    for lamps in itertools.product("01", repeat=4):
        try:
            oracle(puzzle, puzzle.parse("".join(lamps)))
        except ValueError:
            continue
        if "1" in lamps:
            boards.append(Board("".join(lamps)))
    assert len(boards) > 5
    policy = TinyPolicy.create(puzzle, 4, hidden_size=16, layers=1)
    config = SftConfig(steps=80, boards=16, learning_rate=2e-2, warmup_steps=5, accuracy_states=50)
    report = train_sft(policy, puzzle, boards, config)
    assert report.accuracy["atomic_first_action"] > 0.5
    settings = Settings(observation="compact", interface="macro")
    done = train_rl(policy, boards, settings, RolloutConfig(groups=4, attempts=2), UpdateConfig(updates=2))
    assert done.updates == 2
    episodes = evaluate(policy, boards, settings, attempts=2)
    assert np.mean([episode.solved for episode in episodes]) > 0.2
