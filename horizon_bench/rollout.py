"""Policies play instances: many episodes side by side, one call of the policy for each round of decisions.

Every episode has its own generator, made from the seed, the instance and the attempt alone: what else is played in the
same call changes nothing (for policies that sample tokens, up to the last bits of float arithmetic).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields
from functools import lru_cache
from hashlib import blake2b
from typing import Protocol

import numpy as np

from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.envs.settings import Settings
from horizon_bench.episodes import Episode, Turn
from horizon_bench.pace import clocked
from horizon_bench.policies.base import Policy, Reply


class Playable(Protocol):
    """What a rollout needs of an instance; `curricula.Instance` has it."""

    @property
    def puzzle(self) -> str:
        """Name of the puzzle in `PUZZLES`, or an import string."""

    @property
    def size(self) -> int | None:
        """Rows of the board; None or 0 for puzzles that take no size."""

    @property
    def start(self) -> str:
        """The start as `Puzzle.format` writes it."""

    @property
    def key(self) -> str:
        """Content key."""

    @property
    def level(self) -> str:
        """Level, or `-`."""


@lru_cache(maxsize=32)
def _free_envs(puzzle: str, size: int | None, settings: Settings) -> list[PuzzleEnv]:
    """Return the environments of these settings that no episode uses: making one costs more than a short episode."""
    return []


class Lane:
    """One episode in the making: its environment, its generator and the turns so far."""

    def __init__(
        self, instance: Playable, group: int, attempt: int, settings: Settings, seed: np.random.SeedSequence
    ) -> None:
        """Begin an episode."""
        self.group, self.attempt = group, attempt
        self._free = _free_envs(instance.puzzle, instance.size, settings)
        self.env = self._free.pop() if self._free else _make_env(instance, settings)
        play, fail = seed.spawn(2)
        self.generator = np.random.default_rng(play)
        self.observation, self.info = self.env.reset(
            seed=int(fail.generate_state(1)[0]), options={"instance": instance}
        )
        self.over = False
        self.turns: list[Turn] = []

    def play(self, reply: Reply) -> None:
        """Play a reply and keep the turn."""
        if reply.tokens:
            self.env.count_tokens(reply.tokens)
        observation, before = self.observation, self.info
        self.observation, reward, self.terminated, self.truncated, info = self.env.step(reply.text)
        self.over, self.info = self.terminated or self.truncated, info
        self.turns.append(
            Turn(
                observation=observation,
                reply=reply.text,
                prompt_ids=reply.prompt_ids,
                reply_ids=reply.reply_ids,
                sampling_logprobs=reply.logprobs,
                entropy=reply.entropy,
                capped=reply.capped,
                format_ok=info["format_ok"],
                legal=info["legal"],
                actions_written=info["actions_written"],
                moves=info["moves"],
                illegal_actions=info["illegal_actions"],
                reward=float(reward),
                step_reward=info["step_reward"],
                subgoals_reached=info["subgoals_reached"],
                own_subgoal=info["own_subgoal"],
                state_hash=before["state_hash"],
                distance_before=before["distance_to_go"],
                distance_after=info["distance_to_go"],
                extra_tokens=reply.extra_tokens,
            )
        )

    def close(self) -> Episode:
        """Give the environment back and return the finished episode."""
        self._free.append(self.env)
        instance = self.env.instance
        return Episode(
            instance_key=instance.key,
            start=instance.text,
            level=instance.level,
            distance=instance.distance,
            group=self.group,
            attempt=self.attempt,
            turns=tuple(self.turns),
            solved=self.info["goal"],
            terminated=self.terminated,
            truncated=self.truncated,
            end_reason=self.info["end_reason"],
            final_observation="" if self.terminated else self.observation,
        )


def _make_env(instance: Playable, settings: Settings) -> PuzzleEnv:
    chosen = {field.name: getattr(settings, field.name) for field in fields(settings)}
    return PuzzleEnv(puzzle=instance.puzzle, size=instance.size or None, instance=instance.start, **chosen)


def rollout(
    policy: Policy,
    instances: Sequence[Playable],
    settings: Settings,
    attempts: int = 1,
    seed: int = 0,
    only: Collection[int] | None = None,
) -> list[Episode]:
    """Return every attempt at every instance, in the order of instances, then attempts.

    Args:
        policy: any policy.
        instances: one group of episodes each; an instance that stands twice is played with other chances.
        settings: the environment's settings; the small model reads `observation="compact"`.
        attempts: episodes for each instance.
        seed: the same seed gives the same episodes.
        only: indices of the instances to play, for processes that share the work; all by default.

    Raises:
        ValueError: if `attempts` is under 1 or an instance is no start of its puzzle.
    """
    if attempts < 1:
        raise ValueError(f"attempts must be at least 1, not {attempts}")
    episodes: list[Episode] = []
    with clocked(episodes):
        lanes = _begin(instances, settings, attempts, seed, only)
        play_out(policy, lanes)
        episodes += [lane.close() for lane in lanes]
    return episodes


def _begin(
    instances: Sequence[Playable], settings: Settings, attempts: int, seed: int, only: Collection[int] | None
) -> list[Lane]:
    """Return the episodes of all attempts at all instances, begun."""
    lanes = []
    seen: dict[str, int] = {}
    for group, instance in enumerate(instances):
        repeat = seen[instance.start] = seen.get(instance.start, -1) + 1
        if only is not None and group not in only:
            continue
        name = int.from_bytes(blake2b(instance.start.encode(), digest_size=8).digest(), "big")
        for attempt, child in enumerate(np.random.SeedSequence((seed, name, repeat)).spawn(attempts)):
            lanes.append(Lane(instance, group, attempt, settings, child))
    return lanes


def play_out(policy: Policy, lanes: Sequence[Lane]) -> None:
    """Play episodes to their ends, side by side, as many at once as their puzzles allow."""
    most = min((lane.env.puzzle.most_at_once or len(lanes) for lane in lanes), default=1)
    for first in range(0, len(lanes), most):
        _play(policy, lanes[first : first + most])


def _play(policy: Policy, live: Sequence[Lane]) -> None:
    """Play episodes side by side to their ends."""
    while live:
        replies = policy.reply(
            [lane.observation for lane in live], [lane.env for lane in live], [lane.generator for lane in live]
        )
        for lane, reply in zip(live, replies, strict=True):
            lane.play(reply)
        live = [lane for lane in live if not lane.over]
