from __future__ import annotations

import json
import math
import pathlib
from typing import Any

import numpy as np
import pytest

from horizon_bench.credit import CreditBatch, update_diagnostics
from horizon_bench.credit.diagnostics import (
    correlation,
    isolation_correlation,
    pair_conflicts,
    partial_success_share,
    subgoal_contrast,
    used_shares,
    zero_shares,
)


def batch_of(episodes: list[dict[str, Any]]) -> tuple[CreditBatch, np.ndarray]:
    batch = CreditBatch.from_ragged(
        [[0.0] * len(episode["states"]) for episode in episodes],
        group=[episode["group"] for episode in episodes],
        states=[episode["states"] for episode in episodes],
        actions=[episode["actions"] for episode in episodes],
        subgoals_reached=[episode["milestones"] for episode in episodes],
    )
    return batch, np.array([value for episode in episodes for value in episode["advantages"]])


# From the shared tables (own evaluation of the article's definitions): partial cancellation, unequal sizes.
CANCELLING = [
    {"group": "g", "states": ["s", "t"], "actions": ["a", "b"], "advantages": [2.0, 2.0], "milestones": [0, 1]},
    {"group": "g", "states": ["s", "t"], "actions": ["a", "b"], "advantages": [-0.5, -0.5], "milestones": [0, 0]},
    {"group": "g", "states": ["s", "t"], "actions": ["a", "c"], "advantages": [-0.5, -0.5], "milestones": [0, 0]},
]


def test_shared_pairs_that_cancel_are_conflicts() -> None:
    batch, advantages = batch_of(CANCELLING)
    found = pair_conflicts(batch, advantages)
    assert (found.repeated, found.car) == (2, 1.0)
    assert found.egr == pytest.approx(2.5 / 5.5)
    assert zero_shares(batch, advantages) == (0.0, 0.0)
    assert subgoal_contrast(batch, advantages) == pytest.approx((2.0, 0.8, 2.5))


def test_every_shared_case_of_the_diagnostics_is_reproduced(shared_data: pathlib.Path) -> None:
    cases = json.loads((shared_data / "credit" / "diagnostics.json").read_text(encoding="utf8"))
    scopes = {"within_group": "group", "global": "batch"}
    rules = {"two_trajectories": "trajectories", "two_occurrences": "occurrences"}
    for case in cases:
        batch, advantages = batch_of(case["inputs"]["episodes"])
        expected = case["expected"]
        for scope, scope_name in scopes.items():
            for rule, rule_name in rules.items():
                found = pair_conflicts(batch, advantages, scope=scope_name, rule=rule_name)
                wanted = expected[f"{scope}/{rule}"]
                close([found.repeated, found.car, found.egr], [wanted[key] for key in ("n_shared", "car", "egr")], case)
        names = ("zar_turn", "zar_trajectory", "mean_abs_milestone", "mean_abs_other", "ccr")
        found_rest = [*zero_shares(batch, advantages), *subgoal_contrast(batch, advantages)]
        close(found_rest, [expected[name] for name in names], case)
    assert len(cases) >= 7


def close(found: list[float], expected: list[float | None], case: dict[str, Any]) -> None:
    wanted = [math.nan if value is None else value for value in expected]
    np.testing.assert_allclose(found, wanted, err_msg=case["id"], **case["tol"])


def test_a_pair_repeated_in_one_episode_only_counts_by_occurrences() -> None:
    batch = CreditBatch.from_ragged([[0.0, 0.0]], states=[["s", "s"]], actions=[["a", "a"]])
    advantages = np.array([1.0, -1.0])
    assert pair_conflicts(batch, advantages).repeated == 0
    assert math.isnan(pair_conflicts(batch, advantages).car)
    assert pair_conflicts(batch, advantages, rule="occurrences").car == 1.0


def test_pairs_of_two_groups_meet_only_in_the_whole_batch() -> None:
    batch = CreditBatch.from_ragged([[0.0], [0.0]], group=["g", "h"], states=[["s"], ["s"]], actions=[["a"], ["a"]])
    advantages = np.array([1.0, -3.0])
    assert pair_conflicts(batch, advantages).repeated == 0
    assert pair_conflicts(batch, advantages, scope="batch").egr == pytest.approx(0.5)


def test_used_decisions_have_an_advantage_and_a_weight() -> None:
    batch = CreditBatch.from_ragged([[0.0, 0.0], [0.0, 0.0]])
    advantages = np.array([1.0, 0.0, 2.0, -1.0])
    assert used_shares(batch, advantages) == (0.75, 1.0)
    assert used_shares(batch, advantages, np.array([1.0, 1.0, 0.0, 0.0])) == (0.25, 0.5)


def test_partial_success_is_a_subgoal_without_the_goal() -> None:
    batch = CreditBatch.from_ragged([[0.0, 1.0], [0.0, 0.0], [0.0]], subgoals_reached=[[1, 1], [1, 0], [0]])
    assert partial_success_share(batch) == pytest.approx(1 / 3)
    assert partial_success_share(batch, np.array([False, False, False])) == pytest.approx(2 / 3)


def test_isolation_by_hand() -> None:
    """First segments earn later 2 and 0: their advantages 1 and -1 follow exactly; one group, one segment number."""
    batch = CreditBatch.from_ragged([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]], subgoals_reached=[[1, 0, 1], [1, 0, 0]])
    assert isolation_correlation(batch, np.array([1.0, 9, 9, -1, 9, 9])) == pytest.approx(1)
    assert isolation_correlation(batch, np.array([-1.0, 9, 9, 1, 9, 9])) == pytest.approx(-1)
    assert math.isnan(isolation_correlation(batch, np.zeros(6)))


def test_correlation_needs_two_pairs_and_variance() -> None:
    assert math.isnan(correlation(np.array([1.0]), np.array([2.0])))
    assert math.isnan(correlation(np.array([1.0, 1.0]), np.array([2.0, 3.0])))
    assert correlation(np.array([1.0, 2.0]), np.array([5.0, 3.0])) == pytest.approx(-1)


def test_undefined_figures_are_left_out_of_the_record() -> None:
    batch = CreditBatch.from_ragged([[1.0], [0.0]])
    found = update_diagnostics(batch, np.array([1.0, -1.0]))
    assert "ccr" not in found
    assert found["zar"] == 0
    assert found["used_share"] == 1
    assert all(math.isfinite(value) for value in found.values())
    assert update_diagnostics(CreditBatch.from_ragged([]), np.zeros(0))["repeated_pairs"] == 0


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_figures_keep_their_meaning_at_any_size(size: float) -> None:
    assert correlation(size * np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0])) == pytest.approx(1)
    batch = CreditBatch.from_ragged([[0, size], [0, -size]])
    found = update_diagnostics(batch, batch.rewards)
    assert found["advantage_std"] == pytest.approx(size / math.sqrt(2))


def test_an_episode_that_could_not_be_scored_leaves_the_figures_defined() -> None:
    batch = CreditBatch.from_ragged([[0, math.nan], [0, 1], [0, 0]], subgoals_reached=[[1, 0], [1, 1], [1, 0]])
    assert all(math.isfinite(value) for value in update_diagnostics(batch, np.zeros(6)).values())
