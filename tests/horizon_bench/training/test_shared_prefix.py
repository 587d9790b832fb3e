"""SFT by the kernels learns what SFT by torch learns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training import sft
from horizon_bench.training.collator import IGNORED, RowLayout, SharedPrefixCollator
from horizon_bench.training.shared_prefix import shared_prefix_losses
from puzzles.sudoku import Sudoku

PREFIX, WIDTH = 17, 9
LENGTHS = {
    "any": [[5, 2, 7], [9, 9, 9], [3, 8, 2], [2, 6, 4]],
    "narrow last slot": [[9, 4, 2], [6, 9, 3], [8, 2, 2], [9, 5, 3]],
    "wide last slot": [[2, 2, 9], [3, 2, 8], [2, 2, 4], [2, 3, 9]],
    "empty slots": [[4, 1, 5], [1, 1, 7], [6, 1, 1], [3, 1, 2]],
    "one slot": [[6], [9], [2], [4]],
}
"""Tokens of each reply, mode token included, by row and slot; 1 learns nothing."""


@pytest.fixture(scope="module")
def policy() -> TinyPolicy:
    return TinyPolicy.create(Sudoku(4), 16, layers=2)


def packed_rows(lengths: list[list[int]]) -> dict[str, Tensor]:
    """Return a batch of random tokens with replies so long; two of its boards are equal."""
    rng, counts = np.random.default_rng(0), np.array(lengths)
    layout = RowLayout(PREFIX, counts.shape[1], WIDTH)
    prompts = rng.integers(5, 30, (len(counts), PREFIX))
    prompts[3] = prompts[1]
    ids, labels = layout.pack(prompts, rng.integers(5, 30, (*counts.shape, WIDTH)), counts)
    rows = [{"input_ids": ids[row].tolist(), "labels": labels[row].tolist()} for row in range(len(counts))]
    return SharedPrefixCollator(layout)(rows)


def gradients(policy: TinyPolicy, loss: Tensor) -> dict[str, Tensor]:
    policy.model.zero_grad()
    torch.autograd.backward(loss)
    return {name: weight.grad.clone() for name, weight in policy.model.named_parameters() if weight.grad is not None}


def assert_alike(ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> None:
    assert ours.keys() == theirs.keys()
    for name, expected in theirs.items():
        bound = 2e-5 * max(1.0, float(expected.abs().max()))
        torch.testing.assert_close(ours[name], expected, atol=bound, rtol=1e-4, msg=name)


@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_losses_and_gradients_equal_those_of_the_whole_rows(policy: TinyPolicy, lengths: list[list[int]]) -> None:
    packed = packed_rows(lengths)
    arguments = (packed["input_ids"], packed["labels"], packed["position_ids"], PREFIX)
    losses, row, column = shared_prefix_losses(policy.model, *arguments)
    ours = torch.zeros(packed["labels"].shape).index_put((row, column), losses)
    named = {name: packed[name] for name in ("attention_mask", "position_ids")}
    logits = policy.model(packed["input_ids"], **named).logits
    flat = F.cross_entropy(logits[:, :-1].flatten(0, 1), packed["labels"][:, 1:].flatten(), reduction="none")
    theirs = F.pad(flat.view(len(lengths), -1), (1, 0))
    torch.testing.assert_close(ours, theirs, atol=2e-5, rtol=2e-5)
    assert (ours != 0).equal(packed["labels"] != IGNORED)
    scale = torch.linspace(0.1, 1.0, ours.numel()).view(ours.shape)
    assert_alike(gradients(policy, (ours * scale).sum()), gradients(policy, (theirs * scale).sum()))


@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_the_trainers_loss_is_the_same_with_and_without_kernels(
    policy: TinyPolicy, lengths: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer: Any = sft.WeightedTrainer.__new__(sft.WeightedTrainer)
    trainer.action_weight, trainer.thought_end, trainer.end = 3.0, 7, 8
    packed = packed_rows(lengths)
    ours = trainer.compute_loss(policy.model, packed)
    monkeypatch.setattr(sft, "is_fast", lambda model: False)
    theirs = trainer.compute_loss(policy.model, packed)
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-5)
    assert_alike(gradients(policy, ours), gradients(policy, theirs))
