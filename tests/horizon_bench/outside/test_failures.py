"""Failure analysis of episodes in worlds that can only be played."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from corridor import Start

from horizon_bench.envs.settings import Settings
from horizon_bench.episodes import Episode
from horizon_bench.policies.base import Reply, Tokenless
from horizon_bench.rollout import rollout
from reports.failures import OTHER, STOPPED, classify
from reports.failures_divergence import divergence_of, first_divergence
from reports.records import StoredEpisode

WORLD = "corridor:Corridor"


class Scripted(Tokenless):
    """Says one line after the other."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)

    def reply(self, observations: Sequence[str], seats: Sequence[Any], generators: Sequence[Any]) -> list[Reply]:
        return [Reply(self.replies.pop(0))]


def played(*replies: str) -> Episode:
    return rollout(Scripted(*replies), [Start("hall 3")], Settings(max_decisions=len(replies), on_error="stay"))[0]


def test_a_crash_is_no_mistake_of_the_policys() -> None:
    episode = played("take brass key", "smash mirror")
    verdict = classify(episode)
    assert (episode.end_reason, verdict.failure, verdict.reason) == ("crashed", OTHER, "the world itself went down")
    assert first_divergence(episode, WORLD, None) is None


@pytest.mark.parametrize(
    ("replies", "where"),
    [
        (("take brass key", "go east"), None),
        (("take brass key", "go east", "go west"), 2),
        (("go east", "go west"), 0),
        (("take brass key", "fly", "jump"), 1),
    ],
)
def test_the_expert_is_left_at_the_first_command_off_its_way(replies: tuple[str, ...], where: int | None) -> None:
    left = first_divergence(played(*replies), WORLD, None)
    assert (None if left is None else left.atomic_step) == where


def test_a_world_that_is_lost_was_ended_wrongly() -> None:
    assert classify(played("take brass key", "jump")).failure == STOPPED


@pytest.mark.parametrize("world", ["Uninstalled", "Broken"])
def test_results_can_be_reported_where_their_world_cannot_be_played(world: str) -> None:
    episode = played("take brass key", "go west")
    stored = StoredEpisode("study", "cell", 0, "random", 0, f"corridor:{world}", 0, "atomic", episode)
    assert divergence_of(stored) is None
