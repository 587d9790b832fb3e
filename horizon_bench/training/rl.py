"""Reinforcement learning of the small model: roll out, give credit, correct, step. One batch after another.

The run is a function of its seed: update u draws instances and chances from the seed and u alone, so that a resumed run
goes on exactly as an unbroken one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from torch import Tensor

from horizon_bench.credit import (
    NEEDS_VALUES,
    CreditBatch,
    correction_report,
    find_correction,
    find_estimator,
    update_diagnostics,
)
from horizon_bench.credit.batch import FloatArray
from horizon_bench.credit.critics import critic_targets
from horizon_bench.credit.snapshots import Continued, continued_values
from horizon_bench.envs.settings import Settings
from horizon_bench.episodes import Episode
from horizon_bench.policies.sampling import reply_outputs, state_values
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.rollout import Playable, rollout
from horizon_bench.training.batches import ReplyBatch
from horizon_bench.training.checkpoint import last_checkpoint, load_checkpoint, save_checkpoint
from horizon_bench.training.configs import RolloutConfig, UpdateConfig
from horizon_bench.training.losses import find_loss, value_loss
from horizon_bench.training.metrics import rollout_metrics

Instances = Sequence[Playable] | Callable[[int], Sequence[Playable]]
"""Training instances, or a schedule: a function from the number of finished updates to those of the next update."""

VALUE_COSTS = ("value_decisions", "value_atomic_steps", "value_tokens")
"""Metrics of an update whose values come from rollouts: what all its continuations cost together."""


@dataclass(frozen=True)
class RlReport:
    """How a run ended."""

    updates: int
    """Finished updates, those before a resumption included."""
    resumed_from: int
    """Updates that a checkpoint brought along; 0 for a fresh run."""
    stopped: bool
    """A callback asked to stop."""
    checkpoint: Path | None
    """The last checkpoint, None without a folder."""


OnUpdate = Callable[[int, dict[str, float], list[Episode]], bool | None]
"""Called with the number of finished updates, their metrics and the episodes; true asks to stop."""
OnEvaluation = Callable[[int, TinyPolicy], bool | None]
"""Called with the number of finished updates and the policy; true asks to stop."""


def train_rl(
    policy: TinyPolicy,
    instances: Instances,
    settings: Settings,
    rollout_config: RolloutConfig | None = None,
    update_config: UpdateConfig | None = None,
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
        settings: the environment's settings, `observation="compact"`.
        rollout_config: how batches are made.
        update_config: how batches become steps.
        seed: of all chance.
        folder: of the checkpoints; without one nothing is written.
        on_update: sees every update.
        on_evaluation: called every `evaluate_every` updates.

    Raises:
        ValueError: for an estimator that needs what the policy lacks, or a checkpoint of another run.
    """
    trainer = Trainer(policy, settings, rollout_config or RolloutConfig(), update_config or UpdateConfig(), seed)
    config = trainer.config
    place = None if folder is None else Path(folder)
    newest = None if place is None else last_checkpoint(place)
    first = load_checkpoint(newest[1], policy, trainer.optimiser, trainer.identity) if newest else 0
    path, stopped, update = newest[1] if newest else None, False, first
    while update < config.updates and not stopped:
        metrics, episodes = trainer.update(update, instances)
        update += 1
        stopped = bool(on_update and on_update(update, metrics, episodes))
        if on_evaluation and config.evaluate_every and update % config.evaluate_every == 0:
            stopped = bool(on_evaluation(update, trainer.player)) or stopped
        if place is not None and (update % config.checkpoint_every == 0 or update == config.updates or stopped):
            path = save_checkpoint(place, update, policy, trainer.optimiser, trainer.identity, config.keep_checkpoints)
    return RlReport(update, first, stopped, path)


