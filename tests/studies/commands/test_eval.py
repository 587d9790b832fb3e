from __future__ import annotations

import math
import pathlib
import re

import pytest

from reports.records import EvaluationRecord, read
from studies.cli import main
from studies.commands.eval import Evaluate


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_the_expert_solves_all_and_its_horizon_lies_beyond_what_was_tested(capsys: pytest.CaptureFixture[str]) -> None:
    assert Evaluate("expert", level=("L1", "L2"), puzzles=5, attempts=2).run() == 0
    lines = lines_of(capsys)
    rows = [line.split() for line in lines if line.startswith("L")]
    assert [(row[0], row[1], row[3]) for row in rows] == [("L1", "5", "100.0"), ("L2", "5", "100.0")]
    assert "avg@2 %" in "\n".join(lines)
    assert "pass@2 %" in "\n".join(lines)
    assert lines[-1].startswith("H50: > ")


def test_the_noisy_expert_has_the_horizon_of_the_closed_form(capsys: pytest.CaptureFixture[str]) -> None:
    error = 0.06
    request = Evaluate("noisy-expert", level=("T1", "T3", "T5"), error_rate=error, on_error="strict", puzzles=100)
    assert request.run() == 0
    match = re.search(r"H50: \D*([\d.]+) \[([\d.]+), ([\d.]+)\]", lines_of(capsys)[-1].replace("interval ", ""))
    assert match is not None
    expected = math.log(0.5) / math.log(1 - error)
    assert float(match[2]) - 0.5 <= expected <= float(match[3]) + 0.5


def test_the_same_seed_gives_the_same_records(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        Evaluate("random", level=("R1",), puzzles=4, seed=3, records=tmp_path / name).run()
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    rows = read(tmp_path / "one")
    assert len(rows) == 16
    assert all(isinstance(row, EvaluationRecord) and row.puzzle == "rush-hour" for row in rows)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["tiny"], "give its folder"),
        (["expert", "--level", "L8"], "unknown level 'L8'"),
        (["expert", "--level", "T1", "--attempts", "0"], "at least 1"),
        (["expert", "--puzzle", "sudko"], "did you mean 'sudoku'"),
        (["expert", "--level", "T1", "--interface", "marco"], "did you mean 'macro'"),
        (["expert", "--level", "L1", "--bank", "no/such.tsv"], "no/such.tsv"),
    ],
)
def test_wrong_requests_are_refused(words: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", *words]) == 1
    assert part in capsys.readouterr().err
