"""Results of the first schema, as the version before wrote them (`data/schema_1`), in the version of today."""

from __future__ import annotations

import json
import pathlib
import shutil
from typing import Any

import pytest

from reports.done import facts_of, verify
from reports.migrate import migrate_run, outdated, run_folders
from reports.migration import STEPS, NewerSchemaError, upgraded
from reports.records import EvaluationRecord, TimingRecord, decode, read, read_cell, scan
from reports.results import load_results
from reports.schema import SCHEMA_VERSION

OLD = pathlib.Path(__file__).parent / "data" / "schema_1"


@pytest.fixture
def results(tmp_path: pathlib.Path) -> pathlib.Path:
    return pathlib.Path(shutil.copytree(OLD, tmp_path / "results"))


@pytest.fixture
def run(results: pathlib.Path) -> pathlib.Path:
    return run_folders(results)[0]


def old_lines() -> list[dict[str, Any]]:
    (path,) = OLD.rglob("records.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_version_has_a_step_to_the_next() -> None:
    assert list(STEPS) == list(range(1, SCHEMA_VERSION))


def test_older_records_are_read_as_those_of_today_with_nothing_lost() -> None:
    for values in old_lines():
        assert values["schema"] == 1
        record = decode(values)
        if isinstance(record, EvaluationRecord):
            assert record.lost_decisions == values["unreadable_decisions"]
            assert record.tokens == values["tokens"]
    assert any(values.get("unreadable_decisions") for values in old_lines())


def test_an_older_folder_loads_without_a_word(results: pathlib.Path) -> None:
    loaded = load_results(results)
    assert loaded.notes == ()
    (run,) = loaded.runs
    assert (len(run.evaluations) + len(run.updates), run.done) == (53, True)
    assert {row.split for row in run.timings} == {""}
    assert len(run.episodes()) == 20


def test_migrating_rewrites_every_file_and_keeps_the_old_ones(results: pathlib.Path, run: pathlib.Path) -> None:
    before = {name: read(run / name) for name in ("records.jsonl", "timings.jsonl")}
    cell = read_cell(run)
    bytes_before = {path.name: path.read_bytes() for path in run.iterdir()}
    done = migrate_run(run, results)
    assert [path.name for path in done.changed] == ["cell.json", "records.jsonl", "timings.jsonl"]
    assert done.problems == ()
    for name, rows in before.items():
        assert read(run / name) == rows
        assert {json.loads(line)["schema"] for line in (run / name).read_text().splitlines()} == {SCHEMA_VERSION}
    assert read_cell(run) == cell
    for path in done.changed:
        assert (done.backup / path.relative_to(results)).read_bytes() == bytes_before[path.name]
    verify(run)
    assert facts_of(run)["digest"]
    assert json.loads(bytes_before["done.json"]).items() <= facts_of(run).items()
    assert list(outdated(run)) == []
    assert migrate_run(run, results).changed == ()
    assert len(load_results(results).runs) == 1
    assert load_results(results).notes == ()


@pytest.mark.parametrize("broken_at", range(8))
def test_a_migration_that_was_stopped_anywhere_goes_on(
    results: pathlib.Path, run: pathlib.Path, monkeypatch: pytest.MonkeyPatch, broken_at: int
) -> None:
    from horizon_bench import files

    rows, whole, written = read(run / "records.jsonl"), files.put_in_place, 0
    original = (run / "records.jsonl").read_bytes()

    def stop(draft: pathlib.Path, path: pathlib.Path) -> None:
        nonlocal written
        written += 1
        if written > broken_at:
            raise KeyboardInterrupt
        whole(draft, path)

    monkeypatch.setattr(files, "put_in_place", stop)
    try:
        migrate_run(run, results)
    except KeyboardInterrupt:
        pass
    else:
        assert broken_at >= 7
    monkeypatch.undo()
    assert read(run / "records.jsonl") == rows
    done = migrate_run(run, results)
    assert done.problems == ()
    verify(run)
    assert read(run / "records.jsonl") == rows
    assert (done.backup / run.relative_to(results) / "records.jsonl").read_bytes() == original


def test_a_damaged_file_is_named_and_left_as_it_is(results: pathlib.Path, run: pathlib.Path) -> None:
    path = run / "records.jsonl"
    lines = path.read_bytes().split(b"\n")
    damaged = b"\n".join([*lines[:3], b"\xff\x00rubbish", *lines[4:]])
    path.write_bytes(damaged)
    done = migrate_run(run, results)
    assert [path.name for path in done.changed] == ["cell.json", "timings.jsonl"]
    assert len(done.problems) == 1
    assert f"{path}:4: not a record" in done.problems[0]
    assert "left as it is" in done.problems[0]
    assert path.read_bytes() == damaged


@pytest.mark.parametrize("name", ["cell.json", "records.jsonl", "timings.jsonl"])
def test_a_newer_file_is_refused_with_the_way_out_and_nothing_is_touched(
    results: pathlib.Path, run: pathlib.Path, name: str
) -> None:
    path = run / name
    path.write_bytes(path.read_bytes().replace(b'"schema":1', b'"schema":99').replace(b'"schema": 1', b'"schema": 99'))
    before = {each.name: each.read_bytes() for each in run.iterdir()}
    with pytest.raises(NewerSchemaError, match=r"schema 99 is newer.*upgrade horizon-bench"):
        migrate_run(run, results)
    assert {each.name: each.read_bytes() for each in run.iterdir()} == before
    assert list(results.glob("_*")) == []
    if name == "cell.json":
        with pytest.raises(NewerSchemaError, match=r"cell\.json.*schema 99"):
            read_cell(run)
    else:
        with pytest.raises(NewerSchemaError, match=rf"{name}:1: schema 99 is newer"):
            read(path)
        assert len(scan(path)[1]) == path.read_bytes().count(b"\n")


@pytest.mark.parametrize("version", [0, -1, None, "1", 1.0, True, [1]])
def test_a_version_that_never_was_is_refused(version: object) -> None:
    with pytest.raises(ValueError, match="known are 1, 2"):
        upgraded({"kind": "evaluation", "schema": version}, SCHEMA_VERSION)


def test_a_timing_says_the_split_of_an_evaluation_or_nothing() -> None:
    (path,) = OLD.rglob("timings.jsonl")
    assert all(isinstance(row, TimingRecord) and row.split == "" for row in read(path))
