"""Checkpoints of a MiRA run: the policy, which loads like any other, and beside it everything else that learns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from horizon_bench.extras import extra_needed
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.checkpoint import damaged, read_state, save_tensors, write_checkpoint
from horizon_bench.training.team import Team

with extra_needed():
    import torch

PARTS = "parts.pt"
"""Where everything lies that is not the policy."""


class Stateful(Protocol):
    """A model or an optimiser."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state as tensors and numbers."""

    def load_state_dict(self, state_dict: dict[str, Any]) -> Any:
        """Take a state."""


def save_state(
    folder: Path, update: int, policy: TinyPolicy, parts: Mapping[str, Stateful], identity: Mapping[str, Any], keep: int
) -> Path:
    """Write a checkpoint, whole or not at all, and drop the oldest beyond `keep`; returns its path.

    Args:
        folder: of all checkpoints of the run.
        update: number of finished updates.
        policy: the policy as it is now.
        parts: everything else that a resumed run needs, by name.
        identity: what a resumed run must have in common with this one, JSON values.
        keep: newest checkpoints to keep; 0 keeps all.
    """

    def fill(draft: Path) -> None:
        policy.save(draft)
        save_tensors({name: part.state_dict() for name, part in parts.items()}, draft / PARTS)

    return write_checkpoint(folder, update, fill, identity, keep, Team())


def load_state(path: Path, policy: TinyPolicy, parts: Mapping[str, Stateful], identity: Mapping[str, Any]) -> int:
    """Put a checkpoint's state in place and return its update; arguments as `save_state` takes them.

    Raises:
        ValueError: if the checkpoint is damaged or belongs to a run with other settings, naming the difference.
    """
    state = read_state(path, identity)
    try:
        stored = torch.load(path / PARTS, weights_only=True)
        weights = TinyPolicy.load(path).model.state_dict()
        missing = set(parts) - set(stored)
    except Exception as error:  # torn files raise whatever their reader stumbles over
        raise damaged(path, error) from error
    if missing:
        raise ValueError(f"checkpoint {str(path)!r} lacks {', '.join(sorted(missing))}; it is none of MiRA's")
    policy.model.load_state_dict(weights)
    for name, part in parts.items():
        part.load_state_dict(stored[name])
    return int(state["update"])
