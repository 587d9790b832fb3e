from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from reports.results import load_results


@pytest.fixture
def copy(small: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(small, tmp_path / "results"))


def runs_of(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.rglob("cell.json"))


def test_a_whole_folder_and_each_part_of_it_load(small: Path) -> None:
    run = runs_of(small)[0]
    counts = [len(load_results(folder).runs) for folder in (small, run.parent.parent, run.parent, run)]
    assert counts == [4, 4, 2, 1]
    assert load_results(small).notes == ()


def test_a_run_knows_its_collapse(small: Path) -> None:
    collapsed = {(run.cell.cell, run.cell.seed) for run in load_results(small).runs if run.collapse}
    assert collapsed == {("study-sudoku-atomic-t3-outcome", 1)}


def test_a_corrupt_line_is_noted_and_the_rest_is_kept(small: Path, copy: Path) -> None:
    path = runs_of(copy)[0] / "records.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:6], b"not json\n", *lines[7:]]))
    damaged, whole = load_results(copy), load_results(small)
    assert sum(len(run.evaluations) for run in damaged.runs) == sum(len(run.evaluations) for run in whole.runs) - 1
    assert len(damaged.notes) == 1
    assert "records.jsonl:7" in damaged.notes[0]
    assert "run it again" in damaged.notes[0]


def test_many_corrupt_lines_make_few_notes(copy: Path) -> None:
    path = runs_of(copy)[0] / "records.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:9], *[b"x\n"] * 30]))
    notes = load_results(copy).notes
    assert len(notes) == 4
    assert "27 more" in notes[-1]


def test_an_unfinished_run_is_shown_and_noted(copy: Path) -> None:
    run = runs_of(copy)[1]
    (run / "done.json").unlink()
    path = run / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    loaded = load_results(copy)
    assert len(loaded.runs) == 4
    assert any("torn" in note for note in loaded.notes)
    assert any("not finished" in note for note in loaded.notes)


def test_unreadable_settings_leave_out_that_run_only(copy: Path) -> None:
    first, second = runs_of(copy)[:2]
    (first / "cell.json").write_text("{}")
    (second / "cell.json").unlink()
    loaded = load_results(copy)
    assert len(loaded.runs) == 2
    assert any(str(first / "cell.json") in note for note in loaded.notes)
    assert any(str(second / "records.jsonl") in note for note in loaded.notes)


def test_records_of_other_runs_are_left_out_and_all_others_kept(small: Path, copy: Path) -> None:
    first, second = (run / "records.jsonl" for run in runs_of(copy)[:2])
    lines, foreign = first.read_bytes().splitlines(keepends=True), second.read_bytes().split(b"\n")[0] + b"\n"
    first.write_bytes(b"".join([*lines[:5], foreign, *lines[5:], foreign]))
    mixed = load_results(copy)
    assert [run.evaluations for run in mixed.runs] == [run.evaluations for run in load_results(small).runs]
    assert any("left out 2 records of other runs" in note for note in mixed.notes)


def test_folders_with_a_leading_underscore_hold_no_runs(copy: Path) -> None:
    shutil.copytree(runs_of(copy)[0], copy / "_sft" / "whole" / "0")
    (shutil.copytree(runs_of(copy)[0], copy / "_sft" / "part" / "0") / "cell.json").unlink()
    loaded = load_results(copy)
    assert len(loaded.runs) == 4
    assert loaded.notes == ()


@pytest.mark.parametrize("state", ["missing", "empty", "settings only", "all corrupt"])
def test_nothing_readable_is_one_clear_error_with_the_way_out(copy: Path, tmp_path: Path, state: str) -> None:
    folder = {"missing": tmp_path / "nowhere", "empty": tmp_path / "empty"}.get(state, copy)
    if state == "empty":
        folder.mkdir()
    for run in runs_of(copy):
        if state == "settings only":
            (run / "records.jsonl").unlink()
        if state == "all corrupt":
            (run / "records.jsonl").write_text("?\n")
    with pytest.raises(ValueError, match="horizon-bench study run smoke") as caught:
        load_results(folder)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_times_that_cannot_be_read_cost_no_score(small: Path, copy: Path) -> None:
    path = runs_of(copy)[0] / "timings.jsonl"
    path.unlink()
    path.mkdir()
    loaded = load_results(copy)
    assert [len(run.evaluations) for run in loaded.runs] == [len(run.evaluations) for run in load_results(small).runs]
    (note,) = loaded.notes
    assert str(path) in note
    assert "a folder stands where a file belongs" in note


def test_a_finished_run_whose_records_changed_is_noted(copy: Path) -> None:
    path = runs_of(copy)[0] / "records.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"attempt":0', b'"attempt":1', 1))
    (note,) = load_results(copy).notes
    assert f"{path} is not what it was when the run was finished" in note


def test_folders_with_a_leading_mark_hold_no_runs(copy: Path) -> None:
    shutil.copytree(runs_of(copy)[0], copy / "_before" / "run")
    (copy / "_before" / "run" / "cell.json").unlink()
    loaded = load_results(copy)
    assert (len(loaded.runs), loaded.notes) == (4, ())


def test_stored_episodes_are_read_once(copy: Path) -> None:
    (run,) = load_results(runs_of(copy)[0]).runs
    episodes = run.episodes()
    assert episodes
    (run.folder / "episodes.parquet").unlink()
    assert run.episodes() == episodes
