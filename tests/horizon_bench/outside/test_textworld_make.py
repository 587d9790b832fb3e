"""Making a bank of TextWorld games: what is kept of the games that the package makes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from horizon_bench.outside import textworld_make
from horizon_bench.outside.textworld_bank import read_bank
from horizon_bench.outside.textworld_games import Game

SHIPPED = read_bank()


def test_a_shipped_game_has_its_distances_again() -> None:
    for banked in SHIPPED.games[:4]:
        assert textworld_make.graded(banked.game, SHIPPED.rules) == banked


def test_games_that_are_none_or_known_or_do_not_fit_are_left_out() -> None:
    first, second = (banked.game for banked in SHIPPED.games[:2])
    unfit = replace(first, facts=first.facts + tuple(("in", f"k_{number}", "I") for number in range(60)))
    games = [None, first, unfit, first, second]
    assert list(textworld_make.fitting(games, SHIPPED.rules)) == list(SHIPPED.games[:2])


def test_a_game_whose_events_could_happen_two_at_once_is_left_out() -> None:
    game = SHIPPED.games[0].game
    doubled = replace(game, quest=(*game.quest[:1], *game.quest))
    assert textworld_make.graded(doubled, SHIPPED.rules) is None


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Stand in for the package: it makes the games that ship; the list holds the seeds it was asked for."""
    seeds: list[int] = []

    def make_games(seed: int) -> Iterator[Game]:
        seeds.append(seed)
        yield from (banked.game for banked in SHIPPED.games)

    module = ModuleType("textworld")
    vars(module).update(__version__=SHIPPED.version)
    monkeypatch.setitem(sys.modules, "textworld", module)
    monkeypatch.setattr(textworld_make, "make_games", make_games)
    monkeypatch.setattr(textworld_make, "package_rules", lambda: SHIPPED.rules)
    return seeds


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["textworld_make", *words])
    return textworld_make.main()


def test_the_command_writes_as_many_games_as_it_was_told(
    package: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bank.json.gz"
    assert run(monkeypatch, "--games", "3", "--file", str(path), "--seed", "7") == 0
    bank = read_bank(path)
    assert package == [7]
    assert (bank.version, bank.rules, bank.games) == (SHIPPED.version, SHIPPED.rules, SHIPPED.games[:3])
    assert "3 of 3 games" in capsys.readouterr().err


@pytest.mark.usefixtures("package")
def test_no_games_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run(monkeypatch, "--games", "0", "--file", str(tmp_path / "bank.json.gz"))
    assert "--games is 0, must be at least 1" in capsys.readouterr().err


def test_without_the_package_the_command_names_the_one_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "textworld", None)
    with pytest.raises(SystemExit):
        run(monkeypatch, "--file", str(tmp_path / "bank.json.gz"))
    assert 'pip install "horizon-bench[outside]"' in capsys.readouterr().err
