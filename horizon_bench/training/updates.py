"""A run of updates, as every trainer of the suite goes through it: resume, update, call back, write checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from horizon_bench.envs.settings import Settings
from horizon_bench.episodes import Episode
from horizon_bench.rollout import Playable
from horizon_bench.training.checkpoint import last_checkpoint
from horizon_bench.training.configs import RolloutConfig, UpdateConfig
from horizon_bench.training.scoring import Trainable, longest_reply
from horizon_bench.training.team import Team

Instances = Sequence[Playable] | Callable[[int], Sequence[Playable]]
"""Training instances, or a schedule: a function from the number of finished updates to those of the next update."""
OnUpdate = Callable[[int, dict[str, float], list[Episode]], bool | None]
"""Called with the number of finished updates, their metrics and the episodes; true asks to stop."""
OnEvaluation = Callable[[int, Any], bool | None]
"""Called with the number of finished updates and the policy; true asks to stop."""

Player = TypeVar("Player", bound=Trainable)


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


class Updates(Protocol):
    """What does the updates of a run."""

    config: UpdateConfig
    team: Team
    player: Any
    """The policy as it plays."""

    def resume(self, path: Path | None) -> int:
        """Go on from a checkpoint, or begin afresh without one; returns the updates that it brings along."""

    def update(self, number: int, instances: Instances) -> tuple[dict[str, float], list[Episode]]:
        """Do one update after `number` finished ones and return its metrics and episodes."""

    def save(self, folder: Path, update: int) -> Path:
        """Write a checkpoint after so many updates, and return its path."""


def run_updates(
    trainer: Updates,
    instances: Instances,
    folder: str | Path | None,
    on_update: OnUpdate | None,
    on_evaluation: OnEvaluation | None,
) -> RlReport:
    """Do all updates of a run, from the last checkpoint in the folder on; arguments as `train_rl` takes them."""
    config, place = trainer.config, None if folder is None else Path(folder)
    newest = trainer.team.agree(None if place is None else last_checkpoint(place))
    path, stopped = newest[1] if newest else None, False
    first = update = trainer.resume(path)
    while update < config.updates and not stopped:
        metrics, episodes = trainer.update(update, instances)
        update += 1
        stopped = bool(on_update and on_update(update, metrics, episodes))
        if on_evaluation and config.evaluate_every and update % config.evaluate_every == 0:
            stopped = bool(on_evaluation(update, trainer.player)) or stopped
        stopped = trainer.team.agree(stopped)
        if place is not None and (update % config.checkpoint_every == 0 or update == config.updates or stopped):
            path = trainer.save(place, update)
    return RlReport(update, first, stopped, path)


def as_player(policy: Player, settings: Settings, config: RolloutConfig) -> Player:
    """Return the policy that shares the model and draws replies as the configuration says."""
    return policy.with_sampling(
        temperature=config.temperature,
        max_new_tokens=config.max_new_tokens or longest_reply(policy),
        thought_slip=config.thought_slip,
        thoughts=settings.thought != "none",
    )


def instances_at(number: int, instances: Instances) -> Sequence[Playable]:
    """Return the training instances of the update after `number` finished ones.

    Raises:
        ValueError: if there are none.
    """
    pool = instances(number) if callable(instances) else instances
    if not len(pool):
        raise ValueError(f"there are no training instances for update {number + 1}")
    return pool


def draw_evenly(pool: int, count: int, rng: np.random.Generator) -> list[int]:
    """Return `count` indices below `pool` in random order, none more than once oftener than another."""
    rounds = [rng.permutation(pool) for _ in range(-(-count // pool))]
    return [int(index) for index in np.concatenate(rounds)[:count]]
