"""The processes that train one model together, as `torchrun` or `accelerate launch` start them.

Every process plays a share of the groups and learns from a share of the replies; what is normalised over a batch is
normalised over all of it. One process is a team of one, so that nothing else needs to know.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from torch import Tensor

Value = TypeVar("Value")


@dataclass(frozen=True)
class Team:
    """Which of how many processes this one is."""

    rank: int = 0
    """From 0."""
    size: int = 1

    @classmethod
    def current(cls) -> Team:
        """Return the team that torch's process group makes up; a team of one without such a group."""
        # Whoever has joined a group has loaded torch; whoever has not shall not load it for this question.
        distributed = sys.modules.get("torch.distributed")
        if distributed is None or not (distributed.is_available() and distributed.is_initialized()):
            return cls()
        return cls(distributed.get_rank(), distributed.get_world_size())

    @property
    def leads(self) -> bool:
        """Whether this process writes records and checkpoints."""
        return self.rank == 0

    def agree(self, value: Value) -> Value:
        """Return the leader's value in every process."""
        if self.size == 1:
            return value
        import torch.distributed as distributed

        box = [value if self.leads else None]
        distributed.broadcast_object_list(box, src=0)
        return box[0]  # type: ignore[return-value]

    def collect(self, value: Value) -> list[Value]:
        """Return every process's value, in order of rank."""
        if self.size == 1:
            return [value]
        import torch.distributed as distributed

        box: list[Value | None] = [None] * self.size
        distributed.all_gather_object(box, value)
        return box  # type: ignore[return-value]

    def wait(self) -> None:
        """Wait for all processes."""
        if self.size > 1:
            import torch.distributed as distributed

            distributed.barrier()

    def share(self, rows: Tensor) -> Tensor:
        """Return this process's rows of those that the team has, dealt out in turn."""
        return rows[self.rank :: self.size]

    def add_up(self, tensors: Sequence[Tensor]) -> None:
        """Replace tensors, the same in number and shape everywhere, by their sums over the team."""
        if self.size == 1 or not tensors:
            return
        import torch
        import torch.distributed as distributed

        flat = torch.cat([tensor.detach().reshape(-1) for tensor in tensors])
        distributed.all_reduce(flat)
        for tensor, total in zip(tensors, torch.split(flat, [tensor.numel() for tensor in tensors]), strict=True):
            tensor.detach().copy_(total.view_as(tensor))

    def adopt(self, tensors: Sequence[Tensor]) -> None:
        """Replace tensors by the leader's."""
        if self.size > 1:
            import torch.distributed as distributed

            for tensor in tensors:
                distributed.broadcast(tensor.detach(), src=0)
