from __future__ import annotations

import json
import pathlib
from dataclasses import replace

import numpy as np
import pytest

from horizon_bench.episodes import Episode
from reports.records import CellRecord, EvaluationRecord, StoredEpisode, TimingRecord, UpdateRecord, read_episodes
from studies.folder import LEARNED, RunFolder, after, of_last_test, plain
from studies.presets import PRESETS

WHERE = {"study": "s", "cell": "c", "seed": 0}


def cell_record(**changes: object) -> CellRecord:
    values: dict[str, object] = {
        **WHERE,
        "label": "macro",
        "puzzle": "sudoku",
        "size": 4,
        "interface": "macro",
        "reward": "outcome",
        "estimator": "reinforce",
        "train_levels": ("T3",),
        "test_levels": ("T1", "T2"),
        "settings": {"rollout": {"puzzles": 48, "rate": 0.1}},
    }
    return CellRecord(**(values | changes))  # type: ignore[arg-type]


def evaluation(phase: str, update: int, attempt: int = 0) -> EvaluationRecord:
    return EvaluationRecord(
        **WHERE,
        phase=phase,
        update=update,
        puzzle="sudoku",
        interface="macro",
        level="T1",
        distance=4,
        instance_key="k",
        attempt=attempt,
        solved=True,
        decisions=2,
        atomic_steps=4,
        tokens=9,
        end_reason="solved",
    )


def update(number: int) -> UpdateRecord:
    return UpdateRecord(**WHERE, phase="rl", update=number, level="T3", metrics={"success": 0.5, "kl": float("nan")})


def timing(phase: str, number: int) -> TimingRecord:
    return TimingRecord(**WHERE, phase=phase, update=number, seconds=1.0, total_seconds=2.0)


def stored(phase: str, number: int) -> StoredEpisode:
    episode = Episode("k", "1...", "T1", 4, 0, 0, (), False, True, False, "wrong")
    return StoredEpisode(
        **WHERE, phase=phase, update=number, puzzle="sudoku", size=4, interface="macro", episode=episode
    )


def test_settings_that_differ_are_named_and_nothing_is_lost(tmp_path: pathlib.Path) -> None:
    folder = RunFolder(tmp_path)
    folder.open(cell_record())
    folder.append([evaluation("sft", 0)])
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    changed = cell_record(interface="atomic", settings={"rollout": {"puzzles": 32, "rate": 0.1}, "new": 1})
    with pytest.raises(ValueError, match="other settings") as caught:
        RunFolder(tmp_path).open(changed)
    for part in (
        "interface is 'macro' there, 'atomic' now",
        "settings.rollout.puzzles is 48 there, 32 now",
        "settings.new",
    ):
        assert part in str(caught.value)
    assert "rate" not in str(caught.value)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_another_commit_device_or_wording_may_go_on(tmp_path: pathlib.Path) -> None:
    RunFolder(tmp_path).open(cell_record(commit="a", versions={"numpy": "1"}))
    RunFolder(tmp_path).open(cell_record(commit="b", device="cuda", label="said better", versions={"numpy": "2"}))


def test_a_killed_run_goes_on_with_the_records_up_to_its_checkpoint(tmp_path: pathlib.Path) -> None:
    folder = RunFolder(tmp_path)
    folder.open(cell_record())
    kept = [evaluation("sft", 0), update(1), update(2), evaluation("rl", 2)]
    folder.append([*kept, update(3), evaluation("rl", 4)])
    for phase, number in (("sft", 0), ("rl", 2), ("rl", 3)):
        folder.append_timing(timing(phase, number))
        folder.append_episodes([stored(phase, number)])
    with (tmp_path / "records.jsonl").open("ab") as file:
        file.write(b'{"kind":"upd')
    resumed = RunFolder(tmp_path)
    resumed.open(cell_record())
    resumed.rewind(after("rl", 2))
    assert [getattr(row, "update", None) for row in resumed.records] == [0, 1, 2, 2]
    assert [row.update for row in resumed.timings()] == [0, 2]
    assert [row.update for row in read_episodes(tmp_path / "episodes.parquet")] == [0, 2]
    assert RunFolder(tmp_path).done is False


def test_a_phase_that_begins_anew_leaves_earlier_phases_alone() -> None:
    restart = after("rl", -1)
    assert [restart(row) for row in (evaluation("sft", 0), update(1), evaluation("rl", 0), cell_record())] == [
        False,
        True,
        True,
        False,
    ]
    assert [after("sft", -1)(row) for row in (evaluation("sft", 0), update(1))] == [True, True]
    assert after("expert", -1)(evaluation("expert", 0))


def test_a_corrupt_record_is_named_and_kept(tmp_path: pathlib.Path) -> None:
    RunFolder(tmp_path).open(cell_record())
    (tmp_path / "records.jsonl").write_text("nonsense\n")
    with pytest.raises(ValueError, match=r"records\.jsonl:1"):
        RunFolder(tmp_path).open(cell_record())
    assert (tmp_path / "records.jsonl").read_text() == "nonsense\n"


