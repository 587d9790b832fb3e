"""Which attempts tell most about credit: a failed one and one that made a detour, each with its whole group.

The rule is fixed, so that nobody picks a picture by hand:

1. A group is all stored attempts at one puzzle by one policy through one interface, at least two of them, none of over
   `LONGEST` decisions. An attempt made a detour if a decision left the goal in reach but no nearer, and a later one
   brought it nearer.
2. Detour: groups of both outcomes come first, then solved attempts, then those after RL, then those with more such
   decisions (four count as many), then the shorter ones.
3. Failed: from the detour's group, if another attempt of it failed after completing a subgoal; else from all groups,
   those of both outcomes first, then those after RL. More subgoals come first (three count as many), then longer ones.
4. What is still equal is decided by the order in which attempts were stored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from horizon_bench.episodes import Episode, Turn
from reports.panels import Change
from reports.records import StoredEpisode

LONGEST = 24
"""Most decisions of an attempt that is drawn."""

Group = tuple[StoredEpisode, ...]
"""All attempts at one puzzle by one policy."""


@dataclass(frozen=True, eq=False)
class Attempt:
    """One attempt and the group that it is compared with."""

    group: Group
    index: int
    """Its place in the group."""

    @property
    def stored(self) -> StoredEpisode:
        """The attempt itself."""
        return self.group[self.index]

    @property
    def episode(self) -> Episode:
        """What happened in it."""
        return self.stored.episode

    @property
    def mixed(self) -> bool:
        """Whether its group holds solved and failed attempts."""
        return len({one.episode.solved for one in self.group}) > 1

    @property
    def reinforced(self) -> bool:
        """Whether its policy had been through RL."""
        return self.stored.phase == "rl"

    @property
    def subgoals(self) -> int:
        """Subgoals that it completed."""
        return sum(len(turn.subgoals_reached) for turn in self.episode.turns)


def change_of(turn: Turn) -> Change:
    """Return what a decision did to the goal distance; a repaired position counts as nearer."""
    if turn.distance_after is None:
        return "lost"
    if turn.distance_before is None or turn.distance_after < turn.distance_before:
        return "nearer"
    return "same" if turn.distance_after == turn.distance_before else "farther"


def detour_decisions(episode: Episode) -> tuple[int, ...]:
    """Return the decisions, from 0, after which the goal was in reach but no nearer, and that a nearer one followed."""
    changes = [change_of(turn) for turn in episode.turns]
    last_nearer = max((index for index, change in enumerate(changes) if change == "nearer"), default=-1)
    return tuple(index for index, change in enumerate(changes[:last_nearer]) if change in ("same", "farther"))


def groups_of(stored: Iterable[StoredEpisode]) -> list[Group]:
    """Return the groups among stored attempts of one run that can be drawn, in the order of their first attempts."""
    groups: dict[tuple[object, ...], list[StoredEpisode]] = defaultdict(list)
    for one in stored:
        where = (one.study, one.cell, one.seed, one.phase, one.update, one.interface, one.variant)
        groups[(*where, one.episode.instance_key, one.episode.group, one.episode.start)].append(one)
    return [tuple(group) for group in groups.values() if _drawable(group)]


def pick_attempts(groups: Sequence[Group]) -> tuple[Attempt | None, Attempt | None]:
    """Return the failed and the detouring attempt that the rule above puts first, None where there is none."""
    attempts = [Attempt(group, index) for group in groups for index in range(len(group))]
    detour = max(filter(_is_detour, attempts), key=_detour_worth, default=None)
    failed = [one for one in attempts if not one.episode.solved and one is not detour]
    beside = [one for one in failed if detour and one.group is detour.group and one.subgoals]
    return max(beside or failed, key=_failed_worth, default=None), detour


def _drawable(group: Sequence[StoredEpisode]) -> bool:
    return len(group) > 1 and all(0 < len(one.episode.turns) <= LONGEST for one in group)


def _is_detour(attempt: Attempt) -> bool:
    return bool(detour_decisions(attempt.episode))


def _detour_worth(attempt: Attempt) -> tuple[bool, bool, bool, int, int]:
    episode = attempt.episode
    steps = min(len(detour_decisions(episode)), 4)
    return attempt.mixed, episode.solved, attempt.reinforced, steps, -len(episode.turns)


def _failed_worth(attempt: Attempt) -> tuple[bool, bool, int, int]:
    return attempt.mixed, attempt.reinforced, min(attempt.subgoals, 3), len(attempt.episode.turns)
