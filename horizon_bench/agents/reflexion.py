"""Reflexion (arXiv 2303.11366): after a failed attempt the model says why, and reads that in its next attempts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Self

import numpy as np

from horizon_bench.agents.base import Agent
from horizon_bench.agents.lanes import Lanes
from horizon_bench.agents.observations import as_note, parts_of, with_note, without_thought
from horizon_bench.envs.settings import Settings
from horizon_bench.episodes import Episode, Turn
from horizon_bench.policies.base import Policy, Reply, Seat
from horizon_bench.policies.chat import Message
from horizon_bench.rollout import Playable, rollout

TITLE = "What you learned from earlier attempts at this very task"
"""What the memory is called in prompts."""

REQUEST = (
    "Do not act now. Say in a few sentences what went wrong in this attempt and what you will do otherwise in the next "
    "attempt at the same task. Be concrete. Write no Action line."
)
"""What the message after a failed attempt asks for."""

ENDS = {
    "wrong": "an action made the goal impossible to reach",
    "illegal": "an action was against the rules",
    "format": "a reply could not be read",
    "dead": "no legal action was left",
    "max_decisions": "the replies were used up",
    "max_atomic_steps": "the actions were used up",
    "max_tokens": "the tokens were used up",
}
"""How a failed attempt ended, in words; all that is said besides what the attempt itself showed."""

SHOWN_TURNS = 20
"""Latest turns of the attempt that the reflection sees."""


class ReflexionAgent(Agent):
    """Plays its attempts at an instance one after the other, each with the reflections on the failed ones before.

    Evaluated with k attempts, the t-th attempt is the t-th trial: pass@k says whether the k trials solved it. The
    tokens of a reflection count as the failed attempt's. Instances that look alike at the start share their memory.
    """

    def __init__(self, actor: Policy, memory: int = 3) -> None:
        """Take the policy that acts.

        Args:
            actor: a chat policy, or an agent on top of one.
            memory: latest reflections that are kept.

        Raises:
            ValueError: if no chat policy is beneath, or `memory` is under 1.
        """
        if memory < 1:
            raise ValueError(f"memory must be at least 1, not {memory}")
        super().__init__(actor)
        self.memory = memory
        self.reflections: dict[str, tuple[str, ...]] = {}
        self._starts: Lanes[list[str]] = Lanes(list)

    def on(self, actor: Policy) -> Self:
        """Return the same agent with another actor and no memory."""
        return type(self)(actor, self.memory)

    def reply(
        self, observations: Sequence[str], seats: Sequence[Seat], generators: Sequence[np.random.Generator]
    ) -> list[Reply]:
        """Return one reply for each lane, given the reflections on its task."""
        noted = []
        for start, observation in zip(self._starts.of(generators), observations, strict=True):
            if not start:
                start.append(observation)
            noted.append(with_note(observation, TITLE, self._notes(start[0])))
        return self.actor.reply(noted, seats, generators)

    def _notes(self, start: str) -> str:
        """Return the reflections on a task, one a line."""
        return "\n".join(f"- {note}" for note in self.reflections.get(start, ()))

    def play(self, instances: Sequence[Playable], settings: Settings, attempts: int, seed: int) -> list[Episode]:
        """Return every attempt at every instance, in the order of instances, then attempts; starts without memory.

        Args:
            instances: what to solve.
            settings: the environment's settings.
            attempts: trials at each instance.
            seed: of all chance.

        Raises:
            ValueError: if `attempts` is under 1.
        """
        if attempts < 1:
            raise ValueError(f"attempts must be at least 1, not {attempts}")
        self.reflections.clear()
        trials: list[list[Episode]] = []
        for trial, child in enumerate(np.random.SeedSequence(seed).spawn(attempts)):
            play, reflect = child.spawn(2)
            played = rollout(self, instances, settings, 1, int(play.generate_state(1)[0]))
            played = [replace(episode, attempt=trial) for episode in played]
            trials.append(played if trial + 1 == attempts else self._reflect(played, reflect))
        return [trial[place] for place in range(len(instances)) for trial in trials]

    def _reflect(self, episodes: Sequence[Episode], seed: np.random.SeedSequence) -> list[Episode]:
        """Ask for a reflection on each failed attempt and return the attempts, its tokens counted in."""
        generators = [np.random.default_rng(child) for child in seed.spawn(len(episodes))]
        failed = [place for place, episode in enumerate(episodes) if not episode.solved and episode.turns]
        if not failed:
            return list(episodes)
        asked = [
            (Message("user", transcript(episodes[place], self._notes(episodes[place].turns[0].observation))),)
            for place in failed
        ]
        written = self.speaker.chat(asked, [generators[place] for place in failed])
        counted = list(episodes)
        for place, reply in zip(failed, written, strict=True):
            start = episodes[place].turns[0].observation
            note = " ".join(as_note(reply.text).split())
            if note:
                self.reflections[start] = (*self.reflections.get(start, ()), note)[-self.memory :]
            counted[place] = _charged(episodes[place], reply.tokens)
        return counted


def transcript(episode: Episode, notes: str = "") -> str:
    """Return what the reflection on a failed attempt sees: the task, the latest turns, how it ended, the request.

    Args:
        episode: an attempt with at least one turn.
        notes: reflections on attempts before it.
    """
    first, hidden = episode.turns[0], max(0, len(episode.turns) - SHOWN_TURNS)
    parts = [with_note(first.observation, TITLE, notes), "Here is what you did."]
    if hidden:
        parts.append(f"({hidden} earlier turns left out)")
    for number, turn in enumerate(episode.turns[hidden:], hidden + 1):
        parts += [*([_news(turn)] if number > 1 else []), f"Reply {number}: {without_thought(turn.reply).strip()}"]
    if episode.final_observation:
        parts.append(parts_of(episode.final_observation).news.strip())
    ending = ENDS.get(episode.end_reason, episode.end_reason)
    return "\n\n".join([*parts, f"The task is not solved: {ending}.", REQUEST])


def _news(turn: Turn) -> str:
    return parts_of(turn.observation).news.strip()


def _charged(episode: Episode, tokens: int) -> Episode:
    last = episode.turns[-1]
    return replace(episode, turns=(*episode.turns[:-1], replace(last, extra_tokens=last.extra_tokens + tokens)))
