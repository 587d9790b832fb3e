"""Split actions: halves of any puzzle's actions, in any form that the puzzle reads."""

from __future__ import annotations

import pytest

from horizon_bench.envs import PuzzleEnv
from horizon_bench.envs.parsing import ReplyParser
from horizon_bench.envs.split import SplitReader, halves
from puzzles import Shop
from puzzles.shop import Move


def shop() -> PuzzleEnv:
    env = PuzzleEnv(puzzle="shop", instance="nordal insulated rug <=15 red", interface="split")
    env.reset(seed=0)
    return env


@pytest.mark.parametrize("argument", ["nordal rug", "rug nordal", "Rug,  Nordal", "where(rug nordal)"])
def test_an_argument_is_read_in_any_order_that_the_puzzle_reads(argument):
    env = shop()
    env.step("what(search)")
    info = env.step(argument)[4]
    assert info["moves"] == ("search(nordal rug)",)
    assert (info["decisions"], info["atomic_steps"]) == (2, 1)


def test_an_argument_that_the_rules_refuse_costs_the_decision_and_says_why():
    env = shop()
    env.step("what(search)")
    prompt, *_, info = env.step("where(red rug)")
    assert (info["legal"], info["atomic_steps"]) == (False, 0)
    assert "the index knows no 'red'" in prompt


def test_an_operation_of_another_page_is_refused_at_once():
    env = shop()
    info = env.step("what(buy)")[4]
    assert (info["format_ok"], info["legal"], info["decisions"]) == (True, False, 1)
    assert env.step("what(sell)")[4]["format_ok"] is False


def test_halves_of_one_argument_are_its_name_and_the_argument():
    assert halves(Shop(), Move("search", "nordal rug")) == ("search", "nordal rug")
    assert halves(Shop(), Move("buy", "now")) == ("buy", "now")


def test_moves_that_come_again_read_as_before() -> None:
    puzzle = Shop()
    reader = SplitReader(puzzle, ReplyParser(puzzle))
    state = puzzle.parse("nordal insulated rug <=15 red")
    assert puzzle.moves(state) is puzzle.moves(state)
    for reply in ("what(SEARCH)", "what(search)", "what(open)", "what(nothing)"):
        fresh = SplitReader(puzzle, ReplyParser(puzzle)).read(state, None, reply)
        assert [reader.read(state, None, reply) for _ in range(3)] == [fresh] * 3
    assert reader.read(state, None, "what(SEARCH)").pending == "search"
