"""One batch has one loss and one gradient, in TRL's trainer and in ours."""

from __future__ import annotations

import pathlib
from dataclasses import replace
from types import MethodType
from typing import Any

import pytest
import torch

from curricula import load_bank
from horizon_bench.envs import Settings
from horizon_bench.policies.hf import HfPolicy
from horizon_bench.policies.random_model import write_random_model
from horizon_bench.training.configs import RolloutConfig, UpdateConfig
from horizon_bench.training.grpo import EpisodeGRPOTrainer, grpo_arguments
from horizon_bench.training.learning import Objective
from horizon_bench.training.rl import Trainer

SETTINGS = Settings(on_error="stay", max_decisions=3)
ROLLOUT = RolloutConfig(groups=3, attempts=2, max_new_tokens=8)
CONFIG = UpdateConfig(updates=1, learning_rate=1e-4, warmup_updates=0, gradient_clip=1e9)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return write_random_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(autouse=True)
def advantages_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give replies advantages that differ: random weights earn none."""
    monkeypatch.setattr(
        Objective, "advantages", lambda self, credit: credit.turn_in_episode * 0.5 - credit.group_of_turn % 2 + 0.25
    )


def gradients(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: weight.grad.clone() for name, weight in module.named_parameters() if weight.grad is not None}


@pytest.mark.parametrize(
    ("parts", "loss", "reduction"), [(1, "ppo-token", "token-mean"), (3, "reinforce", "sequence-sum")]
)
def test_both_trainers_have_one_loss_and_one_gradient(
    model: pathlib.Path, tmp_path: pathlib.Path, parts: int, loss: str, reduction: str
) -> None:
    config = replace(CONFIG, loss=loss, reduction=reduction)
    found: dict[str, torch.Tensor] = {}
    arguments = grpo_arguments(str(tmp_path), ROLLOUT, config, parts=parts)
    theirs = EpisodeGRPOTrainer(HfPolicy.load(model), load_bank("T1")[:3], SETTINGS, ROLLOUT, config, arguments)
    step = theirs.create_optimizer().step

    def spied(optimiser: torch.optim.Optimizer, *rest: Any, **named: Any) -> Any:
        found.update(gradients(theirs.model))
        return step(*rest, **named)

    # A bound method, as schedulers of older versions want to wrap it.
    theirs.optimizer.step = MethodType(spied, theirs.optimizer)
    theirs.train()

    ours = Trainer(HfPolicy.load(model), SETTINGS, ROLLOUT, config, 0)
    ours._play = lambda played, seed: theirs.episodes  # type: ignore[method-assign]
    metrics, _ = ours.update(0, load_bank("T1")[:3])
    logged = next(row for row in theirs.state.log_history if "loss" in row)
    assert logged["loss"] == pytest.approx(metrics["loss"], abs=1e-5)
    expected = gradients(ours.policy.model)
    assert expected.keys() == found.keys()
    assert max(float(gradient.abs().max()) for gradient in expected.values()) > 1e-3
    for name, gradient in expected.items():
        assert torch.allclose(found[name], gradient, atol=1e-5), name


def test_what_cannot_be_is_refused(model: pathlib.Path, tmp_path: pathlib.Path) -> None:
    policy, instances = HfPolicy.load(model), load_bank("T1")[:3]
    arguments = grpo_arguments(str(tmp_path), ROLLOUT, CONFIG)
    with pytest.raises(ValueError, match="needs values of states"):
        EpisodeGRPOTrainer(policy, instances, SETTINGS, ROLLOUT, replace(CONFIG, estimator="ppo"), arguments)
    with pytest.raises(ValueError, match="parts is 4, must divide"):
        grpo_arguments(str(tmp_path), ROLLOUT, CONFIG, parts=4)
    uneven = grpo_arguments(str(tmp_path), ROLLOUT, CONFIG, parts=3, steps_per_generation=6)
    with pytest.raises(ValueError, match="must be equal"):
        EpisodeGRPOTrainer(policy, instances, SETTINGS, ROLLOUT, CONFIG, uneven)
