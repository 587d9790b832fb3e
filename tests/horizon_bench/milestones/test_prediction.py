from dataclasses import replace

import numpy as np
import pytest

from curricula import load_bank
from horizon_bench.envs.settings import Settings
from horizon_bench.milestones import predict_success, solver_plan
from horizon_bench.milestones.plan import MilestonePlan
from horizon_bench.milestones.prediction import area_under_curve
from horizon_bench.policies import make_policy
from horizon_bench.rollout import rollout


@pytest.fixture(scope="module")
def episodes():
    policy = make_policy("noisy-expert", error_rate=0.2)
    return rollout(policy, load_bank("T2", "validation")[:8], Settings(observation="compact", on_error="semi"), 4, 2)


@pytest.mark.parametrize(
    ("scores", "area"), [([1, 2, 3, 4], 1.0), ([4, 3, 2, 1], 0.0), ([1, 1, 1, 1], 0.5), ([1, 3, 2, 4], 0.75)]
)
def test_the_area_is_the_share_of_pairs_in_order(scores, area):
    positive = np.array([False, False, True, True])
    assert area_under_curve(np.array(scores, dtype=float), positive) == area


def test_progress_on_the_solvers_milestones_foretells_success(episodes):
    found = predict_success(episodes, "sudoku", 4, solver_plan, np.random.default_rng(0))
    assert found.episodes == len(episodes)
    assert found.solved == sum(one.solved for one in episodes)
    assert found.areas[2] > 0.8
    assert list(found.areas) == sorted(found.areas)
    assert all(low <= area <= high for low, area, high in zip(found.lows, found.areas, found.highs, strict=True))
    assert found.when_met > found.when_not


def test_milestones_that_nobody_meets_foretell_nothing(episodes):
    def never(puzzle, known):
        plan = solver_plan(puzzle, known)
        return MilestonePlan(tuple(replace(one, holds=lambda state, knowledge: False) for one in plan.milestones))

    found = predict_success(episodes, "sudoku", 4, never, np.random.default_rng(0))
    assert found.areas == (0.5, 0.5, 0.5)


def test_one_outcome_alone_is_refused(episodes):
    with pytest.raises(ValueError, match="all solved or all failed"):
        predict_success([one for one in episodes if one.solved], "sudoku", 4, solver_plan, np.random.default_rng(0))
