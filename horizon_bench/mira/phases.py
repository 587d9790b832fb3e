"""Phases of MiRA: collect, label, critics, policy. An update is one batch; a phase is the updates of one reference.

As in `horizon_bench.training.rl`, update u draws everything from the seed and u alone. What a resumed run needs beside
the policy lies in its checkpoint (critics, reference, optimisers) and in the replay buffer's folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from horizon_bench.envs.instances import workshop
from horizon_bench.envs.interfaces import find_interface
from horizon_bench.envs.settings import Settings
from horizon_bench.episodes import Episode
from horizon_bench.extras import extra_needed
from horizon_bench.mira.calibration import calibration_metrics
from horizon_bench.mira.checkpoints import load_state, save_state
from horizon_bench.mira.configs import MiraConfig
from horizon_bench.mira.critics import Critics, CriticTargets
from horizon_bench.mira.curriculum import draw_near_failures, kind_of, near_failures
from horizon_bench.mira.policy_step import PolicyLearner
from horizon_bench.mira.replay import ReplayBuffer, Replayed
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.policies.vocabulary import FEEDBACK
from horizon_bench.rollout import rollout
from horizon_bench.training.configs import RolloutConfig, UpdateConfig
from horizon_bench.training.metrics import rollout_metrics
from horizon_bench.training.team import Team
from horizon_bench.training.updates import (
    Instances,
    OnEvaluation,
    OnUpdate,
    RlReport,
    as_player,
    draw_evenly,
    instances_at,
    run_updates,
)
from solvers import oracle as make_oracle

with extra_needed():
    import torch
    from torch import Tensor

REPLAY_FOLDER = "replay"
"""Folder of the replay buffer, beside the checkpoints."""
CANDIDATES = 2.0
"""Replies that are looked at for each one that may be replayed."""


def train_mira(
    policy: TinyPolicy,
    instances: Instances,
    settings: Settings,
    rollout_config: RolloutConfig | None = None,
    update_config: UpdateConfig | None = None,
    mira_config: MiraConfig | None = None,
    *,
    seed: int = 0,
    folder: str | Path | None = None,
    on_update: OnUpdate | None = None,
    on_evaluation: OnEvaluation | None = None,
) -> RlReport:
    """Train the policy's model in place; with a folder, resume from its last checkpoint.

    Args:
        policy: the small model, usually after SFT.
        instances: training instances, or a schedule of them.
        settings: the environment's settings, `observation="compact"` and `reward="outcome"`.
        rollout_config: how batches are made.
        update_config: number of updates, learning rate and the like; its estimator, correction and loss are not used.
        mira_config: how a phase learns.
        seed: of all chance.
        folder: of the checkpoints; the replay buffer stands beside it. Without one nothing is written.
        on_update: sees every update.
        on_evaluation: called every `evaluate_every` updates.

    Raises:
        ValueError: for another reward than the outcome, or a checkpoint or buffer of another run.
    """
    trainer = MiraTrainer(
        policy,
        settings,
        rollout_config or RolloutConfig(),
        update_config or UpdateConfig(),
        mira_config or MiraConfig(),
        seed,
        None if folder is None else Path(folder).parent / REPLAY_FOLDER,
    )
    return run_updates(trainer, instances, folder, on_update, on_evaluation)


class MiraTrainer:
    """Policy, reference, critics and replay buffer of one run; `update` does one batch."""

    def __init__(
        self,
        policy: TinyPolicy,
        settings: Settings,
        rollout_config: RolloutConfig,
        config: UpdateConfig,
        mira: MiraConfig,
        seed: int,
        folder: Path | None = None,
    ) -> None:
        """Prepare a run; nothing is drawn yet.

        Raises:
            ValueError: for another reward than the outcome: the value critic estimates the chance of success.
        """
        if settings.reward != "outcome":
            raise ValueError(
                f"MiRA learns from reward='outcome', to which its potential critic adds the rest, not from "
                f"{settings.reward!r}"
            )
        torch.set_num_threads(1)
        self.policy, self.settings, self.rollout, self.config, self.mira, self.seed = (
            policy, settings, rollout_config, config, mira, seed,
        )  # fmt: skip
        self.team = Team()
        self.player = as_player(policy, settings, rollout_config)
        self.learner = PolicyLearner(self.player, config, mira)
        self.critics = Critics(policy.model, mira.critic_rate, potential=mira.shaping > 0)
        self.buffer = ReplayBuffer(folder, mira.replay_updates)
        self._targets: dict[int, CriticTargets] = {}
        self._starts: dict[str, NDArray[np.int64]] = {}
        self._subgoals: dict[str, int] = {}

    # ---------------------------------------------------------------- checkpoints

    @property
    def identity(self) -> dict[str, Any]:
        """What must not change between a run and its resumption; the number of updates may."""
        names = ("learning_rate", "warmup_updates", "weight_decay", "gradient_clip", "micro_batch")
        return {
            "seed": self.seed,
            "settings": asdict(self.settings),
            "rollout": asdict(self.rollout),
            "update_config": {name: getattr(self.config, name) for name in names},
            "mira": asdict(self.mira),
        }

    @property
    def _parts(self) -> dict[str, Any]:
        return {
            "optimiser": self.learner.optimiser,
            "reference": self.learner.reference,
            "critics": self.critics.module,
            "critics_optimiser": self.critics.optimiser,
        }

    def save(self, folder: Path, update: int) -> Path:
        """Write a checkpoint and drop what the buffer needs no more; returns its path."""
        path = save_state(folder, update, self.policy, self._parts, self.identity, self.config.keep_checkpoints)
        self.buffer.prune(update)
        return path

    def resume(self, path: Path | None) -> int:
        """Put a checkpoint's state and the buffer's in place and return the update; 0 and nothing without one."""
        update = 0 if path is None else load_state(path, self.policy, self._parts, self.identity)
        self.buffer.rewind(update)
        return update

    # ---------------------------------------------------------------- one update

    def update(self, number: int, instances: Instances) -> tuple[dict[str, float], list[Episode]]:
        """Collect one batch, label it, train the critics and the policy; return its metrics and episodes.

        Args:
            number: updates that are finished already.
            instances: training instances or their schedule.
        """
        draw, play, judge, again, order = np.random.SeedSequence((self.seed, number)).spawn(5)
        pool = instances_at(number, instances)
        self._rules = workshop(pool[0].puzzle, pool[0].size or None, False).plain
        rate = self.learner.begin(number)
        near, others = self._draw(number, pool, np.random.default_rng(draw))
        played = [pool[index] for index in (*near, *others)]
        episodes = rollout(self.player, played, self.settings, self.rollout.attempts, int(play.generate_state(1)[0]))
        metrics = rollout_metrics(episodes) | {"learning_rate": rate, "near_failure_share": len(near) / len(played)}
        targets = self._labelled(episodes)
        metrics |= self._store(number, episodes, played, len(near), targets)
        metrics |= self._train_critics(number, targets, np.random.default_rng(judge))
        earlier = self._candidates(number, len(targets), np.random.default_rng(again))
        material = self.learner.material(number, episodes, earlier, self.critics)
        metrics |= self.learner.learn(number, material, episodes, np.random.default_rng(order))
        return metrics, episodes

    def _draw(self, number: int, pool: Sequence[Any], rng: np.random.Generator) -> tuple[list[int], list[int]]:
        """Return indices of the instances near the last update's failures, and of the others."""
        groups = max(1, round(self.mira.collect_share * self.rollout.groups))
        wanted = round(self.mira.failure_share * groups)
        last = self.buffer.part(number - 1)
        failed = [(one.episode.level, one.technique) for one in last if not one.episode.solved]
        near: list[int] = []
        if wanted and failed:
            chances = self.critics.predict(self._start_prompts(pool)).values
            low, high = self.mira.success_low, self.mira.success_high
            near = draw_near_failures(near_failures(pool, failed, chances, low=low, high=high), wanted, rng)
        rest = groups - len(near)
        return near, draw_evenly(len(pool), rest, rng) if rest else []

    def _start_prompts(self, pool: Sequence[Any]) -> Tensor:
        """Return the token ids of the prompts at the instances' starts, shape [pool, tokens]."""
        mode = find_interface(self.settings.interface).mode_token
        missing = [one for one in pool if one.start not in self._starts]
        if missing:
            puzzle = self._rules
            boards = (" ".join((*puzzle.compact(puzzle.parse(one.start)), FEEDBACK[0], mode)) for one in missing)
            ids = self.policy.encode(list(boards))
            self._starts.update(zip((one.start for one in missing), ids, strict=True))
        return torch.from_numpy(np.stack([self._starts[one.start] for one in pool]))

    def _labelled(self, episodes: Sequence[Episode]) -> CriticTargets:
        """Return what the critics learn from the episodes."""
        if not self.mira.label_failures:
            return CriticTargets.from_episodes(episodes)
        return CriticTargets.from_episodes(episodes, [self._open_subgoals(episode.start) for episode in episodes])

    def _open_subgoals(self, start: str) -> int:
        """Return how many subgoals of an instance are open at its start."""
        if start not in self._subgoals:
            state = self._rules.parse(start)
            self._subgoals[start] = sum(not done for done in make_oracle(self._rules, state).subgoals_done(state))
        return self._subgoals[start]

    def _store(
        self, number: int, episodes: Sequence[Episode], played: Sequence[Any], near: int, targets: CriticTargets
    ) -> dict[str, float]:
        """Put the episodes into the buffer with what the critics expected of them; return how right that was."""
        expected = self.critics.predict(targets.prompts)
        ends = np.cumsum([len(episode.turns) for episode in episodes])[:-1]
        values, potentials = (np.split(array, ends) for array in expected)
        shown = self.critics.potential
        rows = [
            Replayed(
                episode,
                update=number,
                phase=number // self.mira.phase_updates,
                seed=self.seed,
                interface=self.settings.interface,
                temperature=self.rollout.temperature,
                technique=kind_of(played[episode.group])[1],
                source="failure" if episode.group < near else "pool",
                values=tuple(values[index].tolist()),
                potentials=tuple(potentials[index].tolist()) if shown else (),
            )
            for index, episode in enumerate(episodes)
        ]
        self.buffer.add(number, rows)
        metrics = calibration_metrics("value", expected.values, targets.solved.double().numpy())
        if shown:
            metrics |= calibration_metrics("potential", expected.potentials, targets.progress.double().numpy())
        return metrics

    def _train_critics(self, number: int, targets: CriticTargets, rng: np.random.Generator) -> dict[str, float]:
        """Train the critics on the new states and those of the buffer."""
        kept = sorted({one.update for one in self.buffer.episodes(before=number)})
        self._targets = {update: self._targets.get(update) or self._again(update) for update in kept}
        self._targets[number] = targets
        whole = CriticTargets.joined(list(self._targets.values()))
        steps = self.mira.critic_steps if number else self.mira.first_critic_steps
        return self.critics.fit(whole, steps, self.mira.critic_batch, rng)

    def _again(self, update: int) -> CriticTargets:
        """Return the targets of an earlier update, as a resumed run reads it from the buffer."""
        return self._labelled([one.episode for one in self.buffer.part(update)])

    def _candidates(self, number: int, new: int, rng: np.random.Generator) -> list[Episode]:
        """Return random solved episodes of the buffer, enough to choose the replayed replies from."""
        solved = [one.episode for one in self.buffer.episodes(before=number) if one.episode.solved]
        chosen: list[Episode] = []
        replies, enough = 0, CANDIDATES * self.mira.replay_share * new
        for index in rng.permutation(len(solved)):
            if replies >= enough:
                break
            chosen.append(solved[index])
            replies += len(solved[index].turns)
        return chosen
