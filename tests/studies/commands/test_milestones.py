import json

import pytest

from curricula import load_bank
from horizon_bench.envs.settings import Settings
from horizon_bench.policies import POLICIES, Reply, make_policy
from horizon_bench.rollout import rollout
from reports.records import CellRecord, EvaluationRecord, StoredEpisode, append, write_cell, write_episodes
from studies.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the results of a noisy expert on 4x4 Sudoku with all episodes stored."""
    run = tmp_path_factory.mktemp("results") / "look" / "study-sudoku-atomic-t-noisy-err20" / "0"
    where = {"study": "look", "cell": run.parent.name, "seed": 0, "phase": "noisy-expert", "update": 0}
    write_cell(
        run, CellRecord("look", where["cell"], 0, "noisy", "sudoku", 4, "atomic", "outcome", "none", (), ("T2",))
    )
    settings = Settings(observation="compact", on_error="semi")
    episodes = rollout(make_policy("noisy-expert", error_rate=0.2), load_bank("T2", "test")[:6], settings, 4, 3)
    append(
        run / "records.jsonl",
        [EvaluationRecord.from_episode(one, puzzle="sudoku", interface="atomic", **where) for one in episodes],
    )
    stored = [StoredEpisode(*where.values(), "sudoku", 4, "atomic", one) for one in episodes]
    write_episodes(run / "episodes.parquet", stored)
    return run.parents[2]


def test_plans_of_solver_and_chance_stand_beside_the_moves(folder, capsys):
    assert main(["milestones", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert "24 stored episodes" in printed
    names = [line.split()[0] for line in printed.splitlines()[2:5]]
    assert names == ["solver", "random", "moves"]


def test_a_models_plans_are_checked_and_counted(folder, capsys, monkeypatch):
    class Writer:
        asked = 0

        def reply(self, observations, seats, generators):
            self.asked += 1
            return [Reply(json.dumps({"milestones": ["row 1", "row 2"] if self.asked % 2 else ["box 77"]}))]

    monkeypatch.setitem(POLICIES, "writer", Writer)
    assert main(["milestones", str(folder), "--policy", "writer", "--puzzles", "4", "--tries", "2"]) == 0
    printed = capsys.readouterr().out
    assert "16 stored episodes" in printed
    assert "of 4 plans passed all checks" in printed
    assert any(line.split()[:1] == ["model"] for line in printed.splitlines())


def test_bad_arguments_are_named(folder, tmp_path, capsys):
    assert main(["milestones", str(folder), "--tries", "0"]) == 1
    assert "tries" in capsys.readouterr().err
    assert main(["milestones", str(tmp_path)]) == 1
    assert str(tmp_path) in capsys.readouterr().err
