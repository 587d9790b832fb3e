"""Shopping lists made to order, and the shipped banks of the shop."""

from __future__ import annotations

import numpy as np
import pytest

import solvers
from curricula.banks import load_bank
from curricula.levels import LEVELS
from curricula.making import make_instance
from curricula.shop import generate
from curricula.verifying import row_faults
from puzzles.shop import Shop
from solvers.shop import guide, rarest_words

SHOP = Shop()
NAMES = [level.name for level in LEVELS.values() if level.puzzle == "shop"]


@pytest.mark.parametrize("span", [(3, 3), (5, 6), (9, 9), (20, 24)])
def test_lists_have_the_distance_asked_for_and_can_be_known(span):
    for seed in range(3):
        start = SHOP.parse(generate(*span, np.random.default_rng(seed)))
        assert span[0] <= solvers.oracle(SHOP, start).distance <= span[1]
        for wish in start.wishes:
            assert guide(SHOP, wish).searches == (rarest_words(SHOP, wish),)


@pytest.mark.parametrize("span", [(0, 4), (5, 4), (1, 2), (45, 60)])
def test_ranges_out_of_reach_are_refused(span):
    with pytest.raises(ValueError, match="the range of actions must satisfy"):
        generate(*span, np.random.default_rng(0))


def test_a_hopeless_budget_is_named():
    with pytest.raises(ValueError, match="no shopping list of 24 to 24 actions found in 1 tries"):
        generate(24, 24, np.random.default_rng(0), max_tries=1)


def test_the_same_seed_gives_the_same_instance():
    level = LEVELS["S2"]
    assert make_instance(level, 3, 5) == make_instance(level, 3, 5)
    assert make_instance(level, 3, 5).start != make_instance(level, 3, 6).start


@pytest.mark.parametrize("name", NAMES)
def test_the_expert_solves_every_test_instance_in_exactly_the_stated_distance(name):
    for instance in load_bank(name, "test"):
        state = SHOP.parse(instance.start)
        plan = solvers.oracle(SHOP, state).plan(state)
        for move in plan:
            state = SHOP.apply(state, move)
        assert SHOP.solved(state)
        assert len(plan) == instance.distance
        assert LEVELS[name].low <= instance.distance <= LEVELS[name].high


@pytest.mark.parametrize("name", NAMES)
def test_shipped_rows_are_proven(name):
    for split in ("train", "validation", "test"):
        assert [fault for row in load_bank(name, split)[:5] for fault in row_faults(row)] == []
