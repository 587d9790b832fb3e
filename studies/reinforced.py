"""A trained cell: the shared SFT, evaluation, RL under the eye of the collapse detector, evaluation again."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curricula import Instance
from horizon_bench.episodes import Episode
from horizon_bench.files import drop_folder, naming, put_in_place, sweep
from horizon_bench.mira.phases import train_mira
from horizon_bench.pace import Pace, measured_pace
from horizon_bench.policies import Policy
from horizon_bench.training.checkpoint import DRAFT, checkpoints, damaged, last_checkpoint, read_state
from horizon_bench.training.rl import train_rl
from horizon_bench.training.scoring import Trainable, load_weights
from reports.collapse import detect, first_collapse
from reports.records import CollapseRecord, EvaluationRecord, Record, UpdateRecord
from studies.folder import SFT_DONE, RunFolder, after, of_last_test
from studies.language import LanguageTraining
from studies.recipe import instances, stage_seed, test_levels
from studies.supervised import supervised_policy
from studies.training_settings import Training, resolved_training

if TYPE_CHECKING:
    from studies.cell import CellRun

SFT_SHARE, FINAL_SHARE = 0.15, 0.9
"""Shares of a run that are done after the first evaluation and before the last; for the display only."""
BEFORE_COLLAPSE = "before-collapse"


def run_trained(run: CellRun) -> str:
    """Run what is left of a trained cell; returns a few words on how it went."""
    training = resolved_training(run.job)
    policy, measured = supervised_policy(run.job, run.report)
    policy = _playing(policy, training)
    started = _after_sft(run, policy, measured, training)
    if not run.cell.trained:
        run.folder.finish({"success": started})
        return f"{started:.0%} solved after SFT"
    _reinforce(run, policy, training)
    updates = training.update.updates
    run.folder.rewind(of_last_test)
    success = run.evaluate_fully(policy, "rl", updates, run.job.preset.test_puzzles, (FINAL_SHARE, 1.0))
    watch = Watch(run, Pace())
    watch.look()
    collapse = first_collapse(watch.findings)
    _prune(run)
    run.folder.finish({"success_sft": started, "success": success, "collapsed": collapse is not None})
    return f"{started:.0%} solved after SFT, {success:.0%} after RL" + (", collapsed" if collapse else "")


def _playing(policy: Trainable, training: Training | LanguageTraining) -> Trainable:
    """Return the policy as evaluations sample from it; training shares its model."""
    return policy.with_sampling(
        temperature=training.rollout.temperature,
        thought_slip=training.rollout.thought_slip,
        thoughts=training.environment.thought != "none",
    )


def _after_sft(
    run: CellRun, policy: Trainable, measured: dict[str, float], training: Training | LanguageTraining
) -> float:
    """Record and evaluate the policy after SFT unless that was done; returns the share of solved attempts."""
    job, folder = run.job, run.folder
    if run.team.agree(not (job.folder / SFT_DONE).exists()):
        folder.restart("sft")
        levels = "+".join(training.sft_levels)
        folder.append([UpdateRecord(job.study, run.cell.name, job.seed, "sft", training.sft.steps, levels, measured)])
        run.evaluate_fully(policy, "sft", 0, job.preset.test_puzzles, (0.02, SFT_SHARE))
        if run.cell.trained:
            _validate(run, policy, "sft", 0)
        if run.team.leads:
            (job.folder / SFT_DONE).touch()
    rows = [row for row in folder.records if isinstance(row, EvaluationRecord) and row.phase == "sft"]
    own = [row.solved for row in rows if row.interface == run.cell.interface and row.split == "test"]
    if not own:
        raise folder.lacking("the evaluation after SFT")
    return sum(own) / len(own)


def _validate(run: CellRun, policy: Policy, phase: str, update: int) -> None:
    """Evaluate on a few validation puzzles of all levels: the curve that collapse is looked for in, from its start."""
    chosen = instances(run.cell, test_levels(run.cell), "validation", run.job.preset.interval_puzzles)
    run.evaluate_on(policy, chosen, run.cell.interface, phase, update, "interval")


def _reinforce(run: CellRun, policy: Any, training: Training | LanguageTraining) -> None:
    """Train with RL from the last checkpoint on; every update and evaluation goes to the records."""
    folder = run.folder
    newest = run.team.agree(last_checkpoint(folder.checkpoints))
    if newest is not None:
        _check_updates(folder, newest[0])
    if newest is not None and newest[0] == training.update.updates:
        try:
            load_weights(policy, newest[1])
        except ValueError as error:
            raise damaged(newest[1], error) from error
        return
    folder.rewind(after("rl", newest[0] if newest else -1))
    with measured_pace() as pace:
        _train(policy, training, run, Watch(run, pace))


def _check_updates(folder: RunFolder, count: int) -> None:
    """Raise `ValueError` unless the records hold each update that the checkpoint has seen."""
    recorded = {row.update for row in folder.records if isinstance(row, UpdateRecord) and row.phase == "rl"}
    if missing := sorted({*range(1, count + 1)} - recorded):
        raise folder.lacking(f"update {missing[0]}, though there is a checkpoint after update {count}")


def _train(policy: Any, training: Training | LanguageTraining, run: CellRun, watch: Watch) -> None:
    shared: dict[str, Any] = {
        "seed": stage_seed(run.job.seed, "reinforced"),
        "folder": run.folder.checkpoints,
        "on_update": watch.on_update,
        "on_evaluation": watch.on_evaluation,
    }
    stage = (policy, _schedule(run, training), training.environment, training.rollout, training.update)
    if training.mira is None:
        train_rl(*stage, **shared)
    else:
        train_mira(*stage, training.mira, **shared)


def _phase(run: CellRun, update: int) -> int:
    """Return the phase of the schedule that an update (from 0) belongs to; phases share the updates evenly."""
    phases = len(run.cell.train)
    return min(update * phases // run.job.preset.updates, phases - 1)


def _schedule(run: CellRun, training: Training | LanguageTraining) -> Callable[[int], list[Instance]]:
    pools = [instances(run.cell, levels, "train") for levels in run.cell.train]
    return lambda update: pools[_phase(run, update)]


class Watch:
    """Writes the records of a training as it goes, and looks for collapse after each update and evaluation."""

    def __init__(self, run: CellRun, pace: Pace) -> None:
        """Begin to watch; `pace` grows with this process's rollouts."""
        self.run, self._pace = run, pace
        rows = run.folder.records
        self.findings = [row for row in rows if isinstance(row, CollapseRecord)]
        updates = [row for row in rows if isinstance(row, UpdateRecord) and row.phase == "rl"]
        last = updates[-1] if updates else None
        self._totals = (last.total_tokens, last.total_environment_calls, last.total_atomic_steps) if last else (0, 0, 0)
        self._start()

    def _start(self) -> None:
        """Begin to time the next update."""
        self._clock, self._played = time.perf_counter(), self._pace.seconds

    def on_update(self, update: int, metrics: dict[str, float], episodes: list[Episode]) -> None:
        """Record an update."""
        run, job = self.run, self.run.job
        seconds = time.perf_counter() - self._clock
        new = [(episode.tokens, episode.decisions, episode.atomic_steps) for episode in episodes]
        new.append(_continued(metrics))
        self._totals = tuple(map(sum, zip(self._totals, *new, strict=True)))  # type: ignore[assignment]
        levels = "+".join(run.cell.train[_phase(run, update - 1)])
        record = UpdateRecord(job.study, run.cell.name, job.seed, "rl", update, levels, _named(metrics), *self._totals)
        run.folder.append([record])
        pace = Pace()
        pace.add(episodes, self._pace.seconds - self._played)
        run.time("rl", update, seconds, pace)
        self.look()
        done = update / job.preset.updates
        note = f"update {update}, {metrics['success']:.0%} solved, {pace}"
        run.report(SFT_SHARE + (FINAL_SHARE - SFT_SHARE) * done, note)
        self._start()

    def on_evaluation(self, update: int, policy: Policy) -> None:
        """Evaluate on validation puzzles."""
        _validate(self.run, policy, "rl", update)
        self.look()
        self._start()

    def look(self) -> None:
        """Record what the collapse detector newly finds, and keep the last checkpoint from before a collapse."""
        known = {(row.criterion, row.level) for row in self.findings}
        new = [row for row in detect(self._rows()) if (row.criterion, row.level) not in known]
        kept = [replace(row, checkpoint=self._keep(row)) if row.fatal else row for row in new]
        self.findings += kept
        if kept:
            self.run.folder.append(kept)

    def _rows(self) -> list[Record]:
        return [row for row in self.run.folder.records if isinstance(row, EvaluationRecord | UpdateRecord)]

    def _keep(self, finding: CollapseRecord) -> str:
        """Return the kept checkpoint, relative to the run's folder; the shared SFT's where the onset is so early."""
        folder = self.run.folder
        kept = folder.checkpoints / BEFORE_COLLAPSE
        before = [(update, path) for update, path in checkpoints(folder.checkpoints) if update < finding.onset]
        if not before and kept.exists() and _update_of(kept) < finding.onset:
            # A run that was killed once all but the last checkpoint were gone finds the same collapse again.
            return str(Path("checkpoints") / BEFORE_COLLAPSE)
        if not before:
            return Path(os.path.relpath(self.run.job.supervised_folder, self.run.job.folder)).as_posix()
        update, source = before[-1]
        if self.run.team.leads and (not kept.exists() or update < _update_of(kept)):
            draft = kept.with_name(DRAFT + kept.name)
            shutil.rmtree(draft, ignore_errors=True)
            with naming(draft):
                shutil.copytree(source, draft)
                put_in_place(draft, kept)
        return str(Path("checkpoints") / BEFORE_COLLAPSE)


def _update_of(checkpoint: Path) -> int:
    """Return the update after which a checkpoint was written."""
    return int(read_state(checkpoint)["update"])


def _continued(metrics: Mapping[str, float]) -> tuple[int, int, int]:
    """Return tokens, decisions and atomic steps of the continuations that an update's values were made from."""
    costs = (int(metrics.get(name, 0)) for name in ("value_tokens", "value_decisions", "value_atomic_steps"))
    tokens, decisions, steps = costs
    return tokens, decisions, steps


def _named(metrics: dict[str, float]) -> dict[str, float]:
    """Return the trainer's measurements under the names that the records define, in alphabetical order."""
    renamed = {
        **metrics,
        "voided_share": metrics["lost_share"],
        "invalid_share": metrics["illegal_action_share"],
        "invalid_decision_share": metrics["invalid_share"],
    }
    del renamed["illegal_action_share"], renamed["lost_share"]
    return dict(sorted(renamed.items()))


def _prune(run: CellRun) -> None:
    """Keep the last checkpoint and the one from before a collapse."""
    if not run.team.leads:
        return
    sweep(run.folder.checkpoints, DRAFT)
    for _, path in checkpoints(run.folder.checkpoints)[:-1]:
        drop_folder(path)
