"""What the command line says where a world cannot start: one line with the reason, no traceback."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from horizon_bench.outside import alfworld_games, scienceworld_make
from studies.cli import main


@pytest.mark.parametrize(
    ("world", "reason"),
    [
        (
            "Uninstalled",
            "the corridor needs the package 'no_such_package' (No module named 'no_such_package'); "
            'run: python -m pip install "horizon-bench[outside]"',
        ),
        ("Broken", "task 'hall 2' cannot be started: RuntimeError: the engine is cold"),
    ],
)
def test_a_world_that_cannot_start_is_one_line(world: str, reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "expert", "--puzzle", f"corridor:{world}", "--puzzles", "1", "--attempts", "1"]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == f"horizon-bench: {reason}"


def test_a_study_of_a_world_without_levels_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "expert", "--puzzle", "corridor:Corridor"]) == 1
    assert "offers 3 different starts" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("make", "words"),
    [(scienceworld_make, ["--again", "--dry-run"]), (alfworld_games, ["games", "--per-type", "1"])],
)
def test_making_without_the_package_ends_with_the_command_that_installs_it(
    make: ModuleType, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("scienceworld", "scienceworld.constants", "alfworld", "alfworld.gen", "alfworld.gen.goal_library"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=r'run: python -m pip install "horizon-bench\[outside\]"'):
        make.main(words)
