from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from horizon_bench.mira.curriculum import draw_near_failures, kind_of, near_failures


@dataclass(frozen=True)
class Board:
    level: str
    grade: str


POOL = [Board("T2", "single"), Board("T3", "single"), Board("T3", "pair"), Board("T3", "single"), Board("T3", "single")]


def test_instances_near_a_failure_are_of_its_level_and_technique_with_success_in_reach() -> None:
    chances = np.array([0.5, 0.5, 0.5, 0.04, 0.75])
    weights = near_failures(POOL, [("T3", "single")] * 3, chances)
    assert weights.tolist() == [0, 0.5, 0, 0, 0.5]


def test_kinds_weigh_as_much_as_they_failed() -> None:
    weights = near_failures(POOL, [("T3", "single")] * 3 + [("T2", "single")], np.full(5, 0.3))
    assert weights.tolist() == [0.25, 0.25, 0, 0.25, 0.25]


@given(st.lists(st.floats(0, 1), min_size=5, max_size=5), st.lists(st.sampled_from(range(5)), max_size=6))
def test_weights_are_a_distribution_or_nothing(chances: list[float], failed: list[int]) -> None:
    kinds = [kind_of(POOL[index]) for index in failed]
    weights = near_failures(POOL, kinds, np.array(chances))
    assert weights.sum() == pytest.approx(1.0) or not weights.any()
    for board, chance, weight in zip(POOL, chances, weights, strict=True):
        assert not weight or (0.05 <= chance <= 0.75 and kind_of(board) in kinds)


def test_no_instance_is_drawn_twice_and_none_without_weight() -> None:
    weights = np.array([0.0, 0.5, 0.0, 0.25, 0.25])
    drawn = draw_near_failures(weights, 5, np.random.default_rng(0))
    assert sorted(drawn) == [1, 3, 4]
    assert draw_near_failures(weights, 0, np.random.default_rng(0)) == []
    assert draw_near_failures(np.zeros(3), 2, np.random.default_rng(0)) == []
