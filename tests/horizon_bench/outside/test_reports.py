"""Reports on episodes in worlds that can only be played."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from corridor import CorridorSimulator, Start

from horizon_bench.envs.settings import Settings
from horizon_bench.episodes import Episode
from horizon_bench.outside.textworld import TextWorld
from horizon_bench.policies import ExpertPolicy
from horizon_bench.policies.base import Reply, Tokenless
from horizon_bench.rollout import rollout
from reports.boards import boards_of
from reports.episode_store import write_episodes
from reports.failures import OTHER, STOPPED, classify
from reports.failures_divergence import divergence_of, first_divergence
from reports.records import StoredEpisode
from studies.cli import main

WORLD, TEXT_WORLD = "corridor:Corridor", "horizon_bench.outside.textworld:TextWorld"


class Scripted(Tokenless):
    """Says one line after the other."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)

    def reply(self, observations: Sequence[str], seats: Sequence[Any], generators: Sequence[Any]) -> list[Reply]:
        return [Reply(self.replies.pop(0))]


def played(*replies: str) -> Episode:
    return rollout(Scripted(*replies), [Start("hall 3")], Settings(max_decisions=len(replies), on_error="stay"))[0]


def kept(episode: Episode, puzzle: str = WORLD) -> StoredEpisode:
    return StoredEpisode("study", "cell", 0, "random", 0, puzzle, 0, "atomic", episode)


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
    assert divergence_of(kept(episode, f"corridor:{world}")) is None


def test_a_report_shows_what_was_seen_and_starts_no_simulator() -> None:
    stored, started = kept(played("take brass key", "go east")), CorridorSimulator.started
    first, second, last = boards_of(stored)
    assert "Room 1 of 3." in first.text
    assert second.text == last.text
    assert CorridorSimulator.started == started


def test_a_world_of_plain_data_is_shown_as_its_people_read_it() -> None:
    start = TextWorld().starts("W1", "test")[0]
    episode = rollout(ExpertPolicy(), [Start(start, TEXT_WORLD)], Settings(observation="compact"))[0]
    assert all(board.text.startswith("You are in the") for board in boards_of(kept(episode, TEXT_WORLD)))


def test_recorded_episodes_are_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_episodes(tmp_path / "episodes.parquet", [kept(played("take brass key", "fly", "go east"))])
    assert main(["replay", str(tmp_path / "episodes.parquet")]) == 0
    assert "Room 2 of 3. You have the key." in capsys.readouterr().out
