"""The report command says what it could not read."""

from __future__ import annotations

import pathlib

import pytest

from studies.cli import main


@pytest.fixture
def results(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return a results folder with one finished run of the expert."""
    words = ("study", "run", "study-sudoku-atomic-t-expert", "--preset", "smoke", "--workers", "0", "--no-report")
    assert main([*words, "--results", str(tmp_path)]) == 0
    return tmp_path


def test_damage_is_named_and_the_rest_is_drawn(results: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = next(results.rglob("cell.json")).parent
    assert main(["report", str(results)]) == 0
    (run / "done.json").unlink()
    assert main(["report", str(results)]) == 0
    assert capsys.readouterr().err == ""
    (run / "episodes.parquet").write_bytes(b"PAR1")
    with (run / "records.jsonl").open("a", encoding="utf8") as file:
        file.write("rubbish\n")
    assert main(["report", str(results)]) == 1
    records, episodes = capsys.readouterr().err.splitlines()
    assert "records.jsonl" in records
    assert "not a record" in records
    assert "episodes.parquet: unreadable" in episodes
    assert (results / "report.html").stat().st_size > 10_000
