from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from horizon_bench.episodes import Episode
from reports.boards import boards_of, draw_board
from reports.episode_store import StoredEpisode
from reports.episodes import view


@pytest.fixture
def stored(make) -> StoredEpisode:
    return make.stored_episodes(make.arms[3], 0, 80, np.random.default_rng(0))[4]


def test_there_is_a_board_before_and_after_every_decision(stored: StoredEpisode) -> None:
    boards = boards_of(stored)
    assert len(boards) == len(stored.episode.turns) + 1
    assert all(board.svg.startswith("<svg") for board in boards)
    assert boards[0].svg.count('class="new"') == 0
    assert 0 < boards[1].svg.count('class="new"') <= len(stored.episode.turns[0].moves)


def test_an_unknown_puzzle_shows_what_the_policy_saw(stored: StoredEpisode) -> None:
    boards = boards_of(replace(stored, puzzle="towers-of-somewhere"))
    assert {board.svg for board in boards} == {""}
    assert {board.text for board in boards} == {"board"}


def test_given_digits_differ_from_filled_ones() -> None:
    svg = draw_board("sudoku", 4, ["1", "2", *[""] * 14], ["1", *[""] * 15], ["1", *[""] * 15])
    assert '<text class="given" x="10" y="14.5">1</text>' in svg
    assert '<text class="filled" x="30" y="14.5">2</text>' in svg
    assert svg.count('class="new"') == 1


def test_vehicles_are_drawn_whole_and_the_exit_is_marked() -> None:
    cells = list("BB.G.HE..G.HEAAG.I..FCCIDDF..I..F...".replace(".", " "))
    svg = draw_board("rush-hour", 6, [cell.strip() for cell in cells])
    assert svg.count("<rect") == 9
    assert svg.count('class="exit"') == 1


def test_what_is_no_square_of_short_tokens_has_no_drawing() -> None:
    assert draw_board("sudoku", 4, ["1"] * 15) == ""
    assert draw_board("sudoku", 1, ["<tag>"]) == ""


def test_a_view_names_outcome_and_problems(stored: StoredEpisode) -> None:
    turns = list(stored.episode.turns)
    turns[0] = replace(turns[0], format_ok=False, illegal_actions=2, distance_after=None)
    episode: Episode = replace(stored.episode, turns=tuple(turns), solved=False, end_reason="max_decisions")
    seen = view("macro", replace(stored, episode=episode, advantages=tuple(range(len(turns)))))
    assert seen.outcome == "not solved: max decisions"
    assert seen.steps[0].problems == "not readable, 2 illegal"
    assert seen.steps[0].distance == "out of reach"
    assert seen.steps[0].advantage == "+0.00"
