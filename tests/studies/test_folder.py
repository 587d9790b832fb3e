from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

from horizon_bench.episodes import Episode
from reports.records import CellRecord, EvaluationRecord, StoredEpisode, TimingRecord, UpdateRecord, read_episodes
from studies.folder import RunFolder, after, plain
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


def test_another_commit_or_device_may_go_on(tmp_path: pathlib.Path) -> None:
    RunFolder(tmp_path).open(cell_record(commit="a", versions={"numpy": "1"}))
    RunFolder(tmp_path).open(cell_record(commit="b", device="cuda", versions={"numpy": "2"}))


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
    assert json.loads((tmp_path / "done.json").read_text()) == {"records": 1, "collapsed": False}


def test_settings_become_plain_json() -> None:
    values = plain({"preset": PRESETS["smoke"], "array": (1, (2.5, None)), "odd": np.float64})
    assert json.loads(json.dumps(values)) == values
    assert values["preset"]["updates"] == PRESETS["smoke"].updates
