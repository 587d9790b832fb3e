from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.collapse import (
    CRITERIA,
    CollapseThresholds,
    RunCurves,
    SuccessCurve,
    detect,
    detect_curves,
    first_collapse,
)
from reports.schema import CollapseRecord, EvaluationRecord, UpdateRecord

EVALUATIONS = 40
PUZZLES = 100

RISE = np.concatenate([np.linspace(0.1, 0.6, 10), np.full(30, 0.6)])
HEALTHY: dict[str, np.ndarray] = {
    "flat at 30 %": np.full(EVALUATIONS, 0.3),
    "flat at 3 %": np.full(EVALUATIONS, 0.03),
    "flat at 90 %": np.full(EVALUATIONS, 0.9),
    "never learned": np.zeros(EVALUATIONS),
    "slow rise": np.linspace(0.1, 0.5, EVALUATIONS),
    "fast rise": RISE,
    "a dip that is regained": np.where(np.isin(np.arange(EVALUATIONS), (20, 21)), 0.1, RISE),
    "a small loss": np.concatenate([RISE[:20], np.full(20, 0.5)]),
}
COLLAPSING: dict[str, tuple[np.ndarray, int]] = {
    "sudden": (np.concatenate([RISE[:20], np.full(20, 0.02)]), 24),
    "slow decline": (np.concatenate([RISE[:10], np.linspace(0.6, 0.05, 30)]), 34),
    "very slow decline": (np.concatenate([[0.05], np.linspace(0.6, 0.0, 39)]), 36),
    "to a low plateau": (np.concatenate([RISE[:20], np.full(20, 0.2)]), 24),
    "of what SFT had taught": (np.concatenate([np.full(10, 0.5), np.full(30, 0.05)]), 14),
}
"""Curves and the evaluation by which each must have been noticed."""


def noisy(curve: np.ndarray, seed: int) -> RunCurves:
    rng = np.random.default_rng(seed)
    success = rng.binomial(PUZZLES, curve) / PUZZLES
    points = tuple(range(0, 10 * len(curve), 10))
    return RunCurves((SuccessCurve("all", points, tuple(success), (PUZZLES,) * len(curve)),), (), {})


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_curves_raise_no_alarm(name: str) -> None:
    alarms = sum(first_collapse(detect_curves(noisy(HEALTHY[name], seed))) is not None for seed in range(60))
    assert alarms <= 1


@pytest.mark.parametrize("name", COLLAPSING)
def test_collapses_are_noticed_in_time_and_not_before(name: str) -> None:
    curve, latest = COLLAPSING[name]
    peak = int(np.argmax(curve))
    for seed in range(40):
        found = first_collapse(detect_curves(noisy(curve, seed)))
        assert found is not None
        assert 10 * peak < found.onset <= found.update <= 10 * latest


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, EVALUATIONS), st.sampled_from(sorted(COLLAPSING)))
def test_the_running_answer_is_the_finished_one_so_far(seed: int, length: int, name: str) -> None:
    whole = noisy(COLLAPSING[name][0], seed)
    curve = whole.success[0]
    part = SuccessCurve("all", curve.updates[:length], curve.success[:length], curve.puzzles[:length])
    now = curve.updates[length - 1]
    assert detect_curves(RunCurves((part,), (), {})) == tuple(row for row in detect_curves(whole) if row.update <= now)


def updates(count: int = 60, **series: Sequence[float] | float) -> list[UpdateRecord]:
    rng = np.random.default_rng(5)
    healthy = {
        "success": np.full(count, 0.4),
        "groups": np.full(count, 48.0),
        "group_reward_std": 0.3 + 0.02 * rng.normal(size=count),
        "invalid_share": 0.1 + 0.02 * rng.normal(size=count),
        "capped_share": np.zeros(count),
        "gradient_norm": rng.lognormal(0, 0.5, count),
        "effective_sample_size": 0.9 + 0.02 * rng.normal(size=count),
        "approximate_kl": 0.01 * rng.normal(size=count),
        "entropy": np.linspace(0.5, 0.3, count),
        "loss": rng.normal(size=count),
    }
    values = {**healthy, **{name: np.broadcast_to(value, count) for name, value in series.items()}}
    return [
        UpdateRecord("s", "c", 0, "rl", index + 1, "T1", {name: float(line[index]) for name, line in values.items()})
        for index in range(count)
    ]


def late(before: float, after: float, count: int = 60) -> np.ndarray:
    return np.where(np.arange(count) < 30, before, after)