def test_done_is_written_whole(tmp_path: pathlib.Path) -> None:
    folder = RunFolder(tmp_path)
    folder.open(cell_record())
    folder.append([update(1)])
    folder.finish({"collapsed": False})
    assert folder.done
    facts = json.loads((tmp_path / "done.json").read_text())
    assert facts["digest"]
    assert {name: facts[name] for name in ("version", "records", "collapsed")} == {
        "version": 1,
        "records": 1,
        "collapsed": False,
    }


def finished_folder(path: pathlib.Path) -> RunFolder:
    folder = RunFolder(path)
    folder.open(cell_record())
    folder.append([update(1), update(2)])
    folder.finish({})
    folder.verify()
    return folder


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda content: content[: content.index(b"\n") + 1], "holds 1 records of 2"),
        (lambda content: content.replace(b"0.5", b"0.6", 1), "is not what it was"),
        (lambda content: b"", "holds 0 records of 2"),
    ],
)
def test_a_finished_run_whose_records_changed_in_anything_is_named(tmp_path: pathlib.Path, damage, words: str) -> None:
    folder = finished_folder(tmp_path)
    path = tmp_path / "records.jsonl"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=rf"records\.jsonl {words}.*run it again"):
        folder.verify()


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"records": "many"}', "[" * 100_000, '{"records": 2, "version": 7}']
)
def test_a_damaged_or_newer_seal_is_named(tmp_path: pathlib.Path, content: str) -> None:
    folder = finished_folder(tmp_path)
    (tmp_path / "done.json").write_text(content)
    with pytest.raises(ValueError, match=r"done\.json (is damaged.*run it again|has version 7.*upgrade)"):
        folder.verify()


def test_a_seal_of_before_there_were_fingerprints_holds(tmp_path: pathlib.Path) -> None:
    folder = finished_folder(tmp_path)
    (tmp_path / "done.json").write_text('{"records": 2}')
    folder.verify()


def timed(phase: str, number: int, split: str) -> TimingRecord:
    return replace(timing(phase, number), split=split)


def test_the_times_of_what_was_evaluated_before_rl_outlive_its_start() -> None:
    kept = [timed("evaluation", 0, "test"), timed("evaluation", 0, "validation")]
    gone = [timed("rl", 1, ""), timed("evaluation", 1, "validation")]
    assert [after("rl", -1)(row) for row in (*kept, *gone)] == [False, False, True, True]
    assert [after("rl", 1)(row) for row in (*kept, *gone)] == [False] * 4
    assert all(after("sft", -1)(row) for row in (*kept, *gone))


def test_the_last_evaluation_is_taken_back_whole(tmp_path: pathlib.Path) -> None:
    folder = RunFolder(tmp_path)
    folder.open(cell_record())
    first = replace(evaluation("rl", 2), split="validation")
    folder.append([evaluation("sft", 0), update(2), first, evaluation("rl", 2)])
    folder.append_episodes([stored("sft", 0), stored("rl", 2)])
    for row in (timed("evaluation", 0, "test"), timed("evaluation", 2, "validation"), timed("evaluation", 2, "test")):
        folder.append_timing(row)
    folder.rewind(of_last_test)
    assert [(row.phase, row.update) for row in folder.records] == [("sft", 0), ("rl", 2), ("rl", 2)]  # type: ignore[union-attr]
    assert [(row.update, row.split) for row in folder.timings()] == [(0, "test"), (2, "validation")]
    assert [row.phase for row in read_episodes(tmp_path / "episodes.parquet")] == ["sft"]


def test_a_phase_begun_anew_forgets_what_rl_has_learned(tmp_path: pathlib.Path) -> None:
    folder = RunFolder(tmp_path)
    folder.open(cell_record())
    folder.append([evaluation("sft", 0), update(1)])
    for name in LEARNED:
        (tmp_path / name / "update-000001").mkdir(parents=True)
    folder.restart("sft")
    assert folder.records == []
    assert not any((tmp_path / name).exists() for name in LEARNED)


@pytest.mark.parametrize("name", ["timings.jsonl", "episodes.parquet"])
def test_what_no_score_needs_is_named_before_a_run_goes_on_and_may_be_moved_away(
    tmp_path: pathlib.Path, name: str
) -> None:
    RunFolder(tmp_path).open(cell_record())
    (tmp_path / name).write_text("nonsense\n")
    with pytest.raises(ValueError, match=rf"{name}.*; .*move"):
        RunFolder(tmp_path).open(cell_record())
    (tmp_path / name).rename(tmp_path / "elsewhere")
    RunFolder(tmp_path).open(cell_record())


def test_settings_become_plain_json() -> None:
    values = plain({"preset": PRESETS["smoke"], "array": (1, (2.5, None)), "odd": np.float64})
    assert json.loads(json.dumps(values)) == values
    assert values["preset"]["updates"] == PRESETS["smoke"].updates
