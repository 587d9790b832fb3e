"""Checkpoints of an RL run: written whole or not at all, loaded without unpickling code.

A checkpoint is a folder `update-000040` with the policy (safetensors and tokenizer), the optimiser's state and
`state.json`. It needs no generator states: every draw of update u comes from the run's seed and u.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from horizon_bench.extras import extra_needed
from horizon_bench.files import drop_folder, naming, put_in_place, sweep
from horizon_bench.training.scoring import Trainable, load_weights
from horizon_bench.training.team import Team

with extra_needed():
    import torch

Shards = Callable[[Path], None]
OPTIMISER, SHARDS = "optimiser.pt", "shards"
"""Where the optimiser's state lies, and what sharded processes wrote."""
STATE, STATE_VERSION = "state.json", 1
"""File written last into a checkpoint; its version is raised whenever an older program could not go on from it."""
DRAFT = ".draft-"
"""Beginning of the name of a checkpoint in the making."""
_NAME = re.compile(r"update-(\d{6,})")


def checkpoints(folder: Path) -> list[tuple[int, Path]]:
    """Return the complete checkpoints in a folder as (update, path), oldest first."""
    if not folder.is_dir():
        return []
    found = [(int(match[1]), path) for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))]
    return sorted((update, path) for update, path in found if (path / STATE).is_file())


def last_checkpoint(folder: str | Path) -> tuple[int, Path] | None:
    """Return update and path of the newest complete checkpoint, None without one."""
    found = checkpoints(Path(folder))
    return found[-1] if found else None


class _Outlet(io.FileIO):
    """A file that writes all it is given and remembers why it could not."""

    refusal: OSError | None = None

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        try:
            while rest:
                rest = rest[super().write(rest) :]
        except OSError as error:
            self.refusal = error
            raise
        return memoryview(data).nbytes


def save_tensors(content: Any, path: Path) -> None:
    """Write tensors and plain values as `torch.save` does.

    Raises:
        OSError: if the disk refuses, with the file's name. (torch itself then speaks of positions in the file.)
    """
    with naming(path), _Outlet(path, "w") as outlet:
        try:
            torch.save(content, outlet)
        except Exception:
            if outlet.refusal is not None:
                raise outlet.refusal from None
            raise


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
    team = team or Team()

    def fill(draft: Path) -> None:
        if save_shards is not None:
            save_shards(draft / SHARDS)
        if team.leads:
            policy.save(draft)
            if save_shards is None:
                save_tensors(optimiser.state_dict(), draft / OPTIMISER)

    return write_checkpoint(folder, update, fill, state, keep, team)


def write_checkpoint(
    folder: Path, update: int, fill: Callable[[Path], None], state: Mapping[str, Any], keep: int, team: Team
) -> Path:
    """Write a checkpoint, whole or not at all, and drop the oldest beyond `keep`; returns its path.

    Args:
        folder: of all checkpoints of the run; what killed runs left half written in it is removed.
        update: number of finished updates.
        fill: writes everything but `state.json` into the folder that it is given, in every process.
        state: what a resumed run checks or needs, JSON values.
        keep: newest checkpoints to keep; 0 keeps all.
        team: the processes, all of which must call this.
    """
    path, draft = folder / f"update-{update:06d}", team.agree(folder / f"{DRAFT}{update:06d}-{os.getpid()}")
    with naming(draft):
        if team.leads:
            sweep(folder, DRAFT)
            draft.mkdir(parents=True)
        team.wait()
        fill(draft)
        team.wait()
        if team.leads:
            text = json.dumps({"version": STATE_VERSION, "update": update, **state}, indent=1, sort_keys=True)
            (draft / STATE).write_text(text, encoding="utf8")
            put_in_place(draft, path)
    if team.leads:
        for _, old in checkpoints(folder)[:-keep] if keep else ():
            drop_folder(old)
    team.wait()
    return path


def read_state(path: Path, expected: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the `state.json` of a checkpoint.

    Args:
        path: the checkpoint's folder.
        expected: entries that must be the same now.

    Raises:
        ValueError: if it is damaged, of a newer version of this program, or of a run with other settings.
    """
    try:
        state = json.loads((path / STATE).read_text(encoding="utf8"))
        version, _ = int(state.get("version", 1)), int(state["update"])
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError) as error:
        raise damaged(path, error) from error
    if version > STATE_VERSION:
        raise ValueError(
            f"{path / STATE} has version {version}, this program reads up to {STATE_VERSION}; update horizon-bench, or "
            "delete that folder to resume from an earlier checkpoint"
        )
    for name, value in json.loads(json.dumps(expected or {})).items():
        if state.get(name) != value:
            raise ValueError(
                f"checkpoint {str(path)!r} belongs to a run with {name} = {state.get(name)!r}, this run has {value!r}; "
                "resume with the same settings or use another folder"
            )
    return dict(state)


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
    state = read_state(path, expected)
    try:
        if load_shards is not None:
            load_shards(path / SHARDS)
        else:
            stored = torch.load(path / OPTIMISER, weights_only=True)
            load_weights(policy, path)
            optimiser.load_state_dict(stored)
    except Exception as error:  # torn files raise whatever their reader stumbles over
        raise damaged(path, error) from error
    return int(state["update"])


def damaged(path: Path, error: Exception) -> ValueError:
    """Return the error of a checkpoint that cannot be read."""
    reason = " ".join(str(error).split())[:200] or type(error).__name__
    return ValueError(
        f"checkpoint {str(path)!r} is damaged ({reason}); delete that folder to resume from an earlier one, or from "
        "the start where there is none"
    )
