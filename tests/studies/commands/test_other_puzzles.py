"""Commands on what is not Sudoku or Rush Hour, and on what a user brings."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from curricula.proofs import prove
from studies.cli import main
from studies.commands.play import Play

DOCS = Path(__file__).resolve().parents[3] / "docs"
OWN = """
from lights_for_commands import LightsOut

class Lamps(LightsOut):
    def levels(self):
        return ("near", "far")

    def starts(self, level, split):
        starts = ("111000000", "110100000") if level == "near" else ("010111010",)
        return starts if split == "test" else ()
"""


class Terminal(io.StringIO):
    """A stream at which somebody sits."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "lights_for_commands.py").write_text((DOCS / "lights_out.py").read_text(encoding="utf8"))
    (tmp_path / "own_levels.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    yield
    sys.path[:] = before
    for name in ("lights_for_commands", "own_levels"):
        sys.modules.pop(name, None)


def test_shopping_lists_are_made_to_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "shop", "--level", "S1", "--count", "2", "--seed", "3"]) == 0
    head, *rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert head == ["list", "level", "distance", "plan", "key", "seed"]
    assert len({row[0] for row in rows}) == 2
    for row in rows:
        proven = prove("shop", row[0])
        assert (row[1], row[2], row[4]) == ("S1", str(proven.distance), proven.key)


@pytest.mark.usefixtures("own")
def test_a_puzzle_of_ones_own_is_measured_by_its_own_levels(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["eval", "expert", "--puzzle", "own_levels:Lamps", "--attempts", "1"]
    assert main(words) == 0
    lines = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert ["near", "2"] in lines
    assert ["far", "1"] in lines
    assert main([*words, "--level", "far"]) == 0
    assert ["near", "2"] not in [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert main([*words, "--split", "train"]) == 1
    assert "no train puzzles" in capsys.readouterr().err


def test_a_level_of_another_puzzle_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "expert", "--puzzle", "sudoku", "--level", "R1"]) == 1
    assert "level R1 belongs to rush-hour; say --puzzle rush-hour" in capsys.readouterr().err


def test_a_player_at_a_terminal_is_asked_for_each_turn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "hint\nvalue(3, r4c2)\nquit\n"
    outputs = []
    for stream in (Terminal, io.StringIO):
        monkeypatch.setattr("sys.stdin", stream(lines))
        assert Play(instance="1234341221434.2.").run() == 0
        outputs.append(capsys.readouterr().out)
    asked, echoed = outputs
    assert asked.count("> ") == echoed.count("> ") == 3
    assert "> hint" in echoed
    assert "> hint" not in asked


def test_a_bank_that_cannot_be_filled_says_how_far_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from curricula import banks

    monkeypatch.setattr(banks, "build_bank", lambda *arguments: arguments[-1](3, 8) or [])
    monkeypatch.setattr("sys.stderr", Terminal())
    few = ["--train", "2", "--validation", "0", "--test", "0", "--workers", "1"]
    assert main(["bank", "build", "--level", "T1", "--out", str(tmp_path), *few]) == 1
    said = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert "3" in said.partition("only")[0]
    assert "T1: only 0 of 2 train instances found" in said
    capsys.readouterr()
    assert main(["bank", "list", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[1].split("\t")[:4] == ["T1", "-", "-", "-"]
