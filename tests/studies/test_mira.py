"""A MiRA learner is an ordinary learner of a cell: same SFT, records that a kill does not change, report."""

from __future__ import annotations

import pathlib
import shutil
from dataclasses import replace

import pytest

from horizon_bench.mira.configs import MIRA_VARIANTS
from horizon_bench.mira.replay import read_buffer
from reports.records import EvaluationRecord, UpdateRecord, read
from studies.cell import run_job
from studies.learners import LEARNERS
from studies.matrix import SCALES, STUDIES, parse_name
from studies.presets import PRESETS
from studies.runner import CellJob
from studies.training_settings import resolved_training
from tests.studies.small_runs import Killed, job, run, shrink

NAME = "study-sudoku-atomic-t2-mira"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, steps=30, boards=16, modes=("atomic",))
    short = replace(MIRA_VARIANTS["mira"], first_critic_steps=4, critic_steps=2, critic_batch=32)
    monkeypatch.setitem(MIRA_VARIANTS, "mira", short)


def test_a_killed_run_ends_with_the_very_records_of_an_unbroken_one(tmp_path: pathlib.Path) -> None:
    whole, broken = job(tmp_path / "whole", NAME), job(tmp_path / "broken", NAME)
    run(whole)
    shutil.copytree(whole.supervised_folder, broken.supervised_folder)

    def kill(share: float, note: str) -> None:
        if note.startswith("update 5"):
            raise Killed

    with pytest.raises(Killed):
        run_job(broken, kill)
    run(broken)
    assert (broken.folder / "records.jsonl").read_bytes() == (whole.folder / "records.jsonl").read_bytes()
    stored = [
        [(one.update, one.values, one.episode.start, len(one.episode.turns)) for one in read_buffer(folder / "replay")]
        for folder in (whole.folder, broken.folder)
    ]
    assert stored[0] == stored[1]
    rows = read(whole.folder / "records.jsonl")
    assert {row.phase for row in rows if isinstance(row, EvaluationRecord)} == {"sft", "rl"}
    updates = [row for row in rows if isinstance(row, UpdateRecord) and row.phase == "rl"]
    assert {"value_error", "gradient_norm", "approximate_kl", "new_replies"} <= set(updates[-1].metrics)


def test_mira_shares_the_sft_of_the_others_and_has_its_variant_in_the_settings() -> None:
    preset = PRESETS["cpu"]
    assert preset.supervised_name(parse_name(NAME)) == preset.supervised_name(
        parse_name("study-sudoku-atomic-t2-subgoal")
    )
    for word, learner in LEARNERS.items():
        if word.startswith("mira") or word == "bc":
            training = resolved_training(
                CellJob("results", "test", parse_name(f"study-sudoku-atomic-t2-{word}"), 0, preset)
            )
            assert training.mira is not None
            assert replace(training.mira, anneal_updates=0) == replace(
                MIRA_VARIANTS[learner.estimator], anneal_updates=0
            )
    assert resolved_training(job(pathlib.Path("results"), "study-sudoku-atomic-t2-grpo")).mira is None
    assert {learner.estimator for learner in LEARNERS.values()} >= set(MIRA_VARIANTS)


def test_what_only_policy_gradients_have_is_refused() -> None:
    with pytest.raises(ValueError, match="learner 'mira' has no normalized to vary"):
        resolved_training(job(pathlib.Path("results"), f"{NAME}-nonorm"))


def test_the_study_holds_the_whole_its_ablations_and_its_baselines() -> None:
    cells = STUDIES["mira"].cells(SCALES["t"])
    trained = {
        schedule: {cell.learner for cell in cells if cell.train == schedule} for schedule in {c.train for c in cells}
    }
    assert set(trained) == {(("T3",),), (("T5",),)}
    wanted = {"mira", "miranopotential", "miramc", "miratd", "mirakl", "miraawr", "bc", "subgoal", "beacon"}
    assert trained[(("T3",),)] == wanted
    assert {"mira", "subgoal"} <= trained[(("T5",),)]
