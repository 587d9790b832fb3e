"""Reinforcement learning: roll out, give credit, correct, step. One batch after another, in one process or several.

The run is a function of its seed: update u draws instances and chances from the seed and u alone, so that a resumed run
goes on exactly as an unbroken one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from horizon_bench.credit import NEEDS_VALUES, CreditBatch, update_diagnostics
from horizon_bench.credit.batch import FloatArray
from horizon_bench.credit.critics import critic_targets
from horizon_bench.credit.snapshots import Continued, continued_values
from horizon_bench.envs.settings import Settings
from horizon_bench.episodes import Episode
from horizon_bench.extras import extra_needed
from horizon_bench.policies.sampling import state_values
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.rollout import Playable, rollout
from horizon_bench.training.batches import ReplyBatch
from horizon_bench.training.checkpoint import load_checkpoint, save_checkpoint
from horizon_bench.training.configs import RolloutConfig, UpdateConfig
from horizon_bench.training.learning import Arrays, Objective, Totals, reported, shared_parts
from horizon_bench.training.losses import value_loss
from horizon_bench.training.metrics import rollout_metrics
from horizon_bench.training.scoring import Trainable, has_critic, recomputes, reply_scores
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
from horizon_bench.training.weights import TeamWeights

with extra_needed():
    import torch
    from accelerate import Accelerator
    from torch import Tensor

VALUE_COSTS = ("value_decisions", "value_atomic_steps", "value_tokens")
"""Metrics of an update whose values come from rollouts: what all its continuations cost together."""


def train_rl(
    policy: Trainable,
    instances: Instances,
    settings: Settings,
    rollout_config: RolloutConfig | None = None,
    update_config: UpdateConfig | None = None,
    *,
    seed: int = 0,
    folder: str | Path | None = None,
    on_update: OnUpdate | None = None,
    on_evaluation: OnEvaluation | None = None,
    accelerator: Accelerator | None = None,
) -> RlReport:
    """Train the policy's model in place; with a folder, resume from its last checkpoint.

    Where several processes call this (`torchrun`, `accelerate launch`), they train one model on one batch: each plays
    and learns a share. Callbacks are called in all of them, with the same arguments; what the leader's return counts.

    Args:
        policy: the small model or a language model, usually after SFT.
        instances: training instances, or a schedule of them.
        settings: the environment's settings, `observation="compact"` for the small model, "text" for a language model.
        rollout_config: how batches are made.
        update_config: how batches become steps.
        seed: of all chance.
        folder: of the checkpoints; without one nothing is written.
        on_update: sees every update.
        on_evaluation: called every `evaluate_every` updates.
        accelerator: where and how to train; by default as accelerate is configured, on the model's kind of device.

    Raises:
        ValueError: for an estimator that needs what the policy lacks, or a checkpoint of another run.
    """
    rollout_config, update_config = rollout_config or RolloutConfig(), update_config or UpdateConfig()
    trainer = Trainer(policy, settings, rollout_config, update_config, seed, accelerator)
    report = run_updates(trainer, instances, folder, on_update, on_evaluation)
    trainer.weights.finish()
    return report


class Trainer:
    """Model, optimiser and settings of one run; `update` does one batch, together with the team's other processes."""

    def __init__(
        self,
        policy: Trainable,
        settings: Settings,
        rollout_config: RolloutConfig,
        config: UpdateConfig,
        seed: int,
        accelerator: Accelerator | None = None,
    ) -> None:
        """Prepare a run; nothing is drawn yet."""
        needs = NEEDS_VALUES.get(config.estimator)
        self.critic, self.continues = needs == "critic", needs == "rollouts"
        if self.critic and not has_critic(policy):
            raise ValueError(
                f"estimator {config.estimator!r} needs a critic, which only the small model can carry; create the "
                "policy with value_head=True"
            )
        if isinstance(policy, TinyPolicy):
            torch.set_num_threads(1)
        self.policy, self.settings, self.rollout, self.config, self.seed = (
            policy, settings, rollout_config, config, seed,
        )  # fmt: skip
        self.accelerator = accelerator or Accelerator(cpu=policy.model.device.type == "cpu")
        self.team = Team.current()
        self.weights = TeamWeights(self.accelerator, self.team, policy, self._optimiser())
        self.model, self.optimiser = self.weights.model, self.weights.optimiser
        self.player = as_player(self.weights.player, settings, rollout_config)
        self.scorer = self.player if rollout_config.slip_known else self.player.with_sampling(thought_slip=0.0)
        self.objective = Objective(config)

    def _optimiser(self) -> torch.optim.Optimizer:
        """Return AdamW on what is trained, with the value head in a group of its own."""
        named = [(name, weight) for name, weight in self.policy.model.named_parameters() if weight.requires_grad]
        groups = [{"params": [weight for name, weight in named if not name.startswith("value_head")]}]
        head = [weight for name, weight in named if name.startswith("value_head")]
        if head:
            groups.append({"params": head})
        config = self.config
        return torch.optim.AdamW(groups, lr=config.learning_rate, betas=(0.9, 0.99), weight_decay=config.weight_decay)

    @property
    def identity(self) -> dict[str, Any]:
        """What must not change between a run and its resumption; the number of updates may."""
        config = {
            name: dict(value) if isinstance(value, Mapping) else value
            for name, value in vars(self.config).items()
            if name not in ("updates", "evaluate_every", "checkpoint_every", "keep_checkpoints")
        }
        return {
            "seed": self.seed,
            "settings": asdict(self.settings),
            "rollout": asdict(self.rollout),
            "update_config": config,
        }

    def resume(self, path: Path | None) -> int:
        """Go on from a checkpoint, or begin afresh without one; returns the updates that it brings along."""
        if path is None:
            return 0
        shards = self.weights.load_shards if self.weights.sharded else None
        return load_checkpoint(path, self.policy, self.optimiser, self.identity, load_shards=shards)

    def save(self, folder: Path, update: int) -> Path:
        """Write a checkpoint after so many updates, and return its path."""
        shards = self.weights.save_shards if self.weights.sharded else None
        policy, optimiser, keep = self.weights.player, self.optimiser, self.config.keep_checkpoints
        return save_checkpoint(
            folder, update, policy, optimiser, self.identity, keep, team=self.team, save_shards=shards
        )

    def update(self, number: int, instances: Instances) -> tuple[dict[str, float], list[Episode]]:
        """Roll out one batch, learn from it, and return its metrics and episodes.

        Args:
            number: updates that are finished already.
            instances: training instances or their schedule.
        """
        draw, play, order, onward = np.random.SeedSequence((self.seed, number)).spawn(4)
        pool = instances_at(number, instances)
        chosen = draw_evenly(len(pool), self.rollout.groups, np.random.default_rng(draw))
        played = [pool[index] for index in chosen]
        episodes = self._play(played, int(play.generate_state(1)[0]))
        metrics = rollout_metrics(episodes)
        metrics["learning_rate"] = self._set_rates(number)
        values = None
        if self.continues:
            continued = self.team.agree(self._continued(episodes, played, int(onward.generate_state(1)[0])))
            values = continued.values
            metrics |= {name: float(getattr(continued, name.removeprefix("value_"))) for name in VALUE_COSTS}
        metrics.update(self._learn(episodes, values, np.random.default_rng(order)))
        self.weights.refresh_player()
        return metrics, episodes

    def _play(self, instances: Sequence[Playable], seed: int) -> list[Episode]:
        """Return the team's episodes; each process plays its share of the groups."""
        self.player.model.eval()
        mine = range(self.team.rank, len(instances), self.team.size)
        episodes = rollout(self.player, instances, self.settings, self.rollout.attempts, seed, only=mine)
        together = [episode for share in self.team.collect(episodes) for episode in share]
        return sorted(together, key=lambda episode: (episode.group, episode.attempt))

    def _continued(self, episodes: Sequence[Episode], instances: Sequence[Playable], seed: int) -> Continued:
        """Return the value of each decision's state, from continuations with the policy as it is now."""
        count = self.rollout.value_rollouts
        return continued_values(self.player, episodes, instances, self.settings, rollouts=count, seed=seed)

    def _set_rates(self, number: int) -> float:
        """Set the learning rates of this update and return the policy's."""
        warm = self.config.warmth(number)
        rates = (self.config.learning_rate * warm, self.config.value_rate * warm)
        for group, rate in zip(self.optimiser.param_groups, rates, strict=False):
            group["lr"] = rate
        return rates[0]

    def _learn(
        self, episodes: list[Episode], continued: FloatArray | None, rng: np.random.Generator
    ) -> dict[str, float]:
        """Take the optimiser steps of one batch and return the mean metrics of the steps."""
        batch = ReplyBatch.from_episodes(episodes)
        if recomputes(self.policy.model):
            self.model.train()  # activations are recomputed in this mode only
        if not self.rollout.slip_known:
            batch = replace(batch, sampling_logprobs=self._current(batch))
        values = self._values(batch, episodes) if self.critic else (continued, None)
        credit = CreditBatch.from_episodes(episodes, *values)
        advantages = self.objective.advantages(credit)
        targets = critic_targets(credit, **self._critic_options()) if self.critic else np.zeros(len(batch))
        pushed, taught = torch.from_numpy(advantages).float(), torch.from_numpy(targets).float()
        old = self._current(batch) if self.objective.compares else None
        goal = _Goal(pushed, taught, old, np.zeros(len(batch)))
        steps: list[dict[str, float]] = []
        for _ in range(self.config.epochs):
            permuted = torch.from_numpy(rng.permutation(len(batch)))
            parts = torch.tensor_split(permuted, self.config.steps_per_epoch)
            steps += [self._step(batch, goal, rows) for rows in parts if len(rows)]
        means = {name: float(np.mean([step[name] for step in steps])) for name in steps[0]}
        solved = np.array([episode.solved for episode in episodes])
        weighed = torch.from_numpy(goal.weights).to(self.accelerator.device)
        self.team.add_up([weighed])
        goal.weights[:] = weighed.cpu().numpy()
        return {
            **update_diagnostics(credit, advantages, weights=goal.weights / self.config.epochs, solved=solved),
            "optimiser_steps": float(len(steps)),
            **means,
        }

    def _critic_options(self) -> dict[str, Any]:
        """Return the estimator's options that the critic's targets share."""
        shared = ("gamma", "lam", "bootstrap")
        return {name: value for name, value in self.config.estimator_options.items() if name in shared}

    @torch.no_grad()
    def _values(self, batch: ReplyBatch, episodes: Sequence[Episode]) -> tuple[Tensor, Tensor]:
        """Return the critic's values of the states that decisions saw and of those where a budget cut off."""
        size, policy = self.config.micro_batch, cast(TinyPolicy, self.policy)
        seen = torch.cat([state_values(policy.model, prompts) for prompts in torch.split(batch.prompts, size)])
        final = torch.zeros(len(episodes))
        cut = [index for index, episode in enumerate(episodes) if episode.final_observation]
        if cut:
            prompts = torch.from_numpy(policy.encode([episodes[index].final_observation for index in cut]))
            final[cut] = state_values(policy.model, prompts)
        return seen, final

    @torch.no_grad()
    def _current(self, batch: ReplyBatch) -> Tensor:
        """Return the log-probabilities of all replies as the trainer scores them now, shape of the replies."""
        current = torch.zeros(batch.replies.shape)
        for rows, counted in shared_parts(batch, torch.arange(len(batch)), self.config.micro_batch, self.team):
            part = batch.select(rows).to(self.accelerator.device)
            logprobs = reply_scores(self.scorer, self.model, part)[0].cpu()
            if counted:
                current[rows, : logprobs.shape[1]] = logprobs
        current = current.to(self.accelerator.device)
        self.team.add_up([current])
        return current.cpu()

    def _step(self, batch: ReplyBatch, goal: _Goal, rows: Tensor) -> dict[str, float]:
        """Take one optimiser step on the given replies, in micro-batches that add up to the whole batch's loss."""
        self.optimiser.zero_grad()
        totals, sums, seen = Totals.of(batch, rows), dict[str, float](), list[Arrays]()
        parts = shared_parts(batch, rows, self.config.micro_batch, self.team)
        for index, (chosen, counted) in enumerate(parts):
            loss, metrics, arrays = self._part(batch.select(chosen), chosen, goal, totals)
            with self.weights.accumulating(last=index + 1 == len(parts)):
                self.accelerator.backward(loss * (self.weights.factor if counted else 0.0))
            if counted:
                seen.append(arrays)
                goal.weights[chosen.numpy()] += arrays.weights.sum(1) / arrays.mask.sum(1)
                for name, value in metrics.items():
                    sums[name] = sums.get(name, 0.0) + value
        self.weights.add_up_gradients()
        norm = self.accelerator.clip_grad_norm_(self.model.parameters(), self.config.gradient_clip)
        self.optimiser.step()
        everywhere = self.team.collect((sums, seen))
        names = dict.fromkeys(name for part, _ in everywhere for name in part)
        total = {name: sum(part.get(name, 0.0) for part, _ in everywhere) for name in names}
        together = [one for _, part in everywhere for one in part]
        return {"loss": total.pop("loss"), "gradient_norm": float(norm), **total, **reported(together)}

    def _part(
        self, part: ReplyBatch, rows: Tensor, goal: _Goal, totals: Totals
    ) -> tuple[Tensor, dict[str, float], Arrays]:
        """Return loss, metrics and arrays of one micro-batch, its rows in the batch given."""
        device = self.accelerator.device
        part = part.to(device)
        logprobs, values = reply_scores(self.scorer, self.model, part)
        old = None if goal.old is None else goal.old[rows, : part.mask.shape[1]].to(device)
        made = self.objective.part(logprobs, part, goal.advantages[rows].to(device), old, totals)
        loss, metrics = made.loss, dict(made.metrics)
        if self.critic and values is not None:
            share = len(rows) / totals.replies
            error = value_loss(values, goal.targets[rows].to(device), torch.ones_like(values)) * share
            loss = loss + self.config.value_coefficient * error
            metrics["value_loss"] = float(error.detach())
        return loss, {"loss": float(loss.detach()), **metrics}, made.arrays


@dataclass(frozen=True)
class _Goal:
    """What the replies of a batch are pushed towards."""

    advantages: Tensor
    """Shape [replies]."""
    targets: Tensor
    """Of the critic, shape [replies]."""
    old: Tensor | None
    """Log-probabilities before the first step, shape [replies, tokens]; only for losses that compare with them."""
    weights: FloatArray
    """Sum over epochs of each reply's mean importance weight, shape [replies]; filled by the steps."""
