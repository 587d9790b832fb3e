from __future__ import annotations

import math
import pathlib
import re

import pytest

from reports.records import EvaluationRecord, read
from studies.cli import main
from studies.commands.eval import Evaluate
from studies.factors import FAMILIES


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_the_expert_solves_all_and_its_horizon_lies_beyond_what_was_tested(capsys: pytest.CaptureFixture[str]) -> None:
    assert Evaluate("expert", level=("L1", "L2"), puzzles=5, attempts=2).run() == 0
    output = capsys.readouterr()
    lines = output.out.splitlines()
    assert re.search(r"^[\d,.]+ decisions/s$", output.err, re.MULTILINE)
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
        (["expert", "--level", "T1", "--temperature", "nan"], "temperature must be a number above 0"),
        (["expert", "--level", "T1", "--temperature", "inf"], "temperature must be a number above 0"),
        (["expert", "--level", "T1", "T2", "T1"], "twice"),
        (["no/such/model", "--level", "T1"], "no folder no/such/model"),
        (["expert", "--puzzle", "mine:Mine", "--bank", "mine.tsv"], "brings its own starts; leave --bank mine.tsv out"),
        (["expert", "--level", "T1", "--thinking", "on"], "asked with --thinking, and policy 'expert' is none"),
    ],
)
def test_wrong_requests_are_refused(words: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", *words]) == 1
    assert part in capsys.readouterr().err


def test_the_shop_has_levels_by_default_and_a_folder_does_not_hide_the_expert(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "expert").mkdir()
    assert main(["eval", "expert", "--puzzle", "shop", "--puzzles", "1", "--attempts", "1"]) == 0
    assert [line.split()[0] for line in lines_of(capsys) if line.startswith("S")] == list(FAMILIES["s"].levels)


def test_records_are_not_appended_to_a_file_of_something_else(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text("print()\n", encoding="utf8")
    assert main(["eval", "expert", "--level", "T1", "--records", str(program)]) == 1
    assert f"{program}:1: not a record" in capsys.readouterr().err
    assert program.read_text(encoding="utf8") == "print()\n"


def test_an_imported_bank_is_measured_whatever_its_levels(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lists, bank = tmp_path / "mine.txt", tmp_path / "mine.tsv"
    beyond = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
    lists.write_text(f"{beyond}\n1234341221.34..1\n..34.4..2...4..2\n", encoding="utf8")
    assert main(["bank", "import", str(lists), "--out", str(bank)]) == 0
    assert main(["eval", "expert", "--bank", str(bank), "--split", "train"]) == 0
    rows = [line.split()[:5] for line in lines_of(capsys)]
    assert ["-", "1", "3.0", "100.0", "[20.7,"] in rows
    assert ["T4", "1", "10.0", "100.0", "[20.7,"] in rows
    assert main(["eval", "expert", "--bank", str(bank)]) == 1
    assert "holds no test puzzles; say --split, of which it holds: train, validation" in capsys.readouterr().err
    assert main(["eval", "expert", "--bank", str(bank), "--puzzle", "rush-hour"]) == 1
    assert "holds sudoku, no rush-hour" in capsys.readouterr().err
