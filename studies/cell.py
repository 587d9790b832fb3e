"""Runs one cell with one seed, from its settings to `done.json`; a killed run goes on where it was.

A cell whose policy is not trained is evaluated and done. The others start from the SFT that all cells of a seed share,
are evaluated, trained by RL under the eye of the collapse detector, and evaluated again.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import platform
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from curricula import Instance
from horizon_bench.episodes import Episode
from horizon_bench.evaluation import evaluate
from horizon_bench.pace import Pace, measured_pace
from horizon_bench.policies import Policy
from horizon_bench.training.team import Team
from reports.failures_divergence import first_divergence
from reports.records import CellRecord, EvaluationRecord, StoredEpisode, TimingRecord
from studies.folder import RunFolder, plain
from studies.language import played
from studies.locks import locked
from studies.named_policies import ModelOptions, in_short
from studies.pool import Report
from studies.recipe import board_size, instances, label, stage_seed, test_levels, untrained_policy
from studies.reuse import take_over
from studies.tracking import start_tracking

if TYPE_CHECKING:
    from studies.runner import CellJob

PACKAGES = ("horizon-bench", "numpy", "gymnasium", "torch", "transformers", "trl", "accelerate")
EVALUATION_BATCH = 64
"""Instances played side by side; fixed, because the last bits of a model's arithmetic depend on it."""


def run_job(job: CellJob, report: Report) -> str:
    """Do one job of a study; returns a few words on how it went."""
    if job.cell.module:
        importlib.import_module(job.cell.module)
    if job.supervised_only:
        from studies.supervised import supervise

        return supervise(job, report)
    with locked(job.folder) if Team.current().leads else contextlib.nullcontext():
        return CellRun(job, report).run()


def finished(job: CellJob) -> bool:
    """Return whether a run is complete.

    Raises:
        ValueError: if its folder holds a run with other settings, naming each difference, or records were lost.
    """
    run = CellRun(job, lambda share, note: None)
    if not run.folder.check(run.settings()):
        return False
    run.folder.verify()
    return run.folder.done


