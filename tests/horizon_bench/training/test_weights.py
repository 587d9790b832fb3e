"""Sharded weights: a whole copy plays, and follows what the wrapper trains; the wrapper is a stand-in.

The stand-in does what DeepSpeed's third stage does to a module: outside `GatheredParameters` its weights are empty.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from accelerate import DistributedType

from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.checkpoint import load_checkpoint, save_checkpoint
from horizon_bench.training.team import Team
from horizon_bench.training.weights import TeamWeights
from puzzles.sudoku import Sudoku


class Shards:
    """What a wrapper keeps: the weights themselves, put into the module's parameters only while they are gathered."""

    def __init__(self, module: torch.nn.Module) -> None:
        self.module = module
        self.whole = {parameter: parameter.data for parameter in module.parameters()}
        self.empty()

    def empty(self) -> None:
        for parameter in self.whole:
            parameter.data = torch.zeros(0)

    @contextmanager
    def gathered(self, parameters: list[torch.nn.Parameter]) -> Iterator[None]:
        for parameter in parameters:
            parameter.data = self.whole[parameter]
        yield
        self.empty()

    def learn(self) -> None:
        """Change every weight."""
        for weight in self.whole.values():
            weight.add_(1.0)


class Accelerator:
    """As much of accelerate's as sharded weights use."""

    def __init__(self, kind: DistributedType) -> None:
        self.distributed_type, self.device = kind, torch.device("cpu")
        self.exchanges: list[bool] = []
        self.gradient_state = SimpleNamespace(_set_sync_gradients=self.exchanges.append)
        self.shards: Any = None

    def prepare(self, model: torch.nn.Module, optimiser: Any) -> tuple[Any, Any]:
        if self.distributed_type == DistributedType.DEEPSPEED:
            self.shards = Shards(model)
        return model, SimpleNamespace(inner=optimiser)

    def unwrap_model(self, model: Any) -> Any:
        return model

    def save_state(self, folder: str) -> None:
        torch.save(list(self.shards.whole.values()), pathlib.Path(folder).with_suffix(".pt"))

    def load_state(self, folder: str) -> None:
        stored = torch.load(pathlib.Path(folder).with_suffix(".pt"), weights_only=True)
        for weight, value in zip(self.shards.whole.values(), stored, strict=True):
            weight.copy_(value)


@pytest.fixture
def policy() -> TinyPolicy:
    return TinyPolicy.create(Sudoku(4), 16, hidden_size=16, layers=1)


def copied(policy: TinyPolicy) -> dict[str, torch.Tensor]:
    return {name: weight.detach().clone() for name, weight in policy.model.state_dict().items()}


def sharded(policy: TinyPolicy, monkeypatch: pytest.MonkeyPatch) -> tuple[TeamWeights, Accelerator]:
    """Return the weights of a policy sharded over a team of two by the stand-in for DeepSpeed."""
    accelerator = Accelerator(DistributedType.DEEPSPEED)
    optimiser = torch.optim.SGD(policy.model.parameters(), lr=0.1)
    weights = TeamWeights(accelerator, Team(0, 2), policy, optimiser)
    # Where accelerate itself looks, the package stays absent.
    packages = {"deepspeed.zero": SimpleNamespace(GatheredParameters=accelerator.shards.gathered)}
    monkeypatch.setattr("horizon_bench.training.weights.import_module", packages.__getitem__)
    return weights, accelerator


def equal(left: dict[str, torch.Tensor], right: dict[str, torch.Tensor], shift: float = 0.0) -> bool:
    return left.keys() == right.keys() and all(torch.allclose(left[name], right[name] + shift) for name in right)


def test_a_whole_copy_plays_and_follows_the_sharded_weights(
    policy: TinyPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = copied(policy)
    weights, accelerator = sharded(policy, monkeypatch)
    assert weights.sharded
    assert all(parameter.numel() == 0 for parameter in policy.model.parameters())
    assert equal(copied(weights.player), before)
    accelerator.shards.learn()
    assert equal(copied(weights.player), before)
    weights.refresh_player()
    assert equal(copied(weights.player), before, shift=1.0)
    weights.finish()
    assert equal(copied(policy), before, shift=1.0)


def test_wrappers_average_gradients_and_exchange_them_once(policy: TinyPolicy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Team, "add_up", lambda self, tensors: pytest.fail("the wrapper adds gradients up"))
    weights, accelerator = sharded(policy, monkeypatch)
    assert weights.factor == 2.0
    for last in (False, False, True):
        with weights.accumulating(last=last):
            pass
    assert accelerator.exchanges == [False, False, True]
    weights.add_up_gradients()


def test_a_checkpoint_holds_shards_and_the_player_follows_it(
    policy: TinyPolicy, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = copied(policy)
    weights, accelerator = sharded(policy, monkeypatch)
    shards = {"save_shards": weights.save_shards, "team": Team()}
    path = save_checkpoint(tmp_path, 3, weights.player, weights.optimiser, {"seed": 1}, 2, **shards)
    assert not (path / "optimiser.pt").exists()
    accelerator.shards.learn()
    weights.refresh_player()
    assert load_checkpoint(path, policy, weights.optimiser, {"seed": 1}, load_shards=weights.load_shards) == 3
    assert equal(copied(weights.player), before)


def test_under_fsdp_torch_gives_the_whole_weights(policy: TinyPolicy) -> None:
    accelerator = Accelerator(DistributedType.FSDP)
    weights = TeamWeights(accelerator, Team(0, 2), policy, torch.optim.SGD(policy.model.parameters(), lr=0.1))
    assert weights.player.model is not policy.model
    before = copied(policy)
    with torch.no_grad():
        for parameter in policy.model.parameters():
            parameter.add_(1.0)
    assert equal(copied(weights.player), before)
    weights.refresh_player()
    assert equal(copied(weights.player), before, shift=1.0)


def test_whole_weights_need_no_copy(policy: TinyPolicy) -> None:
    from accelerate import Accelerator as Real

    before = copied(policy)
    weights = TeamWeights(Real(cpu=True), Team(), policy, torch.optim.SGD(policy.model.parameters(), lr=0.1))
    assert (weights.sharded, weights.factor, weights.player) == (False, 1.0, policy)
    weights.refresh_player()
    weights.finish()
    assert equal(copied(policy), before)
