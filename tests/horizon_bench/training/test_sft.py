"""The small model learns from traces, alike in all modes, and the same from the same seed."""

from __future__ import annotations

import pathlib
from dataclasses import replace

import numpy as np
import pytest
import torch

from curricula import Instance
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.collator import IGNORED, SharedPrefixCollator
from horizon_bench.training.configs import SftConfig
from horizon_bench.training.sft import (
    SftReport,
    WeightedTrainer,
    build_rows,
    grade,
    token_weights,
    train_sft,
    trainer_arguments,
)
from horizon_bench.training.traces import TargetSettings
from puzzles.sudoku import Sudoku
from solvers import oracle

TINY_RUN = SftConfig(steps=3, boards=6, warmup_steps=1, accuracy_states=10, seed=3)


def test_the_loss_falls_and_actions_become_right(learned: tuple[TinyPolicy, SftReport]) -> None:
    report = learned[1]
    assert report.losses[-1] < 0.7 * report.losses[0]
    assert report.states == 220 * 32
    for mode in ("atomic", "macro", "fixed"):
        assert report.accuracy[f"{mode}_format"] > 0.9
        assert report.accuracy[f"{mode}_first_action"] > 0.25
    assert report.accuracy["atomic_length"] == 1.0
    assert report.accuracy["macro_length"] > 1.2


def test_the_same_seed_gives_the_same_model(instances: tuple[Instance, ...]) -> None:
    results = []
    for seed in (3, 3, 4):
        policy = TinyPolicy.create(Sudoku(4), 16, hidden_size=16, layers=1)
        torch.manual_seed(seed + len(results))
        report = train_sft(policy, Sudoku(4), instances[:20], replace(TINY_RUN, seed=seed))
        results.append((report.losses, report.accuracy, policy.model.lm_head.weight.tolist()))
    assert results[0] == results[1]
    assert results[0][2] != results[2][2]


def test_progress_rises_to_the_end(instances: tuple[Instance, ...]) -> None:
    told: list[float] = []
    policy = TinyPolicy.create(Sudoku(4), 16, hidden_size=16, layers=1)
    train_sft(policy, Sudoku(4), instances[:20], TINY_RUN, told.append)
    assert told == sorted(told)
    assert len(told) > 2
    assert told[-1] == 1.0


def test_global_generators_stay_untouched(instances: tuple[Instance, ...]) -> None:
    policy = TinyPolicy.create(Sudoku(4), 16, hidden_size=16, layers=1)
    before = torch.get_rng_state(), np.random.get_state()[1].tolist()  # noqa: NPY002
    train_sft(policy, Sudoku(4), instances[:20], TINY_RUN)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.random.get_state()[1].tolist() == before[1]  # noqa: NPY002


def test_weight_one_is_the_models_own_loss(instances: tuple[Instance, ...]) -> None:
    policy = TinyPolicy.create(Sudoku(4), 16)
    rows, layout = build_rows(policy, Sudoku(4), instances[:20], TINY_RUN, np.random.default_rng(0))
    batch = SharedPrefixCollator(layout)([rows[index] for index in range(8)])
    output = policy.model(**batch)
    labels = batch["labels"][:, 1:]
    weights = token_weights(labels, 1.0, policy.marks.thought_end, policy.marks.end)
    losses = torch.nn.functional.cross_entropy(output.logits[:, :-1].flatten(0, 1), labels.flatten(), reduction="none")
    weighted = (losses * weights.flatten()).sum() / weights.sum()
    assert weighted.item() == pytest.approx(output.loss.item(), rel=1e-5)


def test_weight_one_is_the_trainers_own_loss(instances: tuple[Instance, ...], tmp_path: pathlib.Path) -> None:
    policy = TinyPolicy.create(Sudoku(4), 16)
    rows, layout = build_rows(policy, Sudoku(4), instances[:20], TINY_RUN, np.random.default_rng(0))
    with torch.random.fork_rng(devices=[]):
        trainer = WeightedTrainer(
            action_weight=1.0,
            thought_end=policy.marks.thought_end,
            end=policy.marks.end,
            model=policy.model,
            args=trainer_arguments(TINY_RUN, str(tmp_path), 0),
            train_dataset=rows,
            data_collator=SharedPrefixCollator(layout),
            processing_class=policy.tokenizer,
        )
    batch = SharedPrefixCollator(layout)([rows[index] for index in range(8)])
    own = trainer.compute_loss(policy.model, dict(batch)).item()
    trl = super(WeightedTrainer, trainer).compute_loss(policy.model, dict(batch)).item()
    assert own == pytest.approx(trl, rel=1e-5)


def test_only_actions_weigh_more() -> None:
    think_end, end = 4, 1
    labels = torch.tensor([[IGNORED, 9, 9, think_end, 7, 8, end, IGNORED, 7, 8, end, IGNORED]])
    weights = token_weights(labels, 3.0, think_end, end)[0].tolist()
    assert weights == [0, 1, 1, 1, 3, 3, 1, 0, 3, 3, 1, 0]


def test_thoughts_stand_in_the_rows(instances: tuple[Instance, ...]) -> None:
    policy = TinyPolicy.create(Sudoku(4), 16)
    config = replace(TINY_RUN, targets=TargetSettings(thoughts=True))
    rows, layout = build_rows(policy, Sudoku(4), instances[:20], config, np.random.default_rng(0))
    ids = np.array(rows["input_ids"])[:, layout.prefix :].reshape(-1, layout.slots, layout.width)
    assert (ids[:, :, 1] == policy.ids["<think>"]).all()
    assert ((ids == policy.marks.thought_end).sum(2) == 1).all()


def test_replies_longer_than_the_model_writes_are_refused(instances: tuple[Instance, ...]) -> None:
    policy = TinyPolicy.create(Sudoku(4), 16, max_reply_tokens=4)
    with pytest.raises(ValueError, match="the model writes at most 4"):
        train_sft(policy, Sudoku(4), instances[:20], TINY_RUN)


def test_no_instances_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one instance"):
        train_sft(TinyPolicy.create(Sudoku(4), 16), Sudoku(4), (), TINY_RUN)


@pytest.mark.parametrize("changes", [{"steps": 0}, {"modes": ("macros",)}, {"learning_rate": 0.0}])
def test_settings_out_of_range_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="must"):
        SftConfig(**changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ("r1c1 1", (True,)),
        ("r1c1 2", (False,)),
        ("r1c1 1 r1c3 4 r1c1 1", (True, True, False)),
        ("<think> b1 1 </think> r1c3 4", (True,)),
        ("r1c1", ()),
        ("r1c1 1 </think", ()),
        ("", ()),
    ],
)
def test_a_reply_is_graded_action_by_action(reply: str, right: tuple[bool, ...]) -> None:
    puzzle = Sudoku(4)
    state = puzzle.parse(".3.2421331242431")
    assert grade(puzzle, oracle(puzzle, state), state, reply).right == right