class CellRun:
    """One cell and seed in the making."""

    def __init__(self, job: CellJob, report: Report) -> None:
        self.job = job
        self.cell = job.cell
        self.report = report
        self.team = Team.current()
        self.folder = RunFolder(job.folder, writes=self.team.leads)

    def run(self) -> str:
        """Run what is left of the cell; returns a few words on how it went."""
        if self.team.leads:
            self.folder.open(self.settings())
        self.team.wait()
        if not self.team.leads:
            self.folder.open(self.settings())
        self.team.wait()
        if self.folder.done:
            return "was finished already"
        if study := self.team.agree(self._taken_over() if self.team.leads else ""):
            return f"taken over from study {study}"
        tracking = start_tracking(self.job.track, self.job) if self.team.leads else None
        if tracking is None:
            return self._run()
        self.folder.listener = tracking.log
        try:
            return self._run()
        finally:
            tracking.close()

    def _taken_over(self) -> str:
        """Return the study that the run is taken over from, "" if it has to be run here."""
        return "" if self.folder.records else take_over(self.folder, self.settings(), Path(self.job.results))

    def _run(self) -> str:
        if self.cell.needs_sft:
            from studies.reinforced import run_trained

            return run_trained(self)
        phase = self.cell.credit.policy
        self.folder.restart(phase)
        policy = untrained_policy(self.cell, self._asked())
        success = self.evaluate_fully(policy, phase, 0, self.job.preset.untrained_puzzles)
        self.folder.finish({"success": success})
        return f"{success:.0%} solved{in_short(policy)}"

    def _asked(self) -> ModelOptions:
        """Return how a language model is asked; the replies of an endpoint are kept in the run's own folder."""
        asked = self.job.preset.asked or ModelOptions()
        return asked if asked.replies else replace(asked, replies=self.job.folder / "replies.jsonl")

    def settings(self) -> CellRecord:
        """Return the content of `cell.json`."""
        cell, learner = self.cell, self.cell.credit
        return CellRecord(
            study=self.job.study,
            cell=cell.name,
            seed=self.job.seed,
            label=label(cell),
            puzzle=cell.puzzle,
            size=board_size(cell),
            interface=cell.interface,
            reward=learner.reward,
            estimator=learner.estimator,
            train_levels=cell.train_levels,
            test_levels=test_levels(cell),
            policy=learner.policy,
            preset=self.job.preset.name,
            commit=_commit(),
            settings=self._resolved(),
            versions={"python": platform.python_version()} | _versions(),
        )

    def evaluate_fully(
        self, policy: Policy, phase: str, update: int, per_level: int, within: tuple[float, float] = (0.0, 1.0)
    ) -> float:
        """Evaluate on the test puzzles of all levels, through each interface of the cell, and record it.

        Args:
            policy: what is evaluated.
            phase: what it has been through.
            update: RL updates made so far.
            per_level: most puzzles a level.
            within: the shares of the job that are done before and after.

        Returns:
            Share of solved attempts through the cell's own interface.
        """
        chosen = instances(self.cell, test_levels(self.cell), "test", per_level)
        interfaces = [self.cell.interface, *([self.cell.run_as] if self.cell.run_as else [])]
        solved: list[float] = []
        width = (within[1] - within[0]) / len(interfaces)
        for index, interface in enumerate(interfaces):
            start = within[0] + index * width

            def progress(share: float, pace: Pace, start: float = start, interface: str = interface) -> None:
                self.report(start + width * share, f"evaluation as {interface}, {pace}")

            records = self.evaluate_on(policy, chosen, interface, phase, update, "evaluation", progress)
            solved.append(sum(record.solved for record in records) / len(records))
        return solved[0]

    def evaluate_on(
        self,
        policy: Policy,
        chosen: Sequence[Instance],
        interface: str,
        phase: str,
        update: int,
        stage: str,
        progress: Callable[[float, Pace], None] = lambda share, pace: None,
    ) -> list[EvaluationRecord]:
        """Evaluate on some instances, record every attempt, and keep the episodes of a few puzzles whole."""
        began, preset = time.perf_counter(), self.job.preset
        settings, seed = played(self.cell, interface, preset), stage_seed(self.job.seed, stage)
        records: list[EvaluationRecord] = []
        kept: list[StoredEpisode] = []
        seen: dict[str, set[str]] = {}
        pace = Pace()
        for start in range(0, len(chosen), EVALUATION_BATCH):
            part = chosen[start : start + EVALUATION_BATCH]
            mine = range(self.team.rank, len(part), self.team.size)
            with measured_pace() as played_here:
                own = evaluate(policy, part, settings, preset.attempts, preset.temperature, seed, mine)
            shares = [episode for share in self.team.collect(own) for episode in share]
            episodes = sorted(shares, key=lambda episode: (episode.group, episode.attempt))
            pace.add(episodes, played_here.seconds)
            for index, episode in enumerate(episodes):
                instance = part[index // preset.attempts]
                records.append(self._record(episode, instance, interface, phase, update))
                if stage == "evaluation" and self._is_kept(episode, seen):
                    kept.append(self._stored(episode, interface, phase, update))
            progress((start + len(part)) / len(chosen), pace)
        self.folder.append(records)
        if kept:
            self.folder.append_episodes(kept)
        self.time("evaluation", update, time.perf_counter() - began, pace, chosen[0].split)
        return records

    def time(self, phase: str, update: int, seconds: float, pace: Pace, split: str = "") -> None:
        """Record how long a part took and how fast was played in it; only training counts towards the total."""
        earlier = self.folder.timings()
        total = earlier[-1].total_seconds if earlier else 0.0
        total += seconds if phase != "evaluation" else 0.0
        job = self.job
        speed = (pace.seconds, pace.decisions_per_second, pace.tokens_per_second)
        row = TimingRecord(job.study, self.cell.name, job.seed, phase, update, seconds, total, *speed, split)
        self.folder.append_timing(row)

    def _record(
        self, episode: Episode, instance: Instance, interface: str, phase: str, update: int
    ) -> EvaluationRecord:
        left = first_divergence(episode, instance.puzzle, instance.size)
        return EvaluationRecord.from_episode(
            episode,
            study=self.job.study,
            cell=self.cell.name,
            seed=self.job.seed,
            phase=phase,
            update=update,
            puzzle=self.cell.puzzle,
            interface=interface,
            split=instance.split,
            technique=instance.grade,
            divergence=None if left is None else left.atomic_step,
        )

    def _is_kept(self, episode: Episode, seen: dict[str, set[str]]) -> bool:
        """Return whether an episode is of one of the first puzzles of its level; `seen` holds those so far."""
        starts = seen.setdefault(episode.level, set())
        if episode.start not in starts and len(starts) == self.job.preset.stored_puzzles:
            return False
        starts.add(episode.start)
        return True

    def _stored(self, episode: Episode, interface: str, phase: str, update: int) -> StoredEpisode:
        return StoredEpisode(
            self.job.study,
            self.cell.name,
            self.job.seed,
            phase,
            update,
            self.cell.puzzle,
            board_size(self.cell),
            interface,
            episode,
        )

    def _resolved(self) -> dict[str, object]:
        unsaid = ("costs", "asked") if self.job.preset.language else ("costs", "asked", "language")
        settings: dict[str, object] = {
            "cell": plain(self.cell),
            "preset": {name: value for name, value in plain(self.job.preset).items() if name not in unsaid},
            "environment": plain(played(self.cell, self.cell.interface, self.job.preset)),
        }
        if self.cell.needs_sft:
            from studies.training_settings import resolved_training

            settings["training"] = plain(resolved_training(self.job))
        if self.cell.named:
            asked = self._asked()
            settings["asked"] = {"reply_cap": asked.reply_cap, "thinking": asked.thinking}
        return settings


def _commit() -> str:
    """Return the revision of the source where it is run from a checkout, else ""."""
    root = Path(__file__).resolve().parent.parent
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        return ""
    answer = subprocess.run([git, "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=False)
    return answer.stdout.strip()


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
