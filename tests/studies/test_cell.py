"""Real runs of single cells: a tiny model trains, is killed, and goes on."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from reports.records import (
    CollapseRecord,
    EvaluationRecord,
    TimingRecord,
    UpdateRecord,
    read,
    read_cell,
    read_episodes,
)
from studies.cell import CellRun, finished, run_job
from studies.matrix import STUDIES
from studies.own_puzzle import scale_of
from studies.runner import CellJob
from studies.supervised import supervise, supervised_policy
from tests.studies.small_runs import SMALL, Killed, job, run, shrink

TRAINED = "study-sudoku-macro-t2-subgoal-asstepwise"


@pytest.fixture(autouse=True)
def quick_sft(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A results folder with one trained run that was never interrupted."""
    results = tmp_path_factory.mktemp("unbroken")
    with pytest.MonkeyPatch.context() as monkeypatch:
        shrink(monkeypatch)
        run(job(results, TRAINED))
    return results


def records_of(one: CellJob) -> bytes:
    return (one.folder / "records.jsonl").read_bytes()


def test_a_trained_cell_leaves_all_its_records(unbroken: pathlib.Path) -> None:
    folder = job(unbroken, TRAINED).folder
    rows = read(folder / "records.jsonl")
    evaluations = [row for row in rows if isinstance(row, EvaluationRecord)]
    places = {(row.phase, row.update, row.split, row.interface) for row in evaluations}
    assert places == {
        ("sft", 0, "test", "macro"),
        ("sft", 0, "test", "macro-stepwise"),
        ("sft", 0, "validation", "macro"),
        ("rl", 2, "validation", "macro"),
        ("rl", 4, "validation", "macro"),
        ("rl", 6, "validation", "macro"),
        ("rl", 6, "test", "macro"),
        ("rl", 6, "test", "macro-stepwise"),
    }
    assert {row.level for row in evaluations} == {"T1", "T2", "T3", "T4", "T5"}
    updates = [row for row in rows if isinstance(row, UpdateRecord)]
    assert [(row.phase, row.update) for row in updates] == [("sft", 8), *(("rl", number) for number in range(1, 7))]
    assert {
        "success",
        "capped_share",
        "invalid_share",
        "voided_share",
        "entropy",
        "gradient_norm",
        "approximate_kl",
    } <= set(updates[-1].metrics)
    totals = [row.total_environment_calls for row in updates[1:]]
    assert totals == sorted(totals)
    assert totals[0] > 0
    assert "macro_first_action" in updates[0].metrics
    assert json.loads((folder / "done.json").read_text())["records"] == len(rows)
    assert len(read_episodes(folder / "episodes.parquet")) == 4 * 5 * 4
    assert [path.name for path in (folder / "checkpoints").iterdir()] == ["update-000006"]
    cell = read_cell(folder)
    assert (cell.cell, cell.interface, cell.reward, cell.estimator) == (TRAINED, "macro", "subgoal", "subgoal-next")
    assert cell.settings["training"]["update"]["updates"] == 6


