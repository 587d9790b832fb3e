"""Evaluation: a fixed number of attempts at each instance, at the temperature of the training."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from horizon_bench.agents.base import PlaysInTurn
from horizon_bench.envs.settings import Settings
from horizon_bench.episodes import Episode
from horizon_bench.policies.base import Policy
from horizon_bench.rollout import Playable, rollout


def evaluate(
    policy: Policy,
    instances: Sequence[Playable],
    settings: Settings,
    attempts: int = 4,
    temperature: float = 0.8,
    seed: int = 0,
    only: Collection[int] | None = None,
) -> list[Episode]:
    """Return `attempts` episodes for each instance, in the order of instances, then attempts.

    The same seed gives the same episodes, and an instance's episodes do not depend on the other instances: chance comes
    from the seed, the instance and the attempt. For the small model this holds up to the last bits of float arithmetic,
    which can differ with the number of rows that are computed together.

    Agents that learn from one attempt to the next (Reflexion) play their attempts in turn.

    Args:
        policy: any policy; those without tokens have no temperature.
        instances: what to solve.
        settings: the environment's settings.
        attempts: episodes for each instance.
        temperature: sampling temperature.
        seed: of all chance.
        only: indices of the instances to play, for processes that share the work; all by default.
    """
    player = policy.at_temperature(temperature)
    if isinstance(player, PlaysInTurn):
        played = player.play(instances, settings, attempts, seed)
        return played if only is None else [episode for episode in played if episode.group in only]
    return rollout(player, instances, settings, attempts, seed, only)
