"""The SFT that the cells of one seed share: made once, whoever comes first, then loaded."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.sft import train_sft
from studies.folder import differing, plain
from studies.locks import locked
from studies.pool import Report
from studies.recipe import instances
from studies.training_settings import Training, new_policy, resolved_training, rules

if TYPE_CHECKING:
    from studies.runner import CellJob


def supervise(job: CellJob, report: Report) -> str:
    """Make the shared checkpoint of a job if it is not there yet; returns a few words on it."""
    _, measured = supervised_policy(job, report)
    return f"first actions right: {measured.get('atomic_first_action', float('nan')):.0%}"


def supervised_policy(job: CellJob, report: Report) -> tuple[TinyPolicy, dict[str, float]]:
    """Return the policy after SFT and what was measured of it, from disk if it was made before.

    Raises:
        ValueError: if the checkpoint was made with other settings, naming the difference.
    """
    folder, training = job.supervised_folder, resolved_training(job)
    with locked(folder, wait=True):
        if not (folder / "done.json").exists():
            report(0.0, "SFT on expert traces")
            _train(job, training, folder)
        settings, measured = _read(folder / "done.json")
        if differences := list(differing(settings, _settings(training))):
            raise ValueError(
                f"{folder} holds an SFT with other settings: {'; '.join(differences)}. Remove the folder, "
                "or choose another results folder"
            )
    return TinyPolicy.load(folder / "model"), measured


def _read(path: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """Return the settings and measurements of a finished SFT."""
    try:
        done = json.loads(path.read_text(encoding="utf8"))
        return dict(done["settings"]), dict(done["measured"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged ({error}); remove {path.parent} to make that SFT again") from error


def _train(job: CellJob, training: Training, folder: Path) -> None:
    policy = new_policy(job, training)
    made = train_sft(policy, rules(job.cell), instances(job.cell, training.sft_levels, "train"), training.sft)
    draft = folder / "model.part"
    shutil.rmtree(draft, ignore_errors=True)
    shutil.rmtree(folder / "model", ignore_errors=True)
    policy.save(draft)
    draft.replace(folder / "model")
    measured = {
        **{f"loss_{index}": loss for index, loss in enumerate(made.losses, start=1)},
        **made.accuracy,
        "states": made.states,
        "learned_tokens": made.tokens,
    }
    part = folder / "done.json.part"
    content = {"settings": _settings(training), "measured": measured, "seconds": made.seconds}
    part.write_text(json.dumps(content, indent=2) + "\n", encoding="utf8")
    part.replace(folder / "done.json")


def _settings(training: Training) -> dict[str, Any]:
    kept = ("hidden_size", "layers", "value_head", "sft", "sft_levels")
    return {name: value for name, value in plain(training).items() if name in kept}