def test_decisions_and_tokens_a_second_stand_in_the_timings_and_in_the_progress_line(
    unbroken: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    rows = [row for row in read(job(unbroken, TRAINED).folder / "timings.jsonl") if isinstance(row, TimingRecord)]
    assert {row.phase for row in rows} == {"evaluation", "rl"}
    for row in rows:
        assert 0 < row.rollout_seconds <= row.seconds
        assert row.tokens_per_second > row.decisions_per_second > 0
    notes: list[str] = []
    run_job(job(tmp_path, "study-sudoku-macro-t-expert"), lambda share, note: notes.append(note))
    assert notes
    assert all(re.fullmatch(r"evaluation as macro, [\d,]+ decisions/s", note) for note in notes)


@pytest.mark.parametrize("share", [0.05, 0.62, 0.95])
def test_a_killed_run_ends_with_the_very_records_of_an_unbroken_one(
    unbroken: pathlib.Path, tmp_path: pathlib.Path, share: float
) -> None:
    shutil.copytree(unbroken / "_sft", tmp_path / "_sft")
    one = job(tmp_path, TRAINED)

    def kill(done: float, note: str) -> None:
        if done >= share:
            raise Killed

    with pytest.raises(Killed):
        run_job(one, kill)
    assert not (one.folder / "done.json").exists()
    with (one.folder / "records.jsonl").open("ab") as file:
        file.write(b'{"kind":"update","schema"')
    run(one)
    whole = job(unbroken, TRAINED)
    assert records_of(one) == records_of(whole)
    assert (one.folder / "episodes.parquet").read_bytes() == (whole.folder / "episodes.parquet").read_bytes()
    assert run(one) == "was finished already"


def test_another_seed_gives_other_records(unbroken: pathlib.Path, tmp_path: pathlib.Path) -> None:
    other = job(tmp_path, "study-sudoku-atomic-t-sft", seed=1)
    same = job(unbroken, "study-sudoku-atomic-t-sft")
    assert "solved after SFT" in run(other)
    run(same)
    scored = [[row.tokens for row in read(one.folder / "records.jsonl")[1:]] for one in (other, same)]  # type: ignore[union-attr]
    assert scored[0] != scored[1]


def test_cells_of_one_seed_share_one_sft(unbroken: pathlib.Path) -> None:
    before = (job(unbroken, TRAINED).supervised_folder / "done.json").stat().st_mtime_ns
    _, measured = supervised_policy(job(unbroken, "study-sudoku-atomic-t3-outcome"), lambda share, note: None)
    assert (job(unbroken, TRAINED).supervised_folder / "done.json").stat().st_mtime_ns == before
    assert measured["states"] == 64


def test_an_sft_tells_how_far_it_is(tmp_path: pathlib.Path) -> None:
    told: list[tuple[float, str]] = []
    supervise(job(tmp_path, TRAINED), lambda share, note: told.append((share, note)))
    assert told[0] == (0.0, "collecting expert traces for SFT")
    assert told[-1] == (1.0, "SFT 100%")
    assert told == sorted(told, key=lambda one: one[0])


def test_other_settings_are_refused_naming_the_difference(unbroken: pathlib.Path) -> None:
    changed = job(unbroken, TRAINED, updates=8, temperature=1.0)
    before = records_of(changed)
    with pytest.raises(ValueError, match=r"settings\.training\.update\.updates is 6 there, 8 now"):
        run(changed)
    with pytest.raises(ValueError, match=r"settings\.preset\.temperature is 0\.8 there, 1\.0 now"):
        finished(changed)
    assert records_of(changed) == before
    assert finished(job(unbroken, TRAINED))
    assert not finished(job(unbroken, TRAINED, seed=7))


def test_an_sft_with_other_settings_is_refused(unbroken: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, learning_rate=0.1)
    with pytest.raises(ValueError, match=r"sft.learning_rate is 0.006 there, 0.1 now"):
        supervised_policy(job(unbroken, TRAINED), lambda share, note: None)


@pytest.mark.parametrize("content", ["{broken", "[]", "{}"])
def test_a_damaged_sft_is_named(unbroken: pathlib.Path, tmp_path: pathlib.Path, content: str) -> None:
    shutil.copytree(unbroken / "_sft", tmp_path / "_sft")
    one = job(tmp_path, TRAINED)
    (one.supervised_folder / "done.json").write_text(content)
    with pytest.raises(ValueError, match=r"done\.json is damaged"):
        supervised_policy(one, lambda share, note: None)


def test_a_collapse_is_recorded_while_training_and_the_checkpoint_before_it_kept(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from studies import reinforced

    finding = CollapseRecord(
        study="test",
        cell="study-sudoku-atomic-t2-outcome",
        seed=0,
        phase="rl",
        criterion="success-drawdown",
        level="all",
        fatal=True,
        onset=4,
        update=5,
        value=0.1,
        threshold=0.5,
        message="lost",
    )

    later = replace(finding, onset=6, level="rollout")

    def detect(rows: list[object]) -> tuple[CollapseRecord, ...]:
        updates = [row.update for row in rows if isinstance(row, UpdateRecord) and row.phase == "rl"]
        return (later,) if updates and updates[-1] == 5 else (later, finding) if updates and updates[-1] > 5 else ()

    monkeypatch.setattr(reinforced, "detect", detect)
    one = job(tmp_path, "study-sudoku-atomic-t2-outcome")
    assert run(one).endswith("collapsed")
    found = [row for row in read(one.folder / "records.jsonl") if isinstance(row, CollapseRecord)]
    assert found == [replace(one, checkpoint="checkpoints/before-collapse") for one in (later, finding)]
    kept = json.loads((one.folder / "checkpoints" / "before-collapse" / "state.json").read_text())
    assert kept["update"] == 2
    assert json.loads((one.folder / "done.json").read_text())["collapsed"] is True


def test_the_checkpoint_before_a_collapse_from_the_start_is_the_one_after_sft(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from studies import reinforced

    def detect(rows: list[object]) -> tuple[CollapseRecord, ...]:
        words = {"level": "all", "fatal": True, "message": "lost"}
        numbers = {"onset": 1, "update": 1, "value": 0.1, "threshold": 0.5}
        cell = "study-sudoku-atomic-t2-outcome"
        return (CollapseRecord("test", cell, 0, "rl", "success-halved", **words, **numbers),)  # type: ignore[arg-type]

    monkeypatch.setattr(reinforced, "detect", detect)
    one = job(tmp_path, "study-sudoku-atomic-t2-outcome")
    run(one)
    (found,) = [row for row in read(one.folder / "records.jsonl") if isinstance(row, CollapseRecord)]
    assert (one.folder / found.checkpoint).resolve() == one.supervised_folder.resolve()


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("study-sudoku-atomic-l-expert", 1.0, 1.0),
        ("study-rush-macro-r-expert", 1.0, 1.0),
        ("study-sudoku-atomic-l-noisy-strict-err10", 0.0, 0.5),
        ("study-rush-atomic-r-random", 0.0, 0.5),
    ],
)
def test_untrained_policies_play_real_puzzles(tmp_path: pathlib.Path, name: str, least: float, most: float) -> None:
    one = job(tmp_path, name)
    run(one)
    rows = [row for row in read(one.folder / "records.jsonl") if isinstance(row, EvaluationRecord)]
    assert len(rows) == len({row.level for row in rows}) * 3 * 4
    assert least <= sum(row.solved for row in rows) / len(rows) <= most
    if "expert" in name:
        assert all(row.atomic_steps == row.distance for row in rows)


def test_training_on_a_puzzle_of_ones_own(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docs = pathlib.Path(__file__).resolve().parents[2] / "docs"
    (tmp_path / "my_puzzles.py").write_text((docs / "lights_out.py").read_text())
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("my_puzzles", None)
    scale = scale_of("my_puzzles:LightsOut")
    cell = STUDIES["horizon"].cells(scale)[1]
    one = CellJob(str(tmp_path / "results"), "horizon", cell, 0, SMALL)
    assert one.folder.parent.name == "study-lightsout-macro-d1-outcome"
    assert "after RL" in run(one)
    rows = [row for row in read(one.folder / "records.jsonl") if isinstance(row, EvaluationRecord)]
    assert {row.level for row in rows} == {"D1", "D2", "D3"}


def test_puzzles_of_the_same_name_from_two_modules_share_no_sft(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = pathlib.Path(__file__).resolve().parents[2] / "docs"
    monkeypatch.syspath_prepend(tmp_path)
    jobs = []
    for module in ("first_lights", "second_lights"):
        (tmp_path / f"{module}.py").write_text((docs / "lights_out.py").read_text())
        cell = STUDIES["horizon"].cells(scale_of(f"{module}:LightsOut"))[1]
        jobs.append(CellJob(str(tmp_path / "results"), module, cell, 0, SMALL))
    supervised_policy(jobs[0], lambda share, note: None)
    with pytest.raises(ValueError, match="puzzle is 'first_lights:LightsOut' there, 'second_lights:LightsOut' now"):
        supervised_policy(jobs[1], lambda share, note: None)
    path = jobs[0].supervised_folder / "done.json"
    older = json.loads(path.read_text())
    del older["settings"]["puzzle"]
    path.write_text(json.dumps(older))
    supervised_policy(jobs[0], lambda share, note: None)


def test_success_is_that_of_the_cells_own_interface_even_where_it_is_none(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = CellRun(job(tmp_path, TRAINED), lambda share, note: None)
    scores = {"macro": False, "macro-stepwise": True}
    monkeypatch.setattr(one, "evaluate_on", lambda policy, chosen, name, *rest: [SimpleNamespace(solved=scores[name])])
    assert one.evaluate_fully(object(), "rl", 1, 1) == 0.0  # type: ignore[arg-type]


def test_a_finished_run_that_lost_records_is_named(tmp_path: pathlib.Path) -> None:
    one = job(tmp_path, "study-sudoku-atomic-t-expert")
    run(one)
    assert finished(one)
    records = one.folder / "records.jsonl"
    content = records.read_bytes()
    records.write_bytes(content[:-20])
    with pytest.raises(ValueError, match=r"records\.jsonl holds \d+ records of \d+; restore the file"):
        finished(one)
    records.write_bytes(content)
    (one.folder / "done.json").write_text("{", encoding="utf8")
    with pytest.raises(ValueError, match=r"done\.json is damaged"):
        finished(one)
