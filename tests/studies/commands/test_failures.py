import pytest

from curricula import load_bank
from horizon_bench.envs.settings import Settings
from horizon_bench.policies import make_policy
from horizon_bench.rollout import rollout
from reports.done import seal
from reports.records import CellRecord, EvaluationRecord, StoredEpisode, append, write_cell, write_episodes
from studies.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the results of a random policy on Rush Hour, half of its episodes stored."""
    run = tmp_path_factory.mktemp("results") / "look" / "study-rush-atomic-r-random-stay" / "0"
    where = {"study": "look", "cell": "study-rush-atomic-r-random-stay", "seed": 0, "phase": "random", "update": 0}
    cell = CellRecord(
        *("look", where["cell"], 0, "random (Rush Hour)", "rush-hour", 6, "atomic", "outcome", "none", (), ("R1",))
    )
    write_cell(run, cell)
    settings = Settings(observation="compact", on_error="stay")
    episodes = rollout(make_policy("random"), load_bank("R1", "test")[:6], settings, attempts=2, seed=1)
    append(
        run / "records.jsonl",
        [EvaluationRecord.from_episode(one, puzzle="rush-hour", interface="atomic", **where) for one in episodes],
    )
    stored = [StoredEpisode(*where.values(), "rush-hour", 6, "atomic", one) for one in episodes[:6]]
    write_episodes(run / "episodes.parquet", stored)
    seal(run, {})
    return run.parents[2]


def test_shares_are_printed_and_files_written(folder, tmp_path, capsys):
    assert main(["failures", str(folder), "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "out of budget" in printed
    assert "random (Rush Hour)" in printed
    assert {"failures.csv", "failures.png", "subgoal-times.svg"} <= {path.name for path in tmp_path.iterdir()}


def test_stored_episodes_of_a_class_are_listed_for_replay(folder, capsys):
    assert main(["failures", str(folder), "--show", "out-of-budget"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert all("--index" in line for line in lines)
    where, index = lines[0].split(": ")[0].split(" --index ")
    assert main(["replay", where, "--index", index]) == 0


def test_other_thresholds_change_what_counts(folder, capsys):
    assert main(["failures", str(folder), "--identical", "1"]) == 1
    assert "identical is 1" in capsys.readouterr().err
    assert main(["failures", str(folder), "--bad-share", "1"]) == 0
    assert "stored episodes" in capsys.readouterr().out


def test_a_folder_without_results_is_named(tmp_path, capsys):
    assert main(["failures", str(tmp_path)]) == 1
    assert str(tmp_path) in capsys.readouterr().err
