"""The shop's oracle: exact against exhaustive search, phases in order, fair expert moves."""

from __future__ import annotations

from collections import defaultdict, deque

import numpy as np
import pytest

import solvers
from curricula.shop import random_wish
from puzzles.shop import Move, Shop, ShopState
from puzzles.shop_text import write_wishes
from solvers.base import Oracle
from solvers.shop import PHASES, ShopOracle, guide, rarest_words

SHOP = Shop()


def exhaustive(puzzle: Shop, start: ShopState) -> dict[ShopState, int | None]:
    """Return the distance of every state; choices that no wish names are left out, for they change nothing."""
    wanted = {value for wish in start.wishes for value in wish.choices}
    before: dict[ShopState, list[ShopState]] = defaultdict(list)
    seen, waiting = {start}, [start]
    while waiting:
        state = waiting.pop()
        for move in puzzle.moves(state):
            if move.operation != "choose" or move.argument in wanted:
                after = puzzle.apply(state, move)
                before[after].append(state)
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
    found = {state: 0 for state in seen if puzzle.solved(state)}
    queue = deque(found)
    while queue:
        state = queue.popleft()
        for earlier in before[state]:
            if earlier not in found:
                found[earlier] = found[state] + 1
                queue.append(earlier)
    return {state: found.get(state) for state in seen}


@pytest.mark.parametrize("seed", [0, 1])
def test_distances_are_those_of_exhaustive_search(seed):
    puzzle = Shop(14, seed)
    wish = random_wish(np.random.default_rng(seed), puzzle)
    start = ShopState((wish._replace(options=(*wish.options[:1], "", "", "")),))
    oracle = ShopOracle(puzzle, start)
    distances = exhaustive(puzzle, start)
    assert len(distances) > 1000
    assert {state: oracle.distance_to_go(state) for state in distances} == distances


def test_plans_take_the_stated_distance_and_pass_the_phases_in_order():
    generator = np.random.default_rng(5)
    for count in (1, 2, 3) * 5:
        start = SHOP.parse(write_wishes(tuple(random_wish(generator, SHOP) for _ in range(count))))
        oracle = solvers.oracle(SHOP, start)
        assert isinstance(oracle, Oracle)
        state, reached = start, []
        for move in oracle.plan(start):
            assert move in oracle.expert_moves(state)
            own = oracle.own_subgoal(state, move)
            state = SHOP.apply(state, move)
            done = oracle.subgoals_done(state)
            assert own is not None
            reached += [phase for phase, held in enumerate(done) if held and phase not in reached]
        assert SHOP.solved(state)
        assert SHOP.score(state) == 1.0
        assert reached == list(range(len(PHASES) * count))
        assert oracle.expert_moves(state) == ()


def test_a_wrong_purchase_puts_the_goal_out_of_reach():
    oracle = ShopOracle(SHOP, SHOP.parse("lumen handmade jacket <=5 small; albero quiet towel <=55"))
    state = oracle.start
    for move in (*oracle.plan(state)[:2], Move("buy", "now")):
        state = SHOP.apply(state, move)
    assert oracle.distance_to_go(state) is None
    assert oracle.plan(state) is None
    assert oracle.expert_moves(state) == ()
    assert 0 < SHOP.score(state) < 0.5


def test_impossible_wishes_are_refused_with_the_reason():
    with pytest.raises(ValueError, match="no product meets it"):
        ShopOracle(Shop(5), Shop(5).parse("quill bamboo vase <=5"))


def test_a_wish_that_no_search_lists_is_refused(monkeypatch):
    shop = Shop(5, 77)
    monkeypatch.setattr(shop.catalogue, "rank", lambda query: ())
    with pytest.raises(ValueError, match="no search lists a product that meets it"):
        ShopOracle(shop, shop.parse(shop.examples()[0]))


def test_an_expert_searches_for_the_two_rarest_words_where_that_is_best():
    generator = np.random.default_rng(2)
    for _ in range(50):
        wish = random_wish(generator, SHOP)
        known, rarest = guide(SHOP, wish), rarest_words(SHOP, wish)
        if known.distance is not None and known.turns(rarest) == known.fewest:
            assert known.searches == (rarest,)
