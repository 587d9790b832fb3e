from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reports.records import read, read_cell, read_episodes
from studies.factors import parse_name
from studies.presets import find_preset
from studies.reuse import take_over
from studies.runner import CellJob
from tests.studies.small_runs import run

PRESET = replace(find_preset("smoke"), untrained_puzzles=2)
CELL = parse_name("study-sudoku-atomic-t-expert")


def job(results: Path, study: str, seed: int = 0, attempts: int = 4) -> CellJob:
    return CellJob(str(results), study, CELL, seed, replace(PRESET, attempts=attempts))


def test_a_cell_that_another_study_has_finished_is_taken_over_whole(tmp_path: Path) -> None:
    first, second, third = (job(tmp_path, study) for study in ("first", "second", "third"))
    assert "solved" in run(first)
    assert run(second) == "taken over from study first"
    assert run(third) == "taken over from study first"
    assert run(second) == "was finished already"
    for one in (second, third):
        assert read_cell(one.folder).study == one.study
        for name in ("records.jsonl", "timings.jsonl"):
            expected = [replace(row, study=one.study) for row in read(first.folder / name)]
            assert read(one.folder / name) == expected
        assert {row.study for row in read_episodes(one.folder / "episodes.parquet")} == {one.study}
    alone = job(tmp_path / "elsewhere", "second")
    run(alone)
    assert (alone.folder / "records.jsonl").read_bytes() == (second.folder / "records.jsonl").read_bytes()


@pytest.mark.parametrize("other", [{"seed": 1}, {"attempts": 2}])
def test_a_run_that_differs_in_anything_is_not_taken_over(tmp_path: Path, other: dict[str, int]) -> None:
    run(job(tmp_path, "first", **other))
    assert "solved" in run(job(tmp_path, "second"))


def test_a_run_of_another_revision_or_an_unfinished_one_is_not_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = job(tmp_path, "first")
    run(first)
    monkeypatch.setattr("studies.cell._commit", lambda: "another")
    assert "solved" in run(job(tmp_path, "second"))
    monkeypatch.undo()
    (first.folder / "done.json").unlink()
    assert "solved" in run(job(tmp_path, "third"))


def test_a_damaged_source_is_named(tmp_path: Path) -> None:
    first = job(tmp_path, "first")
    run(first)
    rows = (first.folder / "records.jsonl").read_bytes().splitlines(keepends=True)
    (first.folder / "records.jsonl").write_bytes(b"".join(rows[:-1]))
    with pytest.raises(ValueError, match=r"first.*holds \d+ records of \d+"):
        run(job(tmp_path, "second"))


def test_nothing_is_taken_over_where_there_is_nothing(tmp_path: Path) -> None:
    from studies.folder import RunFolder

    first = job(tmp_path, "first")
    run(first)
    assert take_over(RunFolder(first.folder), read_cell(first.folder), tmp_path) == ""
