"""The programs that start from a terminal: the command as a module, and the pictures of the critics."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

import horizon_bench.__main__
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.configs import RolloutConfig
from puzzles.sudoku import Sudoku
from studies import critics_example


@pytest.mark.parametrize(("words", "status", "said"), [(["--version"], 0, "horizon-bench "), ([], 2, "usage:")])
def test_the_module_is_the_command(
    words: list[str], status: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["horizon-bench", *words])
    assert horizon_bench.__main__.main() == status
    by_function = capsys.readouterr().out
    assert by_function.startswith(said)
    monkeypatch.delitem(sys.modules, "horizon_bench.__main__")
    with pytest.raises(SystemExit) as stop:
        runpy.run_module("horizon_bench", run_name="__main__")
    assert stop.value.code == status
    assert capsys.readouterr().out == by_function


def test_pictures_of_the_critics_come_from_the_last_phase(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "policy"
    TinyPolicy.create(Sudoku(4), board_tokens=16, hidden_size=16, layers=1, seed=1).save(saved)
    phases, last = critics_example.phases, []

    def watched(policy: TinyPolicy, updates: int, seed: int) -> object:
        last.extend(phases(policy, updates, seed))
        return last

    monkeypatch.setattr(critics_example, "phases", watched)
    monkeypatch.setattr(critics_example, "RolloutConfig", lambda: RolloutConfig(groups=3, attempts=2))
    critics_example.main(tmp_path / "out", updates=2, policy=saved)
    assert {row.update for row in last} == {1}
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    shown = capsys.readouterr().out.splitlines()
    assert written
    assert {Path(line).name for line in shown if line.startswith(str(tmp_path))} == set(written)
    assert {name.partition(".")[0] for name in written} <= set(critics_example.NAMES)
