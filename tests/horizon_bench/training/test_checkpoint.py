"""Checkpoints are whole or absent, and tell a wrong run from the right one."""

from __future__ import annotations

import pathlib

import pytest
import torch

from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.checkpoint import checkpoints, last_checkpoint, load_checkpoint, save_checkpoint
from puzzles.sudoku import Sudoku


@pytest.fixture
def parts() -> tuple[TinyPolicy, torch.optim.Optimizer]:
    policy = TinyPolicy.create(Sudoku(4), 16, hidden_size=16, layers=1)
    optimiser = torch.optim.AdamW(policy.model.parameters(), lr=0.1)
    policy.model(torch.arange(20)[None]).logits.sum().backward()
    optimiser.step()
    return policy, optimiser


def test_weights_and_optimiser_come_back(tmp_path: pathlib.Path, parts: tuple) -> None:
    policy, optimiser = parts
    path = save_checkpoint(tmp_path, 7, policy, optimiser, {"seed": 1}, keep=2)
    other = TinyPolicy.create(Sudoku(4), 16, hidden_size=16, layers=1, seed=9)
    empty = torch.optim.AdamW(other.model.parameters(), lr=0.5)
    assert load_checkpoint(path, other, empty, {"seed": 1}) == 7
    for name, weight in policy.model.state_dict().items():
        assert torch.equal(weight, other.model.state_dict()[name])
    assert str(empty.state_dict()) == str(optimiser.state_dict())


def test_only_the_newest_are_kept(tmp_path: pathlib.Path, parts: tuple) -> None:
    for update in (10, 20, 30):
        save_checkpoint(tmp_path, update, *parts, {}, keep=2)
    assert [update for update, _ in checkpoints(tmp_path)] == [20, 30]
    assert last_checkpoint(tmp_path / "none") is None


def test_a_half_written_checkpoint_does_not_count(tmp_path: pathlib.Path, parts: tuple) -> None:
    save_checkpoint(tmp_path, 10, *parts, {}, keep=2)
    (tmp_path / ".draft-000020-1").mkdir()
    (tmp_path / "update-000030").mkdir()
    found = last_checkpoint(tmp_path)
    assert found is not None
    assert found[0] == 10


def test_another_run_and_a_damaged_file_are_named(tmp_path: pathlib.Path, parts: tuple) -> None:
    policy, optimiser = parts
    path = save_checkpoint(tmp_path, 10, policy, optimiser, {"seed": 1}, keep=2)
    with pytest.raises(ValueError, match="seed = 1, this run has 2"):
        load_checkpoint(path, policy, optimiser, {"seed": 2})
    (path / "optimiser.pt").write_bytes(b"torn")
    with pytest.raises(ValueError, match="is damaged"):
        load_checkpoint(path, policy, optimiser, {"seed": 1})
