"""RL raises success, resumes to the same numbers, and adds its micro-batches up to the whole."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from curricula import Instance
from horizon_bench.credit import ESTIMATORS
from horizon_bench.envs import Settings
from horizon_bench.evaluation import evaluate
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.batches import ReplyBatch
from horizon_bench.training.configs import RolloutConfig, UpdateConfig
from horizon_bench.training.learning import checked_advantages, kept_signs
from horizon_bench.training.losses import LOSSES
from horizon_bench.training.rl import VALUE_COSTS, Trainer, train_rl
from puzzles.sudoku import Sudoku

SETTINGS = Settings(observation="compact", on_error="strict")
SMALL = RolloutConfig(groups=6, attempts=3)
QUICK = UpdateConfig(updates=4, checkpoint_every=2, warmup_updates=2)
Fresh = Callable[[], TinyPolicy]


def weights(policy: TinyPolicy) -> dict[str, Any]:
    return {name: weight.tolist() for name, weight in policy.model.state_dict().items()}


def run(policy: TinyPolicy, instances: Sequence[Instance], **options: Any) -> list[dict[str, float]]:
    seen: list[dict[str, float]] = []
    config = options.pop("config", QUICK)
    train_rl(
        policy, instances, options.pop("settings", SETTINGS), options.pop("rollout", SMALL), config,
        on_update=lambda update, metrics, episodes: seen.append(metrics), **options,
    )  # fmt: skip
    return seen


def test_training_raises_success(fresh: Fresh, late: list[Instance]) -> None:
    policy, train, test = fresh(), late[20:], late[:20]
    before = np.mean([episode.solved for episode in evaluate(policy, test, SETTINGS, seed=1)])
    config = replace(QUICK, updates=25, learning_rate=2e-3)
    run(policy, train, rollout=RolloutConfig(groups=24, attempts=4), config=config)
    after = np.mean([episode.solved for episode in evaluate(policy, test, SETTINGS, seed=1)])
    assert 0.05 < before < 0.8
    assert after > before + 0.1


def test_the_same_seed_gives_the_same_run(fresh: Fresh, instances: tuple[Instance, ...]) -> None:
    policies = [fresh() for _ in range(3)]
    seen = [run(policy, instances, seed=seed) for policy, seed in zip(policies, (5, 5, 6), strict=True)]
    assert seen[0] == seen[1]
    assert weights(policies[0]) == weights(policies[1])
    assert seen[0] != seen[2]


def test_a_resumed_run_goes_on_as_an_unbroken_one(
    fresh: Fresh, instances: tuple[Instance, ...], tmp_path: pathlib.Path
) -> None:
    unbroken, broken, resumed = (
        fresh(),
        fresh(),
        TinyPolicy.create(Sudoku(4), 16, layers=2, value_head=True),
    )
    whole = run(unbroken, instances, seed=5)
    first = run(broken, instances, seed=5, folder=tmp_path, config=replace(QUICK, updates=2))
    torch.manual_seed(99)
    second = run(resumed, instances, seed=5, folder=tmp_path)
    assert first + second == whole
    assert weights(resumed) == weights(unbroken)


def test_a_checkpoint_of_another_run_is_refused(
    fresh: Fresh, instances: tuple[Instance, ...], tmp_path: pathlib.Path
) -> None:
    run(fresh(), instances, folder=tmp_path)
    with pytest.raises(ValueError, match="belongs to a run with update_config"):
        run(fresh(), instances, folder=tmp_path, config=replace(QUICK, learning_rate=2e-3))


def test_callbacks_stop_the_run(fresh: Fresh, instances: tuple[Instance, ...]) -> None:
    visits: list[int] = []

    def on_evaluation(update: int, policy: TinyPolicy) -> bool:
        visits.append(update)
        return update == 2

    config = replace(QUICK, updates=9, evaluate_every=1)
    report = train_rl(fresh(), instances, SETTINGS, SMALL, config, on_evaluation=on_evaluation)
    assert (report.updates, report.stopped, visits) == (2, True, [1, 2])
    assert train_rl(fresh(), instances, SETTINGS, SMALL, config, on_update=lambda *_: True).updates == 1


def test_a_schedule_chooses_the_instances(fresh: Fresh, instances: tuple[Instance, ...]) -> None:
    seen: list[set[str]] = []
    train_rl(
        fresh(),
        lambda update: instances[:3] if update < 1 else instances[3:5],
        SETTINGS,
        SMALL,
        replace(QUICK, updates=2),
        on_update=lambda update, metrics, episodes: seen.append({episode.start for episode in episodes}),
    )
    assert seen == [{one.start for one in instances[:3]}, {one.start for one in instances[3:5]}]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("reduction", ["sequence-sum", "sequence-mean", "token-mean"])
def test_micro_batches_add_up_to_the_whole_batch(
    fresh: Fresh, instances: tuple[Instance, ...], loss: str, reduction: str
) -> None:
    gradients, losses = [], []
    for micro in (10_000, 7):
        policy = fresh()
        config = replace(QUICK, loss=loss, reduction=reduction, micro_batch=micro, gradient_clip=1e9)
        trainer = Trainer(policy, replace(SETTINGS, interface="macro"), SMALL, config, 3)
        metrics, _ = trainer.update(0, instances)
        losses.append(metrics["loss"])
        gradients.append(
            torch.cat([weight.grad.flatten() for weight in policy.model.parameters() if weight.grad is not None])
        )
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)
    assert gradients[0].abs().max() > 1e-3
    assert torch.allclose(gradients[0], gradients[1], atol=1e-5)


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_every_estimator_trains(fresh: Fresh, late: list[Instance], name: str) -> None:
    policy = fresh()
    before = weights(policy)
    settings = replace(SETTINGS, reward="subgoal")
    seen = run(policy, late, settings=settings, config=replace(QUICK, updates=1, estimator=name))
    assert all(np.isfinite(value) for value in seen[0].values())
    assert (weights(policy) != before) == (seen[0]["advantage_std"] > 0)


def test_on_policy_nothing_is_masked(fresh: Fresh, instances: tuple[Instance, ...]) -> None:
    for metrics in run(fresh(), instances):
        assert metrics["masked_share"] == 0.0
        assert metrics["effective_sample_size"] > 0.9999
        assert metrics["rho_sequence_min"] == pytest.approx(1.0, abs=1e-4)


def test_slips_are_on_policy_too(fresh: Fresh, instances: tuple[Instance, ...]) -> None:
    settings = replace(SETTINGS, thought="free")
    for metrics in run(fresh(), instances, settings=settings, rollout=replace(SMALL, thought_slip=0.2)):
        assert metrics["rho_sequence_max"] == pytest.approx(1.0, abs=1e-4)


def test_a_trainer_blind_to_slips_takes_them_for_the_models_own_choice(
    fresh: Fresh, instances: tuple[Instance, ...]
) -> None:
    settings = replace(SETTINGS, thought="free")
    config = replace(QUICK, updates=1, learning_rate=1e-9)
    losses = []
    for known in (True, False):
        slipping = replace(SMALL, thought_slip=0.2, slip_known=known)
        metrics = run(fresh(), instances, settings=settings, rollout=slipping, config=config)[0]
        assert metrics["rho_sequence_max"] == pytest.approx(1.0, abs=1e-4)
        losses.append(metrics["loss"])
    # The same replies, scored as a mixture with chance and as the model's own: rounding alone would not differ so much.
    assert abs(losses[0] - losses[1]) > 1e-3 * abs(losses[0])


def test_several_steps_of_a_batch_leave_the_policy(fresh: Fresh, instances: tuple[Instance, ...]) -> None:
    config = replace(QUICK, updates=1, epochs=3, steps_per_epoch=2, learning_rate=5e-3, warmup_updates=0)
    metrics = run(fresh(), instances, config=config)[0]
    assert metrics["optimiser_steps"] == 6
    assert metrics["rho_sequence_max"] > 1.01


def test_a_critic_learns_the_values(fresh: Fresh, instances: tuple[Instance, ...]) -> None:
    config = replace(QUICK, updates=12, estimator="ppo", loss="ppo-token", value_rate=2e-2, value_coefficient=1.0)
    losses = [metrics["value_loss"] for metrics in run(fresh(), instances, config=config)]
    assert np.mean(losses[-3:]) < 0.8 * np.mean(losses[:3])


def test_estimators_that_lack_something_are_refused(instances: tuple[Instance, ...]) -> None:
    policy = TinyPolicy.create(Sudoku(4), 16, hidden_size=16, layers=1)
    with pytest.raises(ValueError, match="value_head=True"):
        train_rl(policy, instances, SETTINGS, SMALL, replace(QUICK, estimator="ppo"))
    chancy = replace(SETTINGS, failure_probability=0.1)
    with pytest.raises(ValueError, match="needs an environment without chance"):
        train_rl(policy, instances, chancy, SMALL, replace(QUICK, estimator="vineppo"))
    with pytest.raises(ValueError, match="no training instances"):
        train_rl(policy, (), SETTINGS, SMALL, QUICK)


def test_replies_without_tokens_cannot_be_learned(instances: tuple[Instance, ...]) -> None:
    from horizon_bench.policies import ExpertPolicy
    from horizon_bench.rollout import rollout

    with pytest.raises(ValueError, match="only policies that sample tokens"):
        ReplyBatch.from_episodes(rollout(ExpertPolicy(), instances[:1], SETTINGS))


@pytest.mark.parametrize("changes", [{"updates": 0}, {"estimator": "reinforced"}, {"correction": "none+nothing"}])
def test_settings_out_of_range_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must be|did you mean|unknown"):
        UpdateConfig(**changes)


def test_only_advantages_of_the_wanted_sign_are_learned_from(fresh: Fresh, instances: tuple[Instance, ...]) -> None:
    advantages = np.array([-1.0, 0.0, 2.0])
    assert kept_signs(advantages, "positive").tolist() == [0.0, 0.0, 2.0]
    assert kept_signs(advantages, "negative").tolist() == [-1.0, 0.0, 0.0]
    assert kept_signs(advantages, "both") is advantages
    ends = []
    for signs in ("both", "positive", "negative"):
        policy = fresh()
        run(policy, instances, config=replace(QUICK, updates=1, signs=signs))
        ends.append(weights(policy))
    assert ends[0] != ends[1] != ends[2] != ends[0]
    with pytest.raises(ValueError, match=r"unknown signs 'all'; known: both, positive, negative"):
        UpdateConfig(signs="all")


def test_continuations_are_paid_for(fresh: Fresh, instances: tuple[Instance, ...]) -> None:
    config = replace(QUICK, updates=1, estimator="vineppo")
    costs = []
    for rollouts in (1, 2):
        (seen,) = run(fresh(), instances, rollout=replace(SMALL, value_rollouts=rollouts), config=config)
        costs.append([seen[name] for name in VALUE_COSTS])
        assert seen["value_tokens"] >= seen["value_decisions"] >= seen["episodes"] * seen["decisions"] / 3
    assert all(once < twice for once, twice in zip(*costs, strict=True))
    assert not set(VALUE_COSTS) & set(run(fresh(), instances, config=replace(QUICK, updates=1))[0])


@pytest.mark.parametrize(
    "given", [[0.5, -1, 2], np.array([0.5, -1, 2], np.float32), torch.tensor([0.5, -1.0, 2.0]), (0.5, -1, np.int8(2))]
)
def test_numbers_of_any_kind_are_advantages(given: Any) -> None:
    assert checked_advantages(given, 3, "mine").tolist() == [0.5, -1.0, 2.0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([0.0, 1.0], r"returned shape \(2,\)"),
        ([[0.0], [1.0], [2.0]], r"returned shape \(3, 1\)"),
        ([[0.0, 1.0], [2.0]], "not list"),
        (None, "'mine' must return"),
        (["a", "b", "c"], "not list"),
        ([0.0, float("nan"), float("inf")], r"returned nan for decision 1 \(2 such\)"),
    ],
)
def test_what_an_estimator_must_not_return_is_refused_by_its_name(given: Any, words: str) -> None:
    with pytest.raises(ValueError, match="estimator 'mine'") as failure:
        checked_advantages(given, 3, "mine")
    assert failure.match(words)


def test_an_estimator_of_the_wrong_length_stops_training(
    fresh: Fresh, instances: tuple[Instance, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ESTIMATORS, "mine", lambda batch: [0.0] * batch.episodes)
    with pytest.raises(ValueError, match="estimator 'mine' must return one finite number for each"):
        run(fresh(), instances, config=replace(QUICK, estimator="mine"))
