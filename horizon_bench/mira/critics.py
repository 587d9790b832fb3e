"""The two critics on a small copy of the policy's trunk: value, the chance of final success, and potential, p*.

The value head learns from final success alone, by binary cross-entropy; the potential head from progress labels alone,
by squared error through a sigmoid. Neither ever sees a shaped reward.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from horizon_bench.credit.batch import FloatArray
from horizon_bench.episodes import Episode
from horizon_bench.extras import extra_needed
from horizon_bench.mira.labels import episode_labels
from horizon_bench.policies.tiny_fast import is_fast, suffix_states
from horizon_bench.policies.tiny_model import TinyForCausalLM

with extra_needed():
    import torch
    import torch.nn.functional as F  # noqa: N812
    from torch import Tensor, nn

PREDICTED_AT_ONCE = 2048
"""States of one forward pass without gradients; changes nothing but memory and the last bits of float arithmetic."""


class DualCritic(nn.Module):
    """A copy of the trunk with a value head and a potential head at the prompt's last token."""

    def __init__(self, model: TinyForCausalLM) -> None:
        """Copy the trunk of `model`; both heads start at one half for every state."""
        super().__init__()
        self.copied: TinyForCausalLM = copy.deepcopy(model)
        self.heads = nn.Linear(model.config.hidden_size, 2)
        nn.init.zeros_(self.heads.weight)
        nn.init.zeros_(self.heads.bias)

    def forward(self, prompts: Tensor) -> Tensor:
        """Return the logits of value and potential, shape [states, 2], for prompts of shape [states, tokens]."""
        logits: Tensor = self.heads(self._last_states(prompts))
        return logits

    def learned(self) -> list[nn.Parameter]:
        """Return what learns: trunk and heads, not the copy's head for tokens."""
        return [*self.copied.model.parameters(), *self.heads.parameters()]

    def _last_states(self, prompts: Tensor) -> Tensor:
        """Return the trunk's state at each prompt's last token, shape [states, width]."""
        if not is_fast(self.copied):
            hidden: Tensor = self.copied.model(prompts, first_query=prompts.shape[1] - 1).last_hidden_state[:, 0]
            return hidden
        ones = torch.ones(len(prompts), dtype=torch.long)
        states, rows, _ = suffix_states(self.copied, prompts[:, :-1], prompts[:, -1:], ones)
        return torch.zeros_like(states).index_put((rows,), states)


@dataclass(frozen=True)
class CriticTargets:
    """What the critics learn from: states and what came of them."""

    prompts: Tensor
    """Token ids, shape [states, tokens]."""
    solved: Tensor
    """Final success of the episode, 0 or 1, shape [states]."""
    progress: Tensor
    """p*, shape [states]; NaN where there is no label."""

    def __len__(self) -> int:
        """Return the number of states."""
        return len(self.prompts)

    @classmethod
    def joined(cls, parts: Sequence[CriticTargets]) -> CriticTargets:
        """Return several together, in order."""
        return cls(*(torch.cat([getattr(part, field.name) for part in parts]) for field in fields(cls)))

    @classmethod
    def from_episodes(cls, episodes: Sequence[Episode], subgoals: Sequence[int | None] | None = None) -> CriticTargets:
        """Return the states that decisions saw, in the episodes' order.

        Args:
            episodes: what a rollout returned.
            subgoals: number of subgoals of each episode, to label failures too; None labels successes only.
        """
        given = subgoals or [None] * len(episodes)
        turns = [turn for episode in episodes for turn in episode.turns]
        progress = [
            _labels(episode, count, subgoals is not None) for episode, count in zip(episodes, given, strict=True)
        ]
        solved = [float(episode.solved) for episode in episodes for _ in episode.turns]
        return cls(
            torch.from_numpy(np.stack([turn.prompt_ids for turn in turns])),
            torch.tensor(solved, dtype=torch.float32),
            torch.from_numpy(np.concatenate(progress)).float(),
        )


class Predictions(NamedTuple):
    """What the critics say of some states, shape [states] each, in [0, 1]."""

    values: FloatArray
    potentials: FloatArray


class Critics:
    """The two critics and their optimiser."""

    def __init__(self, model: TinyForCausalLM, learning_rate: float, *, potential: bool = True) -> None:
        """Start from a policy's trunk.

        Args:
            model: the policy's model; nothing of it is ever changed.
            learning_rate: of both heads and the trunk.
            potential: whether the potential head is trained.
        """
        self.module = DualCritic(model)
        self.potential = potential
        self.optimiser = torch.optim.AdamW(self.module.learned(), lr=learning_rate, betas=(0.9, 0.99), weight_decay=0.0)

    def fit(self, targets: CriticTargets, steps: int, batch: int, rng: np.random.Generator) -> dict[str, float]:
        """Take optimiser steps on random states and return the mean losses, `value_loss` and `potential_loss`."""
        self.module.train()
        losses = []
        for _ in range(steps):
            rows = torch.from_numpy(rng.choice(len(targets), min(batch, len(targets)), replace=False))
            logits = self.module(targets.prompts[rows])
            parts = critic_losses(logits, targets.solved[rows], targets.progress[rows])
            self.optimiser.zero_grad()
            (parts[0] + parts[1] if self.potential else parts[0]).backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(self.module.learned(), 1.0)
            self.optimiser.step()
            losses.append([float(part.detach()) for part in parts])
        value, potential = np.mean(losses, axis=0)
        return {"value_loss": float(value)} | ({"potential_loss": float(potential)} if self.potential else {})

    @torch.no_grad()
    def predict(self, prompts: Tensor) -> Predictions:
        """Return what the critics say of states, given as prompts of shape [states, tokens]."""
        self.module.eval()
        logits = torch.cat([self.module(part) for part in torch.split(prompts, PREDICTED_AT_ONCE)])
        chances = torch.sigmoid(logits).double().numpy()
        return Predictions(chances[:, 0], chances[:, 1])


def critic_losses(logits: Tensor, solved: Tensor, progress: Tensor) -> tuple[Tensor, Tensor]:
    """Return the value head's cross-entropy and the potential head's squared error, each a mean over its states.

    Args:
        logits: shape [states, 2].
        solved: final success, 0 or 1, shape [states].
        progress: p*, NaN where there is no label, shape [states].
    """
    value = F.binary_cross_entropy_with_logits(logits[:, 0], solved)
    labelled = ~progress.isnan()
    error = (torch.sigmoid(logits[:, 1]) - progress.nan_to_num()) ** 2
    return value, (error * labelled).sum() / labelled.sum().clamp(min=1)


def _labels(episode: Episode, subgoals: int | None, failed: bool) -> FloatArray:
    """Return the labels of the states that decisions saw; NaN without any."""
    labels = episode_labels(episode, failed=failed, subgoals=subgoals)
    return np.full(len(episode.turns), np.nan) if labels is None else labels[:-1]
