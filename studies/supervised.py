"""The SFT that the cells of one seed share: made once, whoever comes first, then loaded."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from horizon_bench.files import naming, put_in_place, sweep, write_whole
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.sft import Progress, train_sft
from horizon_bench.training.team import Team
from studies.folder import ERROR_NAME, differing, plain
from studies.language import LanguageTraining, load_policy, teach
from studies.locks import locked
from studies.pool import Report
from studies.recipe import instances
from studies.training_settings import Training, new_policy, resolved_training, rules

if TYPE_CHECKING:
    from studies.runner import CellJob


def supervise(job: CellJob, report: Report) -> str:
    """Make the shared checkpoint of a job if it is not there yet; returns a few words on it."""
    _, measured = supervised_policy(job, report, share=1.0)
    right = measured.get("atomic_first_action")
    return "SFT done" if right is None else f"first actions right: {right:.0%}"


def supervised_policy(job: CellJob, report: Report, share: float = 0.0) -> tuple[Any, dict[str, float]]:
    """Return the policy after SFT and what was measured of it, from disk if it was made before.

    Args:
        job: whose SFT it is.
        report: told how far the SFT is.
        share: part of the job that the SFT is.

    Raises:
        ValueError: if the checkpoint was made with other settings, naming the difference.
    """
    folder, training, team = job.supervised_folder, resolved_training(job), Team.current()
    with locked(folder, wait=True) if team.leads else contextlib.nullcontext():
        if team.agree(not (folder / "done.json").exists()):
            report(0.0, "collecting expert traces for SFT")
            _train(job, training, folder, lambda done: report(share * done, f"SFT {done:.0%}"))
            team.wait()
        settings, measured = _read(folder / "done.json")
        if differences := list(differing(_of_puzzle(job) | settings, _settings(job, training))):
            raise ValueError(
                f"{folder} holds an SFT with other settings: {'; '.join(differences)}. Remove the folder, "
                "or choose another results folder"
            )
    return _load(training, folder / "model"), measured


def _load(training: Training | LanguageTraining, folder: Path) -> Any:
    try:
        return load_policy(training, folder) if isinstance(training, LanguageTraining) else TinyPolicy.load(folder)
    except ValueError as error:
        raise ValueError(f"{error}; remove {folder.parent} to make that SFT again") from error


def _read(path: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """Return the settings and measurements of a finished SFT."""
    try:
        done = json.loads(path.read_bytes())
        return dict(done["settings"]), dict(done["measured"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{path} is damaged ({error}); remove {path.parent} to make that SFT again") from error


def _train(job: CellJob, training: Training | LanguageTraining, folder: Path, progress: Progress) -> None:
    """Make the SFT in all processes of a team; the leader writes it down."""
    made: tuple[Any, dict[str, Any], float] = (
        teach(job, training, progress)
        if isinstance(training, LanguageTraining)
        else _teach_small(job, training, progress)
    )
    policy, measured, seconds = made
    if not Team.current().leads:
        return
    draft = folder / "model.part"
    shutil.rmtree(draft, ignore_errors=True)
    sweep(folder)
    with naming(draft):
        policy.save(draft)
        put_in_place(draft, folder / "model")
    content = {"settings": _settings(job, training), "measured": measured, "seconds": seconds}
    write_whole(folder / "done.json", json.dumps(content, indent=2) + "\n")
    (folder / ERROR_NAME).unlink(missing_ok=True)


def _teach_small(job: CellJob, training: Training, progress: Progress) -> tuple[TinyPolicy, dict[str, Any], float]:
    if Team.current().size > 1:
        raise ValueError("the small model's SFT runs in one process; `study run --processes` makes it before its teams")
    policy = new_policy(job, training)
    starts = instances(job.cell, training.sft_levels, "train")
    made = train_sft(policy, rules(job.cell), starts, training.sft, progress)
    measured = {
        **{f"loss_{index}": loss for index, loss in enumerate(made.losses, start=1)},
        **made.accuracy,
        "states": made.states,
        "learned_tokens": made.tokens,
    }
    return policy, measured, made.seconds


def _settings(job: CellJob, training: Training | LanguageTraining) -> dict[str, Any]:
    kept = ("hidden_size", "layers", "value_head", "model", "dtype", "sft", "sft_levels")
    return _of_puzzle(job) | {name: value for name, value in plain(training).items() if name in kept}


def _of_puzzle(job: CellJob) -> dict[str, str]:
    """Return what tells puzzles of your own with the same name apart; older checkpoints do not say it."""
    return {"puzzle": job.cell.puzzle} if job.cell.module else {}
