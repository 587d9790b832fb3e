"""Several replies on one board mean exactly what the replies one by one mean."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.collator import IGNORED, RowLayout, SharedPrefixCollator
from puzzles.sudoku import Sudoku

LENGTHS = np.array([[3, 5, 2], [4, 2, 2]])


def batch(rng: np.random.Generator) -> tuple[dict[str, torch.Tensor], np.ndarray, np.ndarray]:
    layout = RowLayout(17, 3, 6)
    prompts, targets = rng.integers(5, 30, (2, 17)), rng.integers(5, 30, (2, 3, 6))
    ids, labels = layout.pack(prompts, targets, LENGTHS)
    rows = [{"input_ids": ids[row].tolist(), "labels": labels[row].tolist()} for row in range(2)]
    return SharedPrefixCollator(layout)(rows), prompts, targets


def test_logits_of_a_shared_board_equal_those_of_separate_sequences() -> None:
    policy = TinyPolicy.create(Sudoku(4), 16)
    packed, prompts, targets = batch(np.random.default_rng(0))
    with torch.no_grad():
        shared = policy.model(
            packed["input_ids"], attention_mask=packed["attention_mask"], position_ids=packed["position_ids"]
        ).logits
        start = 17
        for slot, width in enumerate(LENGTHS.max(0)):
            for row, length in enumerate(LENGTHS[:, slot]):
                alone = np.concatenate([prompts[row], targets[row, slot, :length]])
                logits = policy.model(torch.from_numpy(alone)[None]).logits[0, 17:]
                assert torch.allclose(shared[row, start : start + length], logits, atol=1e-5)
            start += width


def test_every_reply_is_learned_and_no_mode_token() -> None:
    packed, _, targets = batch(np.random.default_rng(1))
    learned = packed["labels"][packed["labels"] != IGNORED].tolist()
    assert learned == [
        int(token) for row in range(2) for slot in range(3) for token in targets[row, slot, 1 : LENGTHS[row, slot]]
    ]


def test_slots_are_cut_to_their_longest_reply() -> None:
    packed, _, _ = batch(np.random.default_rng(2))
    assert packed["input_ids"].shape == (2, 17 + 4 + 5 + 2)
    assert packed["position_ids"][0, 17:].tolist() == [17, 18, 19, 20, 17, 18, 19, 20, 21, 17, 18]


@pytest.mark.parametrize("slot", [0, 1, 2])
def test_one_reply_never_sees_another(slot: int) -> None:
    packed, _, _ = batch(np.random.default_rng(3))
    starts = np.cumsum([17, 4, 5, 2])
    mask = packed["attention_mask"][0, 0, starts[slot] : starts[slot + 1]].numpy()
    seen = mask.any(0)
    assert seen[:17].all()
    assert seen[17:].nonzero()[0].tolist() == list(range(starts[slot] - 17, starts[slot + 1] - 17))
