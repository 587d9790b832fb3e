"""Checkpoints are whole or absent, and tell a wrong run from the right one."""

from __future__ import annotations

import pathlib

import pytest
import torch

from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.checkpoint import (
    checkpoints,
    last_checkpoint,
    load_checkpoint,
    save_checkpoint,
    save_tensors,
)
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


@pytest.mark.parametrize("room", [0, 1000, 60_000])
def test_a_disk_that_refuses_midway_is_told_in_its_own_words(tmp_path: pathlib.Path, room: int) -> None:
    resource = pytest.importorskip("resource", reason="this system limits no sizes of files")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            save_tensors({str(part): torch.zeros(10_000) for part in range(3)}, tmp_path / "state.pt")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.filename == str(tmp_path / "state.pt")


def test_tensors_come_back_and_other_errors_pass_as_they_are(tmp_path: pathlib.Path) -> None:
    content = {"weights": torch.arange(100_000.0), "step": 3}
    save_tensors(content, tmp_path / "state.pt")
    stored = torch.load(tmp_path / "state.pt", weights_only=True)
    assert stored["step"] == 3
    assert torch.equal(stored["weights"], content["weights"])
    with pytest.raises(AttributeError):
        save_tensors({"no tensor": lambda: None}, tmp_path / "state.pt")
