"""Phases train, resume to the same numbers, keep their reference, and replay what they may."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from curricula import Instance
from horizon_bench.envs import Settings
from horizon_bench.evaluation import evaluate
from horizon_bench.mira.configs import MIRA_VARIANTS, MiraConfig, find_variant
from horizon_bench.mira.phases import MiraTrainer, train_mira
from horizon_bench.mira.replay import read_buffer
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.configs import RolloutConfig, UpdateConfig
from puzzles.sudoku import Sudoku

Fresh = Callable[[], TinyPolicy]
SETTINGS = Settings(observation="compact", on_error="semi")
SMALL = RolloutConfig(groups=8, attempts=3)
QUICK = UpdateConfig(updates=4, checkpoint_every=2, warmup_updates=2)
LITTLE = MiraConfig(first_critic_steps=4, critic_steps=2, critic_batch=32)


def weights(policy: TinyPolicy) -> dict[str, Any]:
    return {name: weight.tolist() for name, weight in policy.model.state_dict().items()}


def run(policy: TinyPolicy, instances: list[Instance], **options: Any) -> list[dict[str, float]]:
    seen: list[dict[str, float]] = []
    train_mira(
        policy, instances, SETTINGS, SMALL, options.pop("config", QUICK), options.pop("mira", LITTLE),
        on_update=lambda update, metrics, episodes: seen.append(metrics), **options,
    )  # fmt: skip
    return seen


def test_training_raises_success_on_what_it_trains_on(fresh: Fresh, late: list[Instance]) -> None:
    policy, few = fresh(), late[:12]
    before = np.mean([episode.solved for episode in evaluate(policy, few, SETTINGS, seed=1)])
    config, mira = UpdateConfig(updates=25, learning_rate=2e-3), replace(LITTLE, critic_batch=64)
    train_mira(policy, few, SETTINGS, RolloutConfig(groups=24), config, mira)
    after = np.mean([episode.solved for episode in evaluate(policy, few, SETTINGS, seed=1)])
    assert 0.05 < before < 0.8
    assert after > before + 0.1


@pytest.mark.parametrize("phase", [1, 2])
def test_a_resumed_run_goes_on_as_an_unbroken_one(
    fresh: Fresh, late: list[Instance], tmp_path: pathlib.Path, phase: int
) -> None:
    mira = replace(LITTLE, phase_updates=phase, replay_updates=3, label_failures=True)
    unbroken, broken = fresh(), fresh()
    resumed = TinyPolicy.create(Sudoku(4), 16, hidden_size=32, layers=2)
    whole = run(unbroken, late, seed=5, mira=mira, folder=tmp_path / "a" / "checkpoints")
    first = run(
        broken, late, seed=5, mira=mira, folder=tmp_path / "b" / "checkpoints", config=replace(QUICK, updates=3)
    )
    for path in (tmp_path / "b" / "checkpoints").glob("update-000003"):
        path.rename(path.with_name(".lost"))
    torch.manual_seed(99)
    second = run(resumed, late, seed=5, mira=mira, folder=tmp_path / "b" / "checkpoints")
    assert first[:2] + second == whole
    assert weights(resumed) == weights(unbroken)
    stored = [
        [(one.update, one.phase, one.values, one.episode.start) for one in read_buffer(tmp_path / name / "replay")]
        for name in ("a", "b")
    ]
    assert stored[0] == stored[1]


def test_a_checkpoint_of_another_run_is_refused(fresh: Fresh, late: list[Instance], tmp_path: pathlib.Path) -> None:
    folder, short = tmp_path / "checkpoints", replace(QUICK, updates=1)
    run(fresh(), late, folder=folder, config=short)
    with pytest.raises(ValueError, match="belongs to a run with mira"):
        run(fresh(), late, folder=folder, mira=replace(LITTLE, beta=0.7))
    (folder / "update-000001" / "parts.pt").write_bytes(b"torn")
    with pytest.raises(ValueError, match="is damaged"):
        run(fresh(), late, folder=folder)


@pytest.mark.parametrize("name", MIRA_VARIANTS)
def test_every_variant_trains(fresh: Fresh, late: list[Instance], name: str) -> None:
    policy = fresh()
    before = weights(policy)
    mira = replace(MIRA_VARIANTS[name], first_critic_steps=2, critic_steps=1, critic_batch=16)
    seen = run(policy, late, config=replace(QUICK, updates=2), mira=mira)
    assert all(np.isfinite(value) for metrics in seen for value in metrics.values())
    assert weights(policy) != before
    assert ("potential_loss" in seen[0]) == (mira.shaping > 0)
    assert seen[1]["replayed_replies"] <= mira.replay_share * seen[1]["new_replies"]
    assert not mira.replay_updates <= 0 or seen[1]["replayed_replies"] == 0


def test_the_reference_is_frozen_for_a_phase(fresh: Fresh, late: list[Instance]) -> None:
    policy = fresh()
    trainer = MiraTrainer(policy, SETTINGS, SMALL, QUICK, replace(LITTLE, phase_updates=2), 1)

    def distance() -> float:
        pairs = zip(trainer.learner.reference.parameters(), policy.model.parameters(), strict=True)
        return float(sum((one - other).abs().sum().detach() for one, other in pairs))

    gaps = []
    for update in range(3):
        trainer.update(update, late)
        gaps.append(distance())
    assert 0 < gaps[0] < gaps[1]
    assert gaps[2] < gaps[1]


def test_instances_near_failures_are_marked_as_such(fresh: Fresh, late: list[Instance]) -> None:
    trainer = MiraTrainer(fresh(), SETTINGS, SMALL, QUICK, replace(LITTLE, success_low=0.0, success_high=1.0), 1)
    metrics = [trainer.update(update, late)[0] for update in range(2)]
    assert [one["near_failure_share"] for one in metrics] == [0.0, 0.5]
    groups = {one.episode.group: one.source for one in trainer.buffer.part(1)}
    assert list(groups.values()) == ["failure", "failure", "pool", "pool"]
    assert all(len(one.values) == len(one.episode.turns) for one in trainer.buffer.part(1))


def test_what_cannot_be_is_refused(fresh: Fresh, late: list[Instance]) -> None:
    with pytest.raises(ValueError, match="reward='outcome'"):
        train_mira(fresh(), late, replace(SETTINGS, reward="subgoal"), SMALL, QUICK, LITTLE)
    with pytest.raises(ValueError, match="no training instances"):
        train_mira(fresh(), [], SETTINGS, SMALL, QUICK, LITTLE)
    with pytest.raises(ValueError, match="did you mean 'mira-kl'"):
        find_variant("mira-lk")
    for changes in (
        {"loss": "cubed"},
        {"lam": 2.0},
        {"beta": 0.0},
        {"replay_share": 2.5},
        {"collect_share": 0.0},
        {"likelihood_high": 0.4},
    ):
        with pytest.raises(ValueError, match=next(iter(changes))):
            MiraConfig(**changes)  # type: ignore[arg-type]


def test_shaping_is_annealed_to_nothing() -> None:
    config = MiraConfig(anneal_updates=10)
    assert [config.shaping_at(update) for update in (0, 5, 10, 50)] == pytest.approx([0.3, 0.15, 0.0, 0.0])
    assert MiraConfig().shaping_at(1000) == 0.3
