"""Two processes of `torchrun` train as one does: the same episodes, metrics and weights within float error."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest
import torch

from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.checkpoint import checkpoints
from horizon_bench.training.sft import SftReport

SCRIPT = pathlib.Path(__file__).with_name("two_processes.py")
LAUNCH = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


def test_two_processes_equal_one(learned: tuple[TinyPolicy, SftReport], tmp_path: pathlib.Path) -> None:
    for name in ("one", "two"):
        learned[0].save(tmp_path / name / "policy")
    subprocess.run(
        [*LAUNCH, str(SCRIPT), str(tmp_path / "two"), "7"],
        env={**os.environ, "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"}, check=True, timeout=300,
    )  # fmt: skip
    two = json.loads((tmp_path / "two" / "result.json").read_text(encoding="utf8"))
    one = script().train(tmp_path / "one", 1000)
    assert two["team"] == 2
    assert two["sizes"] == one["sizes"]
    assert len(set(one["sizes"][0])) > 1
    for ours, theirs in zip(one["metrics"], two["metrics"], strict=True):
        assert ours["gradient_norm"] > 0.01
        assert theirs == pytest.approx(ours, rel=1e-4, abs=1e-5)
    for name, gradient in one["gradients"].items():
        assert torch.allclose(torch.tensor(two["gradients"][name]), torch.tensor(gradient), atol=1e-5), name
    weights = [flat(found["weights"]) for found in (one, two)]
    start = torch.cat([weight.detach().flatten() for weight in learned[0].model.parameters()])
    assert (weights[0] - start).abs().mean() > 1e-5
    # AdamW makes full steps of gradients that are zero but for rounding, such as those of the keys' biases.
    assert ((weights[0] - weights[1]).abs() > 1e-5).float().mean() < 0.02
    assert [update for update, _ in checkpoints(tmp_path / "two" / "checkpoints")] == [1, 2]


def flat(weights: dict[str, Any]) -> torch.Tensor:
    return torch.cat([torch.tensor(weight).flatten() for weight in weights.values()])


def script() -> Any:
    spec = importlib.util.spec_from_file_location("two_processes", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
