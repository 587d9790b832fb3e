"""Episodes as padded tensors over replies, exactly as they were sampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from horizon_bench.episodes import Episode
from horizon_bench.extras import extra_needed
from horizon_bench.policies.language_sampling import pad_left

with extra_needed():
    import torch
    from torch import Tensor


@dataclass(frozen=True)
class ReplyBatch:
    """All decisions of some episodes, in the episodes' order; padding is 0, before a prompt and after a reply."""

    prompts: Tensor
    """Token ids, shape [replies, prompt tokens]."""
    replies: Tensor
    """Token ids, shape [replies, tokens]."""
    sampling_logprobs: Tensor
    """Under the distribution each token was drawn from, shape [replies, tokens]."""
    mask: Tensor
    """True at sampled tokens, shape [replies, tokens]."""
    prompt_mask: Tensor | None = None
    """True at tokens of the prompt, shape [replies, prompt tokens]; None where all prompts are equally long."""

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
        prompts, inside = pad_left([turn.prompt_ids for turn in turns])
        return cls(
            prompts,
            torch.from_numpy(replies),
            torch.from_numpy(logprobs),
            torch.from_numpy(mask),
            None if inside.all() else inside.bool(),
        )

    def __len__(self) -> int:
        """Return the number of replies."""
        return len(self.prompts)

    def select(self, rows: Tensor) -> ReplyBatch:
        """Return the given replies, cut to the longest prompt and the longest reply of them."""
        mask = self.mask[rows]
        longest = int(mask.sum(1).max())
        inside = None if self.prompt_mask is None else self.prompt_mask[rows]
        first = 0 if inside is None else inside.shape[1] - int(inside.sum(1).max())
        return ReplyBatch(
            self.prompts[rows, first:],
            self.replies[rows, :longest],
            self.sampling_logprobs[rows, :longest],
            mask[:, :longest],
            None if inside is None else inside[:, first:],
        )

    def to(self, device: torch.device) -> ReplyBatch:
        """Return the batch on a device."""
        arrays = (getattr(self, field.name) for field in fields(self))
        return ReplyBatch(*(None if array is None else array.to(device) for array in arrays))  # type: ignore[arg-type]

    def by_length(self, rows: Tensor) -> Tensor:
        """Return the given rows, short replies first."""
        return rows[torch.argsort(self.mask[rows].sum(1), stable=True)]

    def micro_batches(self, rows: Tensor, size: int) -> list[Tensor]:
        """Return the given rows in parts of at most `size`, replies of like length together."""
        return list(torch.split(self.by_length(rows), size))
