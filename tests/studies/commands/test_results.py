"""`results migrate` on results of the first schema."""

from __future__ import annotations

import json
import pathlib
import shutil

import pytest

from reports.schema import SCHEMA_VERSION
from studies.cli import main
from studies.locks import locked

OLD = pathlib.Path(__file__).parents[2] / "reports" / "data" / "schema_1"


@pytest.fixture
def results(tmp_path: pathlib.Path) -> pathlib.Path:
    return pathlib.Path(shutil.copytree(OLD, tmp_path / "results"))


def content_of(results: pathlib.Path) -> dict[str, bytes]:
    return {path.relative_to(results).as_posix(): path.read_bytes() for path in results.rglob("*") if path.is_file()}


def test_older_results_are_rewritten_once_with_copies(
    results: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = content_of(results)
    assert main(["results", "migrate", str(results), "--dry-run"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == f"3 files of 1 run would be rewritten in schema {SCHEMA_VERSION}"
    assert content_of(results) == before
    assert main(["results", "migrate", str(results)]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert "cell.json, records.jsonl, timings.jsonl; copies in " in first
    assert last == f"3 files of 1 run rewritten in schema {SCHEMA_VERSION}"
    after = content_of(results)
    for name, content in before.items():
        if name in after and after[name] != content and not name.endswith("done.json"):
            assert after[f"_before-schema-{SCHEMA_VERSION}/{name}"] == content
    assert all(
        json.loads(line)["schema"] == SCHEMA_VERSION
        for name in after
        if name.startswith("single/") and name.endswith("records.jsonl")
        for line in after[name].splitlines()
    )
    assert main(["results", "migrate", str(results)]) == 0
    assert capsys.readouterr().out == f"0 files of 1 run rewritten in schema {SCHEMA_VERSION}\n"


def test_a_run_in_use_and_a_newer_one_are_left_alone(results: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run,) = (path.parent for path in results.rglob("cell.json"))
    with locked(run):
        before = content_of(results)
        assert main(["results", "migrate", str(results)]) == 1
        assert "in use by process" in capsys.readouterr().err
        assert content_of(results) == before
    path = run / "timings.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"schema":1', b'"schema":12'))
    before = content_of(results)
    assert main(["results", "migrate", str(results)]) == 1
    assert "schema 12 is newer than this program" in capsys.readouterr().err
    assert content_of(results) == before


def test_a_damaged_file_is_named_and_the_others_are_rewritten(
    results: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path,) = results.rglob("records.jsonl")
    damaged = path.read_bytes().replace(b'"solved":', b'"solved"', 1)
    path.write_bytes(damaged)
    assert main(["results", "migrate", str(results)]) == 1
    said = capsys.readouterr()
    assert "2 files of 1 run" in said.out
    assert f"{path}:2: not a record" in said.err
    assert path.read_bytes() == damaged


def test_no_folder_is_one_line(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["results", "migrate", str(tmp_path / "none")]) == 1
    assert "no results folder" in capsys.readouterr().err
