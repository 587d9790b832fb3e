"""Checkpoints of a MiRA run: the policy, which loads like any other, and beside it everything else that learns."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from horizon_bench.extras import extra_needed
from horizon_bench.files import drop_folder, naming
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.checkpoint import DRAFT, begin_draft, checkpoints, damaged, finish_draft, read_state

with extra_needed():
    import torch


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
    path, draft = folder / f"update-{update:06d}", folder / f"{DRAFT}{update:06d}-{os.getpid()}"
    begin_draft(draft)
    with naming(draft):
        policy.save(draft)
        torch.save({name: part.state_dict() for name, part in parts.items()}, draft / "parts.pt")
        finish_draft(draft, path, {"update": update, **identity})
    for _, old in checkpoints(folder)[:-keep] if keep else ():
        drop_folder(old)
    return path


def load_state(path: Path, policy: TinyPolicy, parts: Mapping[str, Stateful], identity: Mapping[str, Any]) -> int:
    """Put a checkpoint's state in place and return its update; arguments as `save_state` takes them.

    Raises:
        ValueError: if the checkpoint is damaged or belongs to a run with other settings, naming the difference.
    """
    state = read_state(path)
    try:
        stored = torch.load(path / "parts.pt", weights_only=True)
        weights = TinyPolicy.load(path).model.state_dict()
        missing = set(parts) - set(stored)
    except Exception as error:  # torn files raise whatever their reader stumbles over
        raise damaged(path, error) from error
    for name, value in json.loads(json.dumps(identity)).items():
        if state.get(name) != value:
            raise ValueError(
                f"checkpoint {str(path)!r} belongs to a run with {name} = {state.get(name)!r}, this run has {value!r}; "
                "resume with the same settings or use another folder"
            )
    if missing:
        raise ValueError(f"checkpoint {str(path)!r} lacks {', '.join(sorted(missing))}; it is none of MiRA's")
    policy.model.load_state_dict(weights)
    for name, part in parts.items():
        part.load_state_dict(stored[name])
    return int(state["update"])
