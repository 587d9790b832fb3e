"""Values of the states that episodes went through, from fresh continuations out of each state's snapshot.

The expensive input of `vineppo`: one snapshot for each distinct beginning of an episode, `rollouts` continuations from
each, played side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from horizon_bench.credit.batch import FloatArray
from horizon_bench.envs.settings import Settings
from horizon_bench.episodes import Episode, Turn
from horizon_bench.policies.base import Policy, Reply
from horizon_bench.rollout import Lane, Playable, play_out

Beginning = tuple[int, tuple[str, ...]]
"""Group and the replies given so far."""


@dataclass(frozen=True)
class Continued:
    """Values of states, and what their continuations cost."""

    values: FloatArray
    """Value of the state of each decision, shape [turns]."""
    decisions: int
    """Decisions of all continuations together."""
    atomic_steps: int
    """Primitive moves carried out in them."""
    tokens: int
    """Tokens that the policy generated for them."""


def rollout_values(
    policy: Policy,
    episodes: Sequence[Episode],
    instances: Sequence[Playable],
    settings: Settings,
    *,
    rollouts: int,
    gamma: float = 1.0,
    seed: int = 0,
) -> FloatArray:
    """Return the mean return of `rollouts` continuations from the state of every decision, shape [turns].

    States that attempts at one instance reached by the same replies share their continuations.

    Args:
        policy: plays the continuations; the one that played the episodes, for values of that policy.
        episodes: what `horizon_bench.rollout.rollout` returned for `instances`.
        instances: the instance of group g at place g.
        settings: those of the episodes.
        rollouts: continuations from each state.
        gamma: discount for one decision.
        seed: of the continuations.

    Raises:
        ValueError: as `continued_values`.
    """
    return continued_values(policy, episodes, instances, settings, rollouts=rollouts, gamma=gamma, seed=seed).values


def continued_values(
    policy: Policy,
    episodes: Sequence[Episode],
    instances: Sequence[Playable],
    settings: Settings,
    *,
    rollouts: int,
    gamma: float = 1.0,
    seed: int = 0,
) -> Continued:
    """Return what `rollout_values` returns, and what it cost; same arguments.

    Raises:
        ValueError: if `rollouts` is below 1, or actions may fail, so that an episode cannot be played again.
    """
    if rollouts < 1:
        raise ValueError(f"rollouts is {rollouts}, but a mean needs at least 1")
    if settings.failure_probability:
        raise ValueError(
            f"failure_probability is {settings.failure_probability}, but snapshots are found by playing the same "
            "replies again, which needs an environment without chance"
        )
    order: dict[Beginning, int] = {}
    places = [order.setdefault(begin, len(order)) for episode in episodes for begin in _beginnings(episode)]
    turns = {begin: episode.turns[:index] for episode in episodes for index, begin in enumerate(_beginnings(episode))}
    streams = np.random.SeedSequence(seed).spawn(len(order) * rollouts)
    lanes = []
    for begin, place in order.items():
        chances = streams[place * rollouts : (place + 1) * rollouts]
        lanes += _continuations(instances[begin[0]], begin[0], turns[begin], settings, chances)
    play_out(policy, lanes)
    played = [lane.close() for lane in lanes]
    returns = np.array([_return(episode, gamma) for episode in played]).reshape(len(order), rollouts)
    return Continued(
        np.asarray(returns.mean(axis=1)[places], dtype=np.float64),
        sum(episode.decisions for episode in played),
        sum(episode.atomic_steps for episode in played),
        sum(episode.tokens for episode in played),
    )


def _beginnings(episode: Episode) -> list[Beginning]:
    replies = tuple(turn.reply for turn in episode.turns)
    return [(episode.group, replies[:index]) for index in range(len(replies))]


def _continuations(
    instance: Playable,
    group: int,
    played: Sequence[Turn],
    settings: Settings,
    streams: Sequence[np.random.SeedSequence],
) -> list[Lane]:
    """Return one lane for each stream, standing behind the turns that were played."""
    lanes = [Lane(instance, group, index, settings, stream) for index, stream in enumerate(streams)]
    first = lanes[0]
    for turn in played:
        first.play(_reply(turn))
    snapshot = first.env.get_state()
    for lane in lanes[1:]:
        lane.observation, lane.info = lane.env.set_state(snapshot)
    for lane in lanes:
        lane.turns.clear()
    return lanes


def _reply(turn: Turn) -> Reply:
    return Reply(
        turn.reply,
        turn.prompt_ids,
        turn.reply_ids,
        turn.sampling_logprobs,
        turn.entropy,
        turn.capped,
        turn.extra_tokens,
    )


def _return(episode: Episode, gamma: float) -> float:
    """Return the discounted task reward of a continuation."""
    return float(sum(gamma**index * turn.reward for index, turn in enumerate(episode.turns)))