class Trainer:
    """Model, optimiser and settings of one run; `update` does one batch."""

    def __init__(
        self, policy: TinyPolicy, settings: Settings, rollout_config: RolloutConfig, config: UpdateConfig, seed: int
    ) -> None:
        """Prepare a run; nothing is drawn yet."""
        needs = NEEDS_VALUES.get(config.estimator)
        self.critic, self.continues = needs == "critic", needs == "rollouts"
        if self.critic and policy.model.value_head is None:
            raise ValueError(f"estimator {config.estimator!r} needs a critic; create the policy with value_head=True")
        torch.set_num_threads(1)
        self.policy, self.settings, self.rollout, self.config, self.seed = (
            policy, settings, rollout_config, config, seed,
        )  # fmt: skip
        self.player = policy.with_sampling(
            temperature=rollout_config.temperature,
            max_new_tokens=rollout_config.max_new_tokens or policy.model.config.max_reply_tokens,
            thought_slip=rollout_config.thought_slip,
            thoughts=settings.thought != "none",
        )
        self.estimator = find_estimator(config.estimator)
        self.correction = find_correction(config.correction)
        self.loss = find_loss(config.loss)
        self.accelerator = Accelerator(cpu=policy.model.device.type == "cpu")
        self.model, self.optimiser = self.accelerator.prepare(policy.model, self._optimiser())

    def _optimiser(self) -> torch.optim.Optimizer:
        """Return AdamW with the value head in a group of its own."""
        named = list(self.policy.model.named_parameters())
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

    def update(self, number: int, instances: Instances) -> tuple[dict[str, float], list[Episode]]:
        """Roll out one batch, learn from it, and return its metrics and episodes.

        Args:
            number: updates that are finished already.
            instances: training instances or their schedule.
        """
        draw, play, order, onward = np.random.SeedSequence((self.seed, number)).spawn(4)
        pool = instances(number) if callable(instances) else instances
        if not len(pool):
            raise ValueError(f"there are no training instances for update {number + 1}")
        chosen = draw_evenly(len(pool), self.rollout.groups, np.random.default_rng(draw))
        played = [pool[index] for index in chosen]
        self.policy.model.eval()
        episodes = rollout(self.player, played, self.settings, self.rollout.attempts, int(play.generate_state(1)[0]))
        metrics = rollout_metrics(episodes)
        metrics["learning_rate"] = self._set_rates(number)
        values = None
        if self.continues:
            continued = self._continued(episodes, played, int(onward.generate_state(1)[0]))
            values = continued.values
            metrics |= {name: float(getattr(continued, name.removeprefix("value_"))) for name in VALUE_COSTS}
        metrics.update(self._learn(episodes, values, np.random.default_rng(order)))
        return metrics, episodes

    def _continued(self, episodes: Sequence[Episode], instances: Sequence[Playable], seed: int) -> Continued:
        """Return the value of each decision's state, from continuations with the policy as it is now."""
        count = self.rollout.value_rollouts
        return continued_values(self.player, episodes, instances, self.settings, rollouts=count, seed=seed)

    def _set_rates(self, number: int) -> float:
        """Set the learning rates of this update and return the policy's."""
        warm = min(1.0, (number + 1) / max(1, self.config.warmup_updates))
        rates = (self.config.learning_rate * warm, self.config.value_rate * warm)
        for group, rate in zip(self.optimiser.param_groups, rates, strict=False):
            group["lr"] = rate
        return rates[0]

    def _learn(
        self, episodes: list[Episode], continued: FloatArray | None, rng: np.random.Generator
    ) -> dict[str, float]:
        """Take the optimiser steps of one batch and return the mean metrics of the steps."""
        batch = ReplyBatch.from_episodes(episodes)
        values = self._values(batch, episodes) if self.critic else (continued, None)
        credit = CreditBatch.from_episodes(episodes, *values)
        given = self.estimator(credit, **self.config.estimator_options)
        advantages = kept_signs(checked_advantages(given, credit.turns, self.config.estimator), self.config.signs)
        targets = critic_targets(credit, **self._critic_options()) if self.critic else np.zeros(len(batch))
        pushed, taught = torch.from_numpy(advantages).float(), torch.from_numpy(targets).float()
        goal = _Goal(pushed, taught, self._old(batch), np.zeros(len(batch)))
        steps: list[dict[str, float]] = []
        for _ in range(self.config.epochs):
            permuted = torch.from_numpy(rng.permutation(len(batch)))
            parts = torch.tensor_split(permuted, self.config.steps_per_epoch)
            steps += [self._step(batch, goal, rows) for rows in parts if len(rows)]
        means = {name: float(np.mean([step[name] for step in steps])) for name in steps[0]}
        solved = np.array([episode.solved for episode in episodes])
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
        size = self.config.micro_batch
        seen = torch.cat([state_values(self.policy.model, prompts) for prompts in torch.split(batch.prompts, size)])
        final = torch.zeros(len(episodes))
        cut = [index for index, episode in enumerate(episodes) if episode.final_observation]
        if cut:
            prompts = torch.from_numpy(self.policy.encode([episodes[index].final_observation for index in cut]))
            final[cut] = state_values(self.policy.model, prompts)
        return seen, final

    @torch.no_grad()
    def _old(self, batch: ReplyBatch) -> Tensor | None:
        """Return the log-probabilities before the first step, for losses that compare with them."""
        if self.config.loss == "reinforce":
            return None
        parts = batch.micro_batches(torch.arange(len(batch)), self.config.micro_batch)
        old = torch.zeros(batch.replies.shape)
        for rows in parts:
            part = batch.select(rows)
            old[rows, : part.mask.shape[1]] = self._outputs(part)[0]
        return old

    def _outputs(self, part: ReplyBatch) -> tuple[Tensor, Tensor | None]:
        return reply_outputs(self.model, part.prompts, part.replies, part.mask, self.player.sampling, self.policy.marks)

    def _step(self, batch: ReplyBatch, goal: _Goal, rows: Tensor) -> dict[str, float]:
        """Take one optimiser step on the given replies, in micro-batches that add up to the whole batch's loss."""
        self.optimiser.zero_grad()
        tokens, total = int(batch.mask[rows].sum()), 0.0
        losses: dict[str, float] = {}
        seen: list[tuple[np.ndarray[Any, Any], ...]] = []
        for chosen in batch.micro_batches(rows, self.config.micro_batch):
            part = batch.select(chosen)
            logprobs, values = self._outputs(part)
            share = int(part.mask.sum()) / tokens if self.config.reduction == "token-mean" else len(chosen) / len(rows)
            weights = self._weights(logprobs, part, goal.old_rows(chosen, part))
            goal.weights[chosen.numpy()] += weights.sum(1) / part.mask.numpy().sum(1)
            result = self.loss(
                logprobs,
                goal.advantages[chosen],
                part.mask,
                weights=torch.from_numpy(weights).float(),
                reduction=self.config.reduction,
                old_logprobs=goal.old_rows(chosen, part),
                **self.config.loss_options,
            )
            loss = result.loss * share
            if self.critic and values is not None:
                error = value_loss(values, goal.targets[chosen], torch.ones_like(values))
                loss = loss + self.config.value_coefficient * error * (len(chosen) / len(rows))
                losses["value_loss"] = losses.get("value_loss", 0.0) + float(error.detach()) * len(chosen) / len(rows)
            self.accelerator.backward(loss)
            total += float(loss.detach())
            for name, value in result.metrics.items():
                losses[name] = losses.get(name, 0.0) + value * share
            seen.append((logprobs.detach().numpy(), part.sampling_logprobs.numpy(), part.mask.numpy(), weights))
        norm = self.accelerator.clip_grad_norm_(self.model.parameters(), self.config.gradient_clip)
        self.optimiser.step()
        return {"loss": total, "gradient_norm": float(norm), **losses, **_report(seen)}

    def _weights(self, logprobs: Tensor, part: ReplyBatch, old: Tensor | None) -> np.ndarray[Any, Any]:
        """Return the correction's weights, for clipped losses those of the policy before the batch's first step."""
        current = logprobs.detach() if old is None else old
        return self.correction(current.numpy(), part.sampling_logprobs.numpy(), part.mask.numpy())


