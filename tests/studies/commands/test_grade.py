from __future__ import annotations

import pathlib

import pytest

from studies.commands.grade import Grade


def test_good_lines_are_answered_and_bad_ones_named(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "puzzles.txt"
    file.write_text("1.3434122.43.321\n12\n................\n1234341221434321\n")
    assert Grade(file).run() == 1
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        "givens\tlevel\tscore\thardest\ttechniques",
        "1.3434122.43.321\tEasy\t12\tFull House\tFull House:3",
        "1234341221434321\tEasy\t0\t-\t-",
    ]
    assert [line.split(":")[0] for line in printed.err.splitlines()] == ["line 2", "line 3"]


def test_restrict_and_path(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "puzzles.txt"
    file.write_text("1.3434122.43.321\n")
    assert Grade(file, restrict=("naked single",), path=True).run() == 0
    row = capsys.readouterr().out.splitlines()[1].split("\t")
    assert row[3] == "Naked Single"
    assert row[5].count(" | ") == 2
