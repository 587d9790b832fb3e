"""Checkpoints of an RL run: written whole or not at all, loaded without unpickling code.

A checkpoint is a folder `update-000040` with the policy (safetensors and tokenizer), the optimiser's state and
`state.json`. It needs no generator states: every draw of update u comes from the run's seed and u.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from horizon_bench.training.scoring import Trainable, load_weights
from horizon_bench.training.team import Team

Shards = Callable[[Path], None]
OPTIMISER, SHARDS = "optimiser.pt", "shards"
"""Where the optimiser's state lies, and what sharded processes wrote."""
_NAME = re.compile(r"update-(\d{6,})")


def checkpoints(folder: Path) -> list[tuple[int, Path]]:
    """Return the complete checkpoints in a folder as (update, path), oldest first."""
    if not folder.is_dir():
        return []
    found = [(int(match[1]), path) for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))]
    return sorted((update, path) for update, path in found if (path / "state.json").is_file())


def last_checkpoint(folder: str | Path) -> tuple[int, Path] | None:
    """Return update and path of the newest complete checkpoint, None without one."""
    found = checkpoints(Path(folder))
    return found[-1] if found else None


def save_checkpoint(
    folder: Path,
    update: int,
    policy: Trainable,
    optimiser: torch.optim.Optimizer,
    state: dict[str, Any],
    keep: int,
    *,
    team: Team | None = None,
    save_shards: Shards | None = None,
) -> Path:
    """Write a checkpoint and drop the oldest beyond `keep`; a crash in between leaves the older ones whole.

    Args:
        folder: of all checkpoints of the run.
        update: number of finished updates.
        policy: the policy as it is now.
        optimiser: its optimiser.
        state: what else a resumed run checks or needs, JSON values.
        keep: newest checkpoints to keep; 0 keeps all.
        team: the processes, all of which must call this; the leader writes.
        save_shards: writes into a folder what each process holds of a sharded training state, instead of `optimiser`.

    Returns:
        The checkpoint's path.
    """
    team, path = team or Team(), folder / f"update-{update:06d}"
    draft = team.agree(folder / f".draft-{update:06d}-{os.getpid()}")
    if team.leads:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
    team.wait()
    if save_shards is not None:
        save_shards(draft / SHARDS)
        team.wait()
    if team.leads:
        policy.save(draft)
        if save_shards is None:
            torch.save(optimiser.state_dict(), draft / OPTIMISER)
        text = json.dumps({"update": update, **state}, indent=1, sort_keys=True)
        (draft / "state.json").write_text(text, encoding="utf8")
        shutil.rmtree(path, ignore_errors=True)
        draft.replace(path)
        for _, old in checkpoints(folder)[:-keep] if keep else ():
            shutil.rmtree(old)
    team.wait()
    return path


def load_checkpoint(
    path: Path,
    policy: Trainable,
    optimiser: torch.optim.Optimizer,
    expected: dict[str, Any],
    *,
    load_shards: Shards | None = None,
) -> int:
    """Put a checkpoint's weights and optimiser state in place and return its update.

    Args:
        path: the checkpoint's folder.
        policy: receives the weights.
        optimiser: receives its state.
        expected: entries of `state.json` that must be the same now.
        load_shards: reads from a folder what `save_shards` wrote there, instead of weights and optimiser.

    Raises:
        ValueError: if the checkpoint is damaged or belongs to a run with other settings.
    """
    try:
        state = json.loads((path / "state.json").read_text(encoding="utf8"))
        update = int(state["update"])
        stored = {} if load_shards else torch.load(path / OPTIMISER, weights_only=True)
    except Exception as error:  # torn files raise whatever their reader stumbles over
        raise _damaged(path, error) from error
    for name, value in json.loads(json.dumps(expected)).items():
        if state.get(name) != value:
            raise ValueError(
                f"checkpoint {str(path)!r} belongs to a run with {name} = {state.get(name)!r}, this run has {value!r}; "
                "resume with the same settings or use another folder"
            )
    try:
        if load_shards is not None:
            load_shards(path / SHARDS)
        else:
            load_weights(policy, path)
            optimiser.load_state_dict(stored)
    except Exception as error:
        raise _damaged(path, error) from error
    return update


def _damaged(path: Path, error: Exception) -> ValueError:
    return ValueError(
        f"checkpoint {str(path)!r} is damaged ({error}); delete that folder to resume from an earlier one"
    )
