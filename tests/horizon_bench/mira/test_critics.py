from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from horizon_bench.episodes import Episode
from horizon_bench.mira.calibration import BINS, calibration_metrics
from horizon_bench.mira.critics import Critics, CriticTargets, critic_losses
from horizon_bench.mira.labels import episode_labels
from horizon_bench.policies.tiny import TinyPolicy

Fresh = Callable[[], TinyPolicy]


def test_targets_are_final_success_and_labels_of_successes(played: list[Episode]) -> None:
    targets = CriticTargets.from_episodes(played)
    lengths = [len(episode.turns) for episode in played]
    assert targets.solved.tolist() == np.repeat([float(one.solved) for one in played], lengths).tolist()
    labelled = torch.split(targets.progress, lengths)
    for episode, progress in zip(played, labelled, strict=True):
        labels = episode_labels(episode)
        assert progress.isnan().all() if labels is None else progress.tolist() == pytest.approx(labels[:-1].tolist())
    more = CriticTargets.from_episodes(played, [4] * len(played))
    assert not more.progress.isnan().any()
    joined = CriticTargets.joined([targets, more])
    assert len(joined) == 2 * len(targets)


def test_the_value_critic_learns_from_true_rewards_only(fresh: Fresh, played: list[Episode]) -> None:
    """Neither what the environment paid nor the labels move the value: a shaped reward has no way in."""
    paid = [
        replace(episode, turns=tuple(replace(turn, reward=turn.reward + 7.0) for turn in episode.turns))
        for episode in played
    ]
    plain, bribed = CriticTargets.from_episodes(played), CriticTargets.from_episodes(paid)
    assert all(torch.equal(getattr(plain, name), getattr(bribed, name)) for name in ("prompts", "solved"))
    logits = torch.zeros(len(plain), 2, requires_grad=True)
    for progress in (plain.progress, torch.rand(len(plain))):
        value, _ = critic_losses(logits, plain.solved, progress)
        (gradient,) = torch.autograd.grad(value, logits)
        assert gradient[:, 1].abs().max() == 0
        assert gradient[:, 0] == pytest.approx((0.5 - plain.solved) / len(plain))
    critics = [Critics(fresh().model, 1e-3, potential=False) for _ in range(2)]
    for critic, progress in zip(critics, (plain.progress, torch.rand(len(plain))), strict=True):
        critic.fit(replace(plain, progress=progress), 3, 16, np.random.default_rng(0))
    first, second = (critic.predict(plain.prompts).values for critic in critics)
    assert (first == second).all()


def test_the_potential_learns_from_labels_only(played: list[Episode]) -> None:
    targets = CriticTargets.from_episodes(played)
    logits = torch.zeros(len(targets), 2, requires_grad=True)
    _, potential = critic_losses(logits, 1 - targets.solved, targets.progress)
    (gradient,) = torch.autograd.grad(potential, logits)
    unlabelled = targets.progress.isnan()
    assert gradient[:, 0].abs().max() == 0
    assert gradient[unlabelled].abs().max() == 0
    assert gradient.isfinite().all()
    without = critic_losses(logits.detach(), targets.solved, torch.full_like(targets.solved, torch.nan))[1]
    assert float(without) == 0.0


def test_both_critics_learn_and_leave_the_policy_alone(fresh: Fresh, played: list[Episode]) -> None:
    policy, targets = fresh(), CriticTargets.from_episodes(played)
    before = {name: weight.clone() for name, weight in policy.model.state_dict().items()}
    critics = Critics(policy.model, 3e-3)
    start = critics.predict(targets.prompts)
    assert (start.values == 0.5).all()
    assert (start.potentials == 0.5).all()
    critics.fit(targets, 60, 64, np.random.default_rng(0))
    after = critics.predict(targets.prompts)
    solved, known = targets.solved.bool().numpy(), ~targets.progress.isnan().numpy()
    assert after.values[solved].mean() > after.values[~solved].mean() + 0.1
    truth = targets.progress.double().numpy()[known]
    assert np.mean((after.potentials[known] - truth) ** 2) < 0.6 * np.mean((0.5 - truth) ** 2)
    assert all(torch.equal(weight, before[name]) for name, weight in policy.model.state_dict().items())


def test_calibration_counts_every_known_state_once() -> None:
    predicted = np.array([0.0, 0.05, 0.55, 1.0, 0.3])
    metrics = calibration_metrics("value", predicted, np.array([0.0, 1.0, 1.0, 1.0, np.nan]))
    assert sum(value for name, value in metrics.items() if name.endswith("_count")) == 4
    assert metrics["value_bin0_observed"] == 0.5
    assert metrics["value_bin0_predicted"] == pytest.approx(0.025)
    assert metrics[f"value_bin{BINS - 1}_count"] == 1
    assert metrics["value_error"] == pytest.approx((0.95**2 + 0.45**2) / 4)
    assert calibration_metrics("value", predicted, np.full(5, np.nan)) == {}
