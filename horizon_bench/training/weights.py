"""Where the trained weights live: whole in every process, or sharded by accelerate's configuration (FSDP, DeepSpeed).

Whole weights need no wrapper: gradients are added up over the team once an optimiser step. Sharded weights go through
accelerate's wrapper, which averages gradients; replies are then sampled from a whole copy that follows every update.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from horizon_bench.extras import extra_needed
from horizon_bench.training.scoring import Trainable
from horizon_bench.training.team import Team

with extra_needed():
    import torch
    from accelerate import Accelerator, DistributedType

SHARDED = (DistributedType.FSDP, DistributedType.DEEPSPEED)
"""Kinds of distribution in which no process holds the whole of a model's training state."""


class TeamWeights:
    """Model and optimiser as the team trains them, and the policy that plays."""

    def __init__(
        self, accelerator: Accelerator, team: Team, policy: Trainable, optimiser: torch.optim.Optimizer
    ) -> None:
        """Place, share or shard the weights; all processes start from the leader's.

        Args:
            accelerator: says where to and how.
            team: the processes.
            policy: holds the model.
            optimiser: on the model's weights.
        """
        self.accelerator, self.team, self.policy = accelerator, team, policy
        self.sharded = accelerator.distributed_type in SHARDED
        if self.sharded:
            self.player: Trainable = policy.with_sampling()
            self.player.model = copy.deepcopy(policy.model).to(accelerator.device)
            self.model, self.optimiser = accelerator.prepare(policy.model, optimiser)
        else:
            self.player = policy
            self.model = accelerator.prepare_model(policy.model, evaluation_mode=True)
            self.optimiser = accelerator.prepare_optimizer(optimiser)
            team.adopt([*policy.model.parameters(), *policy.model.buffers()])

    @property
    def factor(self) -> float:
        """What a process's share of the loss is multiplied by: wrappers average over processes, we add up."""
        return float(self.team.size) if self.sharded else 1.0

    @contextmanager
    def accumulating(self, *, last: bool) -> Iterator[None]:
        """Hold back the exchange of gradients but for the last backward pass of an optimiser step."""
        if self.sharded:
            self.accelerator.gradient_state._set_sync_gradients(last)
        yield

    def add_up_gradients(self) -> None:
        """Add gradients up over the team where no wrapper has done it."""
        if not self.sharded:
            self.team.add_up([weight.grad for weight in self.policy.model.parameters() if weight.grad is not None])

    def refresh_player(self) -> None:
        """Give the playing copy the weights as they are now; all processes take part."""
        if self.sharded:
            self.player.model.load_state_dict(self._whole())

    def save_shards(self, folder: Path) -> None:
        """Write sharded weights and optimiser state, each process its own."""
        self.accelerator.save_state(str(folder))

    def load_shards(self, folder: Path) -> None:
        """Read what `save_shards` wrote with as many processes."""
        self.accelerator.load_state(str(folder))
        self.refresh_player()

    def finish(self) -> None:
        """Leave the whole weights in the policy that was to be trained."""
        if self.sharded:
            self.policy.model = self.player.model

    def _whole(self) -> dict[str, Any]:
        if self.accelerator.distributed_type == DistributedType.FSDP:
            from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict

            return get_model_state_dict(self.model, options=StateDictOptions(full_state_dict=True))
        gathered = import_module("deepspeed.zero").GatheredParameters
        plain = self.accelerator.unwrap_model(self.model)
        with gathered(list(plain.parameters())):
            return {name: weight.detach().clone() for name, weight in plain.state_dict().items()}