SYMPTOMS: dict[str, dict[str, np.ndarray]] = {
    "invalid-share": {"invalid_share": late(0.1, 0.6)},
    "capped-share": {"capped_share": late(0.0, 0.5)},
    "group-spread": {"group_reward_std": late(0.3, 0.01)},
    "gradient-norm": {"gradient_norm": late(1.0, 40.0)},
    "sample-size": {"effective_sample_size": late(0.9, 0.2)},
    "masked-share": {"masked_share": late(0.1, 0.6)},
    "divergence": {"approximate_kl": late(0.0, -0.3)},
    "entropy-low": {"entropy": late(0.5, 0.01)},
    "entropy-high": {"entropy": late(0.5, 2.0)},
    "not-finite": {"loss": late(0.0, np.nan)},
    "success-drawdown": {"success": np.concatenate([np.linspace(0.1, 0.6, 30), np.full(30, 0.1)])},
    "success-halved": {"success": late(0.5, 0.1)},
    "success-floor": {"success": late(0.3, 0.0)},
}


def test_every_criterion_has_its_curve_here() -> None:
    assert set(SYMPTOMS) == set(CRITERIA)


def test_a_healthy_run_has_no_findings() -> None:
    assert detect(updates()) == ()


@pytest.mark.parametrize("criterion", CRITERIA)
def test_each_criterion_finds_its_curve_at_its_onset(criterion: str) -> None:
    found = {row.criterion: row for row in detect(updates(**SYMPTOMS[criterion]))}
    assert criterion in found
    assert 31 <= found[criterion].onset <= 35
    assert found[criterion].message.count("update") == 1


def test_symptoms_alone_do_not_condemn_a_run() -> None:
    found = detect(updates(entropy=late(0.5, 0.01), gradient_norm=late(1.0, 40.0)))
    assert {row.criterion for row in found} == {"entropy-low", "gradient-norm"}
    assert first_collapse(found) is None


def test_mastery_is_no_loss_of_spread() -> None:
    assert detect(updates(group_reward_std=late(0.3, 0.0), success=late(0.8, 0.99))) == ()


def test_another_training_level_is_no_collapse() -> None:
    rows = updates(success=late(0.8, 0.2))
    moved = [
        row if row.update <= 30 else UpdateRecord("s", "c", 0, "rl", row.update, "T2", row.metrics) for row in rows
    ]
    assert first_collapse(detect(rows)) is not None
    assert first_collapse(detect(moved)) is None


def evaluations(rates: dict[str, Callable[[int], float]], split: str = "validation") -> list[EvaluationRecord]:
    rng = np.random.default_rng(9)
    return [
        EvaluationRecord(
            "s", "c", 0, "rl", update, "sudoku", "macro", level, 5, f"{level}-{index}", 0,
            bool(rng.random() < rate(update)), 5, 5, 50, "solved", split=split,
        )
        for update in range(0, 120, 10)
        for level, rate in rates.items()
        for index in range(80)
    ]  # fmt: skip


def test_records_are_pooled_over_levels_and_one_lost_level_is_a_warning() -> None:
    steady = evaluations({"T1": lambda update: 0.8, "T2": lambda update: 0.8, "T3": lambda update: 0.4 * (update < 50)})
    found = detect(steady)
    assert {row.level for row in found} == {"T3"}
    assert first_collapse(found) is None
    lost = detect(evaluations({"T1": lambda update: 0.8 * (update < 50), "T3": lambda update: 0.4 * (update < 50)}))
    collapse = first_collapse(lost)
    assert collapse is not None
    assert (collapse.level, collapse.onset) == ("all", 50)


def test_evaluations_on_the_test_split_do_not_disturb_the_curve() -> None:
    rows = evaluations({"T1": lambda update: 0.6})
    final = evaluations({"T1": lambda update: 0.0}, split="test")
    assert detect([*rows, *final]) == detect(rows) == ()


def test_two_runs_at_once_are_refused() -> None:
    other = UpdateRecord("s", "c", 1, "rl", 1, "T1", {"success": 0.1})
    with pytest.raises(ValueError, match="one run at a time"):
        detect([*updates(3), other])
    assert detect([]) == ()


@pytest.mark.parametrize("name", vars(CollapseThresholds()))
def test_thresholds_that_mean_nothing_are_refused_by_name(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        CollapseThresholds(**{name: 0})


def test_findings_are_records() -> None:
    assert all(isinstance(row, CollapseRecord) for row in detect(updates(success=late(0.5, 0.0))))
