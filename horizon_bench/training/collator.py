"""SFT batches in which one board is read once for several replies.

A row is `board feedback | mode reply | mode reply | ...`. Every reply sees the board and itself, never another reply,
and counts its positions from the end of the board: just what each would see as a sequence of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from horizon_bench.extras import extra_needed

with extra_needed():
    import torch

IGNORED = -100
"""Label of a token that is not learned."""


@dataclass(frozen=True)
class RowLayout:
    """Where the parts of a row stand."""

    prefix: int
    """Tokens of board and feedback."""
    slots: int
    """Replies in a row."""
    width: int
    """Tokens of each reply, mode token included, padded."""

    def pack(
        self, prompts: NDArray[np.int64], targets: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return `input_ids` and `labels`, shape [rows, prefix + slots * width] each.

        Args:
            prompts: ids of board and feedback, shape [rows, prefix].
            targets: ids of mode token and reply, padded, shape [rows, slots, width].
            lengths: tokens of each, shape [rows, slots].
        """
        inside = np.arange(self.width) < lengths[:, :, None]
        learned = inside & (np.arange(self.width) > 0)
        labels = np.where(learned, targets, IGNORED).reshape(len(prompts), -1)
        ids = np.concatenate([prompts, targets.reshape(len(prompts), -1)], 1)
        return ids, np.concatenate([np.full_like(prompts, IGNORED), labels], 1)


class SharedPrefixCollator:
    """Turns rows of a layout into a batch: trims every reply slot to its longest reply, adds positions and the mask."""

    def __init__(self, layout: RowLayout) -> None:
        """Remember the layout of the rows."""
        self.layout = layout

    def __call__(self, rows: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """Return `input_ids`, `labels`, `position_ids` and a 4D `attention_mask` (true where a token may look)."""
        layout = self.layout
        ids = np.array([row["input_ids"] for row in rows], dtype=np.int64)
        labels = np.array([row["labels"] for row in rows], dtype=np.int64)
        used = (labels[:, layout.prefix :] != IGNORED).any(0).reshape(layout.slots, layout.width)
        widths = tuple(int(slot.nonzero()[0].max(initial=0)) + 1 for slot in used)
        starts = layout.prefix + layout.width * np.arange(layout.slots)
        columns = np.concatenate(
            [np.arange(layout.prefix), *(start + np.arange(width) for start, width in zip(starts, widths, strict=True))]
        )
        positions, mask = _plan(layout.prefix, widths)
        return {
            "input_ids": torch.from_numpy(ids[:, columns]),
            "labels": torch.from_numpy(labels[:, columns]),
            "position_ids": positions.expand(len(rows), -1),
            "attention_mask": mask.expand(len(rows), -1, -1, -1),
        }


@lru_cache(maxsize=256)
def _plan(prefix: int, widths: tuple[int, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return positions, shape [1, tokens], and mask, shape [1, 1, tokens, tokens], of rows with such reply slots."""
    positions = torch.cat([torch.arange(prefix), *(prefix + torch.arange(width) for width in widths)])
    tokens = len(positions)
    mask = torch.zeros(tokens, tokens, dtype=torch.bool)
    mask[:, :prefix] = True
    start = prefix
    for width in widths:
        mask[start : start + width, start : start + width] = torch.ones(width, width, dtype=torch.bool).tril()
        start += width
    return positions[None], mask[None, None]