def draw_evenly(pool: int, count: int, rng: np.random.Generator) -> list[int]:
    """Return `count` indices below `pool` in random order, none more than once oftener than another."""
    rounds = [rng.permutation(pool) for _ in range(-(-count // pool))]
    return [int(index) for index in np.concatenate(rounds)[:count]]


def checked_advantages(advantages: Any, turns: int, estimator: str) -> FloatArray:
    """Return what an estimator gave as floats of shape [turns]; lists and arrays of other number types are converted.

    Args:
        advantages: what the estimator returned.
        turns: decisions of the batch.
        estimator: its name, for the error.

    Raises:
        ValueError: naming the estimator, if these are no numbers, not one for each decision, or not finite.
    """
    wanted = f"estimator {estimator!r} must return one finite number for each of the batch's {turns} decisions"
    try:
        numbers: FloatArray = np.asarray(advantages, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{wanted}, not {type(advantages).__name__} ({error})") from error
    if numbers.shape != (turns,):
        raise ValueError(f"{wanted}, an array of shape ({turns},), but returned shape {numbers.shape}")
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        raise ValueError(f"{wanted}, but returned {numbers[wrong[0]]} for decision {wrong[0]} ({len(wrong)} such)")
    return numbers


def kept_signs(advantages: FloatArray, signs: str) -> FloatArray:
    """Return the advantages of the wanted sign, `positive` or `negative`, and 0 for the others; all with `both`."""
    if signs == "both":
        return advantages
    return np.maximum(advantages, 0.0) if signs == "positive" else np.minimum(advantages, 0.0)


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

    def old_rows(self, rows: Tensor, part: ReplyBatch) -> Tensor | None:
        """Return the old log-probabilities of a part of the batch."""
        return None if self.old is None else self.old[rows, : part.mask.shape[1]]


def _report(seen: Sequence[tuple[np.ndarray[Any, Any], ...]]) -> dict[str, float]:
    """Return the correction report of one optimiser step, its micro-batches put together."""
    width = max(arrays[0].shape[1] for arrays in seen)
    padded = [[np.pad(array, ((0, 0), (0, width - array.shape[1]))) for array in arrays] for arrays in seen]
    logprobs, sampling, mask, weights = (np.concatenate(parts) for parts in zip(*padded, strict=True))
    return correction_report(logprobs, sampling, mask, weights)
