"""Episodes as padded tensors over replies, exactly as they were sampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from horizon_bench.episodes import Episode


@dataclass(frozen=True)
class ReplyBatch:
    """All decisions of some episodes, in the episodes' order; padding is 0."""

    prompts: Tensor
    """Token ids, shape [replies, prompt tokens]."""
    replies: Tensor
    """Token ids, shape [replies, tokens]."""
    sampling_logprobs: Tensor
    """Under the distribution each token was drawn from, shape [replies, tokens]."""
    mask: Tensor
    """True at sampled tokens, shape [replies, tokens]."""

    @classmethod
    def from_episodes(cls, episodes: Sequence[Episode]) -> ReplyBatch:
        """Return the batch.

        Raises:
            ValueError: if an episode's policy wrote no tokens.
        """
        turns = [turn for episode in episodes for turn in episode.turns]
        lengths = np.array([len(turn.reply_ids) for turn in turns])
        if len(lengths) == 0 or lengths.min() == 0:
            raise ValueError("these episodes hold replies without tokens; only policies that sample tokens can learn")
        mask = np.arange(lengths.max()) < lengths[:, None]
        replies = np.zeros(mask.shape, dtype=np.int64)
        logprobs = np.zeros(mask.shape, dtype=np.float32)
        replies[mask] = np.concatenate([turn.reply_ids for turn in turns])
        logprobs[mask] = np.concatenate([turn.sampling_logprobs for turn in turns])
        prompts = np.stack([turn.prompt_ids for turn in turns])
        return cls(*(torch.from_numpy(array) for array in (prompts, replies, logprobs, mask)))

    def __len__(self) -> int:
        """Return the number of replies."""
        return len(self.prompts)

    def select(self, rows: Tensor) -> ReplyBatch:
        """Return the given replies, cut to the longest of them."""
        mask = self.mask[rows]
        longest = int(mask.sum(1).max())
        return ReplyBatch(
            self.prompts[rows],
            self.replies[rows, :longest],
            self.sampling_logprobs[rows, :longest],
            mask[:, :longest],
        )

    def micro_batches(self, rows: Tensor, size: int) -> list[Tensor]:
        """Return the given rows in parts of at most `size`, replies of like length together."""
        by_length = rows[torch.argsort(self.mask[rows].sum(1), stable=True)]
        return list(torch.split(by_length, size))
