"""`horizon-bench eval openai:...`: through faults, interrupted, resumed, summed up, without a trace of the key."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from reports.records import read
from studies.cli import main

KEY = "sk-" + "secret" * 4
WORDS = ["--level", "T1", "--puzzles", "3", "--attempts", "2", "--on-error", "strict", "--retries", "9"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def test_an_evaluation_through_faults_is_recorded_and_summed_up(server, proxy, tmp_path, capsys):
    trouble = proxy(lambda number: {2: "429", 4: "500", 6: "truncated"}.get(number, ""))
    words = [*WORDS, "--prompt-price", "3", "--reply-price", "15", "--records", "records.jsonl"]
    name = f"openai:expert@{trouble.url}"
    assert main(["eval", name, *words]) == 0
    shown = capsys.readouterr()
    assert "100.0" in shown.out
    lost_on_the_way = 1
    assert f"{len(server.bodies) - lost_on_the_way} replies asked" in shown.err
    assert "cost 0.0" in shown.err
    assert "3 requests failed and were repeated or given up: status 429 x 1, status 500 x 1, unreadable" in shown.err
    (kept,) = (tmp_path / "results" / "replies").iterdir()
    assert str(kept.relative_to(tmp_path)) in shown.err
    rows = read(tmp_path / "records.jsonl")
    assert len(rows) == 6
    assert all(row.solved and row.cell == name and row.tokens > 0 for row in rows)
    for text in (shown.out, shown.err, kept.read_text(), (tmp_path / "records.jsonl").read_text()):
        assert KEY not in text
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_an_interrupted_evaluation_says_how_to_go_on_and_does(server, proxy, capsys):
    dead = proxy(lambda number: "" if number < 4 else "401")
    words = ["eval", f"openai:expert@{dead.url}", *WORDS, "--replies", "kept.jsonl"]
    assert main(words) == 1
    shown = capsys.readouterr().err
    assert "status 401: trouble Bearer [key]; all 4 replies so far are kept in kept.jsonl; the same call goes" in shown
    dead.faults = lambda number: ""
    assert main(words) == 0
    shown = capsys.readouterr().err
    assert f"{len(server.bodies) - 4} replies asked and 4 kept from earlier calls" in shown
    assert len({json.dumps(body, sort_keys=True) for body in server.bodies}) == len(server.bodies)


def test_an_agent_plays_through_an_endpoint(server, capsys):
    assert main(["eval", f"react+openai:expert@{server.url}", *WORDS, "--thinking", "off", "--reply-cap", "77"]) == 0
    assert "100.0" in capsys.readouterr().out
    assert all(body["max_tokens"] == 77 for body in server.bodies)
    assert all(body["chat_template_kwargs"] == {"enable_thinking": False} for body in server.bodies)


def test_a_language_model_plays_by_name(random_model, capsys):
    words = ["--level", "T1", "--puzzles", "1", "--attempts", "1", "--reply-cap", "4"]
    assert main(["eval", f"hf:{random_model}", *words]) == 0
    assert "H50" in capsys.readouterr().out
    assert main(["eval", "hf:./no/such/folder", *words]) == 1
    assert "there is no such folder" in capsys.readouterr().err
    assert main(["eval", str(random_model), *words]) == 1
    assert f"hf:{random_model}" in capsys.readouterr().err


@pytest.fixture
def least(monkeypatch):
    """Make the smoke preset as small as can be."""
    from studies.presets import PRESETS

    monkeypatch.setitem(PRESETS, "smoke", replace(PRESETS["smoke"], untrained_puzzles=1, attempts=1, stored_puzzles=1))


def test_a_study_is_played_by_an_endpoint_and_goes_on_after_a_failure(server, proxy, least, tmp_path, capsys):
    dead = proxy(lambda number: "" if number < 5 else "401")
    name = f"react+openai:expert@{dead.url}"
    cell = "study-sudoku-atomic-t-expert"
    words = ["study", "run", cell, "--preset", "smoke", "--policy", name, "--workers", "0", "--no-report"]
    assert main(words) == 1
    assert "all 5 replies so far are kept in" in capsys.readouterr().out
    dead.faults = lambda number: ""
    assert main(words) == 0
    (run,) = (path.parent for path in (tmp_path / "results").rglob("done.json"))
    assert "reactopenaiexpert" in run.parent.name
    rows = read(run / "records.jsonl")
    assert [row.level for row in rows] == ["T1", "T2", "T3", "T4", "T5"]
    assert all(row.solved for row in rows)
    assert len(server.bodies) == sum(row.decisions for row in rows)
    assert len((run / "replies.jsonl").read_text().splitlines()) == len(server.bodies)
    cell = json.loads((run / "cell.json").read_text())
    assert cell["policy"] == name
    assert KEY not in (run / "cell.json").read_text()
    assert main(["study", "run", "smoke", "--policy", "expert"]) == 1
    assert "plays no study; known: tiny:FOLDER, hf:MODEL" in capsys.readouterr().err


def test_a_person_plays_by_name(monkeypatch, capsys):
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO("nonsense\n" * 50))
    assert main(["eval", "human", "--level", "T1", "--puzzles", "1", "--attempts", "1"]) == 0
    assert "> " in capsys.readouterr().out
