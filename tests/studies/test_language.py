"""The paper preset through its first steps on a random language model; and what it says before it starts."""

from __future__ import annotations

import pathlib
from dataclasses import replace

import pytest

from horizon_bench.policies.random_model import write_random_model
from horizon_bench.training.estimates import GPUS, SHAPES, Load, estimate
from reports.records import EvaluationRecord, UpdateRecord, read, read_cell
from studies.cell import run_job
from studies.commands.study import StudyRun
from studies.language import language_training, played
from studies.matrix import parse_name
from studies.plans import announced, dry_run, training_of
from studies.presets import PRESETS, LanguageScale, Preset
from studies.runner import CellJob

PAPER = PRESETS["paper"]
NAME = "study-sudoku-macro-t2-subgoal"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return write_random_model(tmp_path_factory.mktemp("model"), layers=1)


def first_steps(model: pathlib.Path) -> Preset:
    scale = replace(PAPER.language or LanguageScale(), macro_cap=6, single_cap=6, traces=8, sft_batch=4, micro_batch=4)
    return replace(
        PAPER, model=str(model), language=scale, updates=1, puzzles_per_update=2, attempts_per_puzzle=2,
        test_puzzles=1, interval_puzzles=1, evaluate_every=1, attempts=1, stored_puzzles=1,
    )  # fmt: skip


def job(results: pathlib.Path, preset: Preset, name: str = NAME) -> CellJob:
    return CellJob(str(results), "single", parse_name(name), 0, preset)


def test_the_paper_preset_runs_through_its_first_steps(model: pathlib.Path, tmp_path: pathlib.Path) -> None:
    one = job(tmp_path, first_steps(model))
    said = run_job(one, lambda share, note: None)
    assert "after RL" in said
    rows = read(one.folder / "records.jsonl")
    assert {row.phase for row in rows if isinstance(row, EvaluationRecord)} == {"sft", "rl"}
    assert [row.phase for row in rows if isinstance(row, UpdateRecord)] == ["sft", "rl"]
    settings = read_cell(one.folder).settings
    assert settings["environment"]["observation"] == "text"
    assert settings["training"]["update"]["learning_rate"] == 1e-6
    assert settings["preset"]["language"]["macro_cap"] == 6
    assert run_job(one, lambda share, note: None) == "was finished already"


def test_the_small_models_settings_on_disk_do_not_mention_language_models(tmp_path: pathlib.Path) -> None:
    one = CellJob(str(tmp_path), "single", parse_name("study-sudoku-atomic-t-expert"), 0, PRESETS["smoke"])
    run_job(replace(one, preset=replace(one.preset, untrained_puzzles=1)), lambda share, note: None)
    assert "language" not in read_cell(one.folder).settings["preset"]


def test_every_published_number_stands_in_the_preset() -> None:
    training = training_of(job(pathlib.Path(), PAPER, "study-sudoku-macro-l34-subgoal"))
    update, rollout = training.update, training.rollout
    assert (update.learning_rate, rollout.temperature, rollout.attempts) == (1e-6, 0.8, 4)
    assert update.correction == "sequence-truncation+geometric-mask"
    assert training.max_new_tokens == rollout.max_new_tokens == 4096
    assert training_of(job(pathlib.Path(), PAPER, "study-sudoku-atomic-l34-subgoal")).max_new_tokens == 2048
    rush = parse_name("study-rush-macro-r1-outcome")
    assert (played(rush, "atomic", PAPER).max_decisions, played(rush, "macro", PAPER).max_decisions) == (30, 20)
    assert PAPER.updates * PAPER.puzzles_per_update == 4 * 2 * 640  # four passes over the puzzles of two levels


@pytest.mark.parametrize("name", ["study-sudoku-split-l34-outcome", "study-sudoku-macro-l34-ppo"])
def test_what_only_the_small_model_has_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"small model has|no expert traces for split"):
        training_of(job(pathlib.Path(), PAPER, name))
    with pytest.raises(ValueError, match="varies width"):
        training_of(job(pathlib.Path(), PAPER, "study-sudoku-macro-l34-outcome-width2"))


def test_a_dry_run_builds_all_but_the_weights(capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    run = StudyRun("study-sudoku-macro-l34-subgoal", results=tmp_path / "none", preset="paper", dry_run=True)
    assert run.run() == 0
    printed = capsys.readouterr().out
    for words in (
        "1,720,574,976 weights",
        "AdamW",
        "1280 puzzles of L3+L4",
        "memory of each",
        "--processes 8",
        "--ray",
    ):
        assert words in printed
    assert not (tmp_path / "none").exists()
    with pytest.raises(ValueError, match="go with --preset paper"):
        StudyRun("smoke", dry_run=True).run()


def test_a_model_at_hand_is_planned_with_its_own_sizes(model: pathlib.Path) -> None:
    lines = list(dry_run([job(pathlib.Path(), first_steps(model))], "h100", 1, sharded=False))
    assert any("0.00 billion weights" in line for line in lines)
    with pytest.raises(ValueError, match="shape of mine/unknown is not known"):
        list(announced([job(pathlib.Path(), replace(PAPER, model="mine/unknown"))], "h100", 1, sharded=False))


def test_memory_is_that_of_the_largest_run_and_hours_are_those_of_all() -> None:
    names = ("study-sudoku-atomic-l12-outcome", "study-sudoku-macro-l34-outcome")
    jobs = [job(pathlib.Path(), PAPER, name) for name in names]
    alone = [list(announced([one], "h100", 1, sharded=False)) for one in jobs]
    both = list(announced(jobs, "h100", 1, sharded=False))
    assert both[:4] == alone[1][:4] != alone[0][:4]
    hours = [float(lines[-1].rpartition("about ")[2].removesuffix(" h")) for lines in (*alone, both)]
    assert abs(hours[2] - hours[0] - hours[1]) <= 1.5
    with pytest.raises(ValueError, match="split"):
        list(announced([*jobs, job(pathlib.Path(), PAPER, "study-sudoku-split-l34-outcome")], "h100", 1, sharded=False))


def test_estimates_grow_with_what_is_asked_for() -> None:
    load = Load(400, 512, 2048, 20, 256, 80, 1000, 4000, 4)
    small, large = (estimate(SHAPES[f"Qwen/Qwen3-{size}B"], load) for size in ("1.7", "4"))
    assert small.weights == pytest.approx(1.72e9, rel=0.01)
    assert large.weights == pytest.approx(4.02e9, rel=0.01)
    assert small.state_gib == pytest.approx(16 * small.weights / 2**30)
    assert large.gib > small.gib
    eight = estimate(SHAPES["Qwen/Qwen3-4B"], load, count=8, sharded=True)
    assert eight.hours == pytest.approx(large.hours / 8)
    assert eight.state_gib == pytest.approx((16 / 8 + 4) * large.weights / 2**30)
    assert "does NOT fit" in "\n".join(large.lines("a100", 1, sharded=False))
    assert all(gpu.memory >= 80 for gpu in GPUS.values())
    with pytest.raises(ValueError, match="did you mean 'h100'"):
        estimate(SHAPES["Qwen/Qwen3-4B"], load, "h10")


def test_a_preset_says_how_its_language_model_is_trained() -> None:
    with pytest.raises(ValueError, match="says not how"):
        replace(PRESETS["cpu"], model="Qwen/Qwen3-1.7B")
    with pytest.raises(ValueError, match="trains the small model"):
        language_training(job(pathlib.Path(), PRESETS["cpu"]), None, ())  # type: ignore[arg-type]
