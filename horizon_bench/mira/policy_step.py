"""The policy's part of an update: which replies it learns from, and the optimiser steps on MiRA's objective."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from horizon_bench.credit import CreditBatch, correction_report, update_diagnostics
from horizon_bench.credit.batch import FloatArray
from horizon_bench.episodes import Episode
from horizon_bench.extras import extra_needed
from horizon_bench.mira.configs import MiraConfig
from horizon_bench.mira.critics import Critics
from horizon_bench.mira.losses import REPLY_LOSSES, Replies
from horizon_bench.mira.objective import mixed_advantages
from horizon_bench.mira.replay import plausible
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.policies.tiny_model import TinyForCausalLM
from horizon_bench.training.batches import ReplyBatch
from horizon_bench.training.configs import UpdateConfig
from horizon_bench.training.scoring import batch_logprobs, reply_scores

with extra_needed():
    import torch
    from torch import Tensor, nn


@dataclass(frozen=True)
class Material:
    """The replies at hand: those of the new episodes first, then those that may be replayed."""

    batch: ReplyBatch
    current: Tensor
    """Log-probabilities before the first step, shape [replies, tokens]."""
    advantages: FloatArray
    """Shape [replies]."""
    solved: FloatArray
    """1 in solved episodes, shape [replies]."""
    new: int
    """Number of new replies."""


class PolicyLearner:
    """Policy, frozen reference and optimiser."""

    def __init__(self, policy: TinyPolicy, config: UpdateConfig, mira: MiraConfig) -> None:
        """Prepare to train a policy's model in place.

        Args:
            policy: holds the model, and samples as it plays.
            config: learning rate, micro-batches, clipping.
            mira: how a phase learns.
        """
        self.policy, self.config, self.mira = policy, config, mira
        self.reference = _frozen(policy.model)
        self.optimiser = torch.optim.AdamW(
            policy.model.parameters(),
            lr=config.learning_rate,
            betas=(0.9, 0.99),
            weight_decay=config.weight_decay,
        )

    def begin(self, number: int) -> float:
        """Set up an update: freeze the reference where a phase begins, set and return the learning rate."""
        if number % self.mira.phase_updates == 0:
            self.reference.load_state_dict(self.policy.model.state_dict())
        rate = self.config.learning_rate * self.config.warmth(number)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        return rate

    def material(self, number: int, new: Sequence[Episode], earlier: Sequence[Episode], critics: Critics) -> Material:
        """Return all replies of new and earlier episodes with advantages by the critics as they are now."""
        episodes = [*new, *earlier]
        batch = ReplyBatch.from_episodes(episodes)
        expected = critics.predict(batch.prompts)
        solved = np.array([episode.solved for episode in episodes])
        lengths = [len(episode.turns) for episode in episodes]
        mira = self.mira
        advantages = mixed_advantages(
            CreditBatch.from_episodes(episodes, expected.values),
            expected.potentials,
            solved,
            lam=mira.lam,
            gamma=mira.gamma,
            shaping=mira.shaping_at(number),
        )
        fresh = sum(lengths[: len(new)])
        rows = torch.arange(fresh, len(batch))
        current = batch_logprobs(self.policy, self.policy.model, batch, rows, self.config.micro_batch)
        current[:fresh] = batch.sampling_logprobs[:fresh]  # the policy that wrote them is the present one
        return Material(batch, current, advantages, np.repeat(solved.astype(np.float64), lengths), fresh)

    def choose(self, material: Material, rng: np.random.Generator) -> Tensor:
        """Return the rows to learn from: all new replies, and the plausible ones among the others, not too many."""
        tokens = material.batch.mask.sum(1)
        likelihoods = (material.current.sum(1) / tokens).exp().double().numpy()[material.new :]
        able = material.new + plausible(likelihoods, self.mira.likelihood_low, self.mira.likelihood_high)
        replayed = np.sort(rng.permutation(able)[: int(self.mira.replay_share * material.new)])
        return torch.from_numpy(np.concatenate([np.arange(material.new), replayed]))

    def learn(
        self, number: int, material: Material, new: Sequence[Episode], rng: np.random.Generator
    ) -> dict[str, float]:
        """Take the optimiser steps of an update and return their metrics.

        Args:
            number: updates that are finished already.
            material: the replies at hand.
            new: the new episodes, for the diagnostics.
            rng: choice and order.
        """
        rows = self.choose(material, rng)
        replies = self._told(number, material, rows)
        tokens = torch.zeros(material.batch.replies.shape)
        steps: list[tuple[float, float]] = []
        self.policy.model.train()
        for _ in range(self.mira.epochs):
            places = torch.from_numpy(rng.permutation(len(rows)))
            parts = [part for part in torch.tensor_split(places, self.mira.steps_per_epoch) if len(part)]
            steps += [self._step(material.batch, replies, rows, part, tokens) for part in parts]
        self.policy.model.eval()
        loss, norm = np.mean(steps, axis=0)
        first = slice(material.new)
        written, drawn, mask = (
            one[first].numpy() for one in (tokens, material.batch.sampling_logprobs, material.batch.mask)
        )
        solved = np.array([episode.solved for episode in new])
        return {
            **update_diagnostics(CreditBatch.from_episodes(new), material.advantages[first], solved=solved),
            **correction_report(written, drawn, mask, np.ones(written.shape)),
            "optimiser_steps": float(len(steps)),
            "loss": float(loss),
            "gradient_norm": float(norm),
            "new_replies": float(material.new),
            "replayed_replies": float(len(rows) - material.new),
            "shaping": self.mira.shaping_at(number),
        }

    def _told(self, number: int, material: Material, rows: Tensor) -> Replies:
        """Return what the loss is told of the chosen replies."""
        reference = material.current
        if number % self.mira.phase_updates:
            size = self.config.micro_batch
            reference = batch_logprobs(self.policy, self.reference, material.batch, rows, size)
        return Replies(
            reference[rows].sum(1),
            material.batch.sampling_logprobs[rows].sum(1),
            torch.from_numpy(material.advantages).float()[rows],
            torch.from_numpy(material.solved).float()[rows],
        )

    def _step(
        self, batch: ReplyBatch, replies: Replies, rows: Tensor, places: Tensor, tokens: Tensor
    ) -> tuple[float, float]:
        """Take one optimiser step; return loss and gradient norm.

        Args:
            batch: all replies at hand.
            replies: what the loss is told of the chosen ones.
            rows: which those are.
            places: places in `rows` that this step learns from.
            tokens: receives the log-probabilities, shape of all replies.
        """
        self.optimiser.zero_grad()
        loss_of, total = REPLY_LOSSES[self.mira.loss], 0.0
        for here in torch.split(places, self.config.micro_batch):
            part = batch.select(rows[here])
            logprobs = reply_scores(self.policy, self.policy.model, part)[0]
            tokens[rows[here], : part.mask.shape[1]] = logprobs.detach()
            told = Replies(*(getattr(replies, field.name)[here] for field in fields(Replies)))
            loss = loss_of(logprobs.sum(1), told, self.mira.beta).sum() / len(places)
            loss.backward()  # type: ignore[no-untyped-call]
            total += float(loss.detach())
        norm = nn.utils.clip_grad_norm_(self.policy.model.parameters(), self.config.gradient_clip)
        self.optimiser.step()
        return total, float(norm)


def _frozen(model: TinyForCausalLM) -> TinyForCausalLM:
    """Return a copy of a model that never learns."""
    twin: TinyForCausalLM = copy.deepcopy(model).eval()
    for weight in twin.parameters():
        weight.requires_grad_(False)
    return twin
