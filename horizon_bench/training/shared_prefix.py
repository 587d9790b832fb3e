"""The loss of SFT rows whose replies share a board, by the compiled kernels of the small model."""

from __future__ import annotations

from horizon_bench.extras import extra_needed
from horizon_bench.policies.tiny_fast import suffix_states
from horizon_bench.policies.tiny_model import TinyForCausalLM
from horizon_bench.training.collator import IGNORED

with extra_needed():
    import torch
    import torch.nn.functional as F  # noqa: N812
    from torch import Tensor


def shared_prefix_losses(
    model: TinyForCausalLM, ids: Tensor, labels: Tensor, positions: Tensor, prefix: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the loss of every learned token, and the row and column where its label stands.

    Args:
        model: the small model; gradients flow.
        ids: rows as `SharedPrefixCollator` makes them, shape [rows, tokens].
        labels: same shape; a reply learns all its tokens but the first, one after another.
        positions: shape [rows, tokens], all rows alike: each reply starts again from `prefix`.
        prefix: tokens of the board.
    """
    starts = (positions[0] == prefix).nonzero()[:, 0]
    ends = torch.cat([starts[1:], torch.tensor([ids.shape[1]])])
    columns = starts[:, None] + torch.arange(int((ends - starts).max()))
    inside = columns < ends[:, None]
    columns = columns.clamp(max=ids.shape[1] - 1)
    learned = (labels[:, columns] != IGNORED) & inside
    lengths = learned.sum(2).flatten()
    used = lengths.nonzero()[:, 0]
    slots = len(starts)
    suffixes = ids[:, columns].flatten(0, 1)[used]
    states, reply, place = suffix_states(model, ids[used // slots, :prefix], suffixes, lengths[used])
    row, slot = used[reply] // slots, used[reply] % slots
    column = starts[slot] + place + 1
    losses = F.cross_entropy(model.lm_head(states), labels[row, column], reduction="none")
    return losses, row, column
