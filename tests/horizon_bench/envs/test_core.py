"""Replies under each interface and error rule, hand-computed on one 4x4 Sudoku and one Rush Hour board."""

from __future__ import annotations

import random

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lights_out import LightsOut

import horizon_bench  # noqa: F401
from horizon_bench.testing import garbage

# 1 2 | 3 4
# 3 4 | 1 2
# ----+----     solution: r3c1 2, r4c1 4, r4c2 3, r4c4 1 (and r1c1 1)
START = "12343412.143..2."
BOARD = "AA...OP..Q.OPXXQ.OP..Q..B...CCB.RRR."


def make(**arguments):
    arguments = {"instance": START, **arguments}
    family = arguments.pop("family", "Sudoku")
    return gymnasium.make(f"horizon_bench/{family}-v0", **arguments).unwrapped


def wrong_start():
    """Return a start and a rule-legal wrong fill, found by search over the board."""
    env = make(instance=LOOSE)
    env.reset()
    for move in env.puzzle.moves(env.state):
        if env.oracle.distance_to_go(env.puzzle.apply(env.state, move)) is None:
            return env.puzzle.format_action(move)
    raise AssertionError("no wrong fill")


LOOSE = "12..3.....4....2"


def right(env, count=1):
    return " ".join(map(env.puzzle.format_action, env.oracle.plan(env.state)[:count]))


def test_expert_needs_exactly_the_distance():
    for family, instance in (("Sudoku", START), ("RushHour", BOARD)):
        env = make(family=family, instance=instance)
        _, info = env.reset(seed=0)
        steps = 0
        while not env.game.end_reason:
            _, reward, terminated, truncated, last = env.step(right(env))
            steps += 1
        assert (reward, terminated, truncated, last["goal"], steps) == (1.0, True, False, True, info["distance"])


def test_unreadable_reply_costs_a_decision_and_nothing_else():
    env = make()
    _, before = env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step("no idea")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert (info["format_ok"], info["legal"], info["decisions"], info["atomic_steps"]) == (False, False, 1, 0)
    assert (info["state_hash"], info["step_reward"]) == (before["state_hash"], -1.0)


def test_illegal_reply_is_refused_by_the_rules_with_a_reason():
    env = make()
    env.reset(seed=0)
    observation, *_, info = env.step("value(1, r3c1)")
    assert (info["format_ok"], info["legal"], info["illegal_actions"], info["atomic_steps"]) == (True, False, 1, 0)
    assert "refused value(1, r3c1)" in observation


def test_legality_never_looks_at_the_solution():
    wrong = wrong_start()
    env = make(instance=LOOSE, on_error="stay")
    env.reset(seed=0)
    observation, *_, info = env.step(wrong)
    assert (info["legal"], info["illegal_actions"], info["moves"]) == (True, 0, (wrong,))
    assert "refused" not in observation


@pytest.mark.parametrize(
    ("on_error", "reply", "end", "steps"),
    [
        ("strict", "wrong", "wrong", 1),
        ("strict", "illegal", "illegal", 0),
        ("strict", "garbage", "format", 0),
        ("end", "wrong", "wrong", 1),
        ("end", "illegal", "", 0),
        ("end", "garbage", "", 0),
        ("semi", "wrong", "wrong", 1),
        ("semi", "illegal", "", 0),
        ("semi", "garbage", "", 0),
        ("dead", "wrong", "", 1),
        ("stay", "wrong", "", 1),
        ("stay", "illegal", "", 0),
    ],
)
def test_error_rules(on_error, reply, end, steps):
    replies = {"wrong": wrong_start(), "illegal": "value(2, r1c1)", "garbage": "?"}
    env = make(instance=LOOSE, on_error=on_error)
    env.reset(seed=0)
    _, _, terminated, truncated, info = env.step(replies[reply])
    assert (info["end_reason"], terminated, truncated, info["atomic_steps"]) == (end, bool(end), False, steps)


@pytest.mark.parametrize(("on_error", "carried"), [("end", 1), ("stay", 1), ("dead", 1), ("semi", 2), ("strict", 1)])
def test_illegal_actions_inside_a_macro(on_error, carried):
    env = make(interface="macro", on_error=on_error)
    env.reset(seed=0)
    *_, info = env.step("value(2, r3c1) value(2, r4c1) value(4, r4c1)")
    assert info["atomic_steps"] == carried
    assert info["illegal_actions"] == 1
    assert info["end_reason"] == ("illegal" if on_error == "strict" else "")
    assert info["step_reward"] == pytest.approx(-1 / (carried + 1))


def test_wrong_fills_can_be_repaired_at_the_price_of_budget():
    wrong = wrong_start()
    env = make(instance=LOOSE, on_error="stay")
    env.reset(seed=0)
    distance = env.game.distance_to_go
    env.step(wrong)
    assert env.game.distance_to_go == distance
    while not env.game.end_reason:
        env.step(right(env))
    assert env.game.end_reason == "solved"
    assert env.game.atomic_steps == distance + 1


def test_dead_ends_where_nothing_new_is_legal():
    env = make(instance=LOOSE, on_error="dead", max_decisions=99, max_atomic_steps=99)
    env.reset(seed=0)
    generator = np.random.default_rng(3)
    while not env.game.end_reason:
        fills = env.workshop.plain.moves(env.state)
        env.step(env.puzzle.format_action(fills[generator.integers(len(fills))]))
    assert env.game.end_reason in ("dead", "solved")
    assert not env.workshop.plain.moves(env.state)


def test_a_macro_cannot_repair_a_dead_board():
    budgets = {"max_decisions": 99, "max_atomic_steps": 99}
    apart = make(instance=LOOSE, on_error="dead", **budgets)
    generator, fills = random.Random(0), []
    while apart.game.prepared is None or apart.game.end_reason == "solved":
        apart.reset(seed=0)
        fills.clear()
        while not apart.game.end_reason:
            fills.append(generator.choice(apart.workshop.plain.moves(apart.state)))
            apart.step(apart.puzzle.format_action(fills[-1]))
    together = make(instance=LOOSE, on_error="dead", interface="macro", **budgets)
    together.reset(seed=0)
    repair = fills[-1]._replace(digit=0)
    info = together.step(" ".join(map(together.puzzle.format_action, (*fills, repair))))[4]
    assert (info["end_reason"], len(info["moves"])) == ("dead", len(fills))


@pytest.mark.parametrize("on_error", ["strict", "end", "semi", "dead", "stay"])
@pytest.mark.parametrize("family", ["Sudoku", "RushHour"])
@pytest.mark.parametrize("seed", range(6))
def test_a_macro_is_its_actions_one_by_one_whatever_they_do(family, on_error, seed):
    """Right, wrong, illegal and repairing actions alike; after an illegal one, only `semi` goes on."""
    start = {"Sudoku": LOOSE, "RushHour": BOARD}[family]
    together, apart = (
        make(family=family, instance=start, on_error=on_error, interface=interface, reward="subgoal", budget_slack=6.0)
        for interface in ("macro", "atomic")
    )
    together.reset(seed=0), apart.reset(seed=0)
    puzzle, generator = together.puzzle, random.Random(seed)
    while not together.game.end_reason:
        state, written, total, illegal = together.state, [], 0.0, 0
        for _ in range(generator.randrange(1, 6)):
            legal = puzzle.moves(state)
            written.append(generator.choice(legal if legal and generator.random() < 0.9 else puzzle.all_moves()))
            state = puzzle.apply(state, written[-1]) if written[-1] in legal else state
        _, reward, *_, info = together.step(" ".join(map(puzzle.format_action, written)))
        for move in written:
            if apart.game.end_reason or (illegal and on_error != "semi"):
                break
            step = apart.step(puzzle.format_action(move))
            total, illegal = total + step[1], illegal + step[4]["illegal_actions"]
        if apart.game.end_reason == "max_decisions":
            return
        assert together.state == apart.state
        assert together.game.end_reason == apart.game.end_reason
        assert (reward, info["illegal_actions"]) == (pytest.approx(total), illegal)


@pytest.mark.parametrize(
    ("interface", "reply", "carried", "format_ok"),
    [
        ("atomic", 1, 1, True),
        ("atomic", 2, 0, False),
        ("macro", 3, 3, True),
        ("macro-capped-2", 3, 2, True),
        ("macro-capped-2", 1, 1, True),
        ("macro-stepwise", 3, 1, True),
        ("macro-fixed-2", 2, 2, True),
        ("macro-fixed-2", 1, 0, False),
        ("macro-fixed-2", 3, 0, False),
        ("macro-fixed-9", 5, 0, False),
    ],
)
def test_interfaces(interface, reply, carried, format_ok):
    env = make(instance="1.343412.143..2.", interface=interface)
    env.reset(seed=0)
    *_, info = env.step(right(env, reply) if reply != 5 else right(env, 4))
    assert (info["atomic_steps"], info["format_ok"]) == (carried, format_ok)


def test_fixed_macros_may_be_short_at_the_goal():
    env = make(interface="macro-fixed-9")
    env.reset(seed=0)
    *_, info = env.step(right(env, 9))
    assert (info["end_reason"], info["format_ok"]) == ("solved", True)


def test_rush_hour_macros_move_several_cells():
    env = make(family="RushHour", instance=BOARD, interface="macro")
    env.reset(seed=0)
    *_, info = env.step("move(C, left, 3)")
    assert (info["atomic_steps"], info["actions_written"], info["moves"]) == (3, 3, ("move(C, left, 1)",) * 3)
    env = make(family="RushHour", instance=BOARD, interface="atomic")
    env.reset(seed=0)
    assert not env.step("move(C, left, 3)")[4]["format_ok"]


@pytest.mark.parametrize("halves", [("what(2)", "where(r3c1)"), ("2", "r3c1"), ("I pick WHAT( 2 )", "Where(R3C1)")])
def test_split_takes_two_decisions(halves):
    env = make(interface="split")
    _, info = env.reset(seed=0)
    observation, *_, first = env.step(halves[0])
    assert (first["decisions"], first["atomic_steps"], first["legal"]) == (1, 0, True)
    assert "what(2)" in observation
    assert first["state_hash"] != info["state_hash"]
    *_, second = env.step(halves[1])
    assert (second["decisions"], second["atomic_steps"], second["moves"]) == (2, 1, ("value(2, r3c1)",))


def test_split_halves_are_graded_apart():
    env = make(interface="split")
    env.reset(seed=0)
    assert not env.step("what(7)")[4]["format_ok"]
    env.step("what(2)")
    *_, info = env.step("where(r1c1)")
    assert (info["format_ok"], info["legal"], info["atomic_steps"]) == (True, False, 0)
    assert env.game.pending is None
    env.step("what(2)")
    assert not env.step("where(nowhere)")[4]["format_ok"]
    assert env.game.pending == "2"


@pytest.mark.parametrize("unit", ["decisions", "atomic_steps", "tokens"])
def test_budgets_are_exact_and_truncate(unit):
    env = make(**{f"max_{unit}": 2})
    env.reset(seed=0)
    for used in (1, 2):
        env.count_tokens(1)
        _, _, terminated, truncated, info = env.step(right(env))
        assert (info[unit], terminated, truncated) == (used, False, used == 2)
    assert info["end_reason"] == f"max_{unit}"
    with pytest.raises(RuntimeError, match="reset"):
        env.step("value(1, r4c4)")


def test_a_reply_over_the_token_budget_is_not_carried_out():
    env = make(max_tokens=5)
    env.reset(seed=0)
    env.count_tokens(6)
    _, _, terminated, truncated, info = env.step(right(env))
    assert (terminated, truncated, info["atomic_steps"], info["end_reason"]) == (False, True, 0, "max_tokens")


def test_words_count_as_tokens_where_nobody_says_otherwise():
    env = make(observation="compact", interface="macro")
    env.reset(seed=0)
    assert env.step("r3c1 2 r4c1 4")[4]["tokens"] == 4


def test_a_macro_stops_at_its_atomic_budget():
    env = make(interface="macro", max_atomic_steps=2)
    env.reset(seed=0)
    _, _, terminated, truncated, info = env.step(right(env, 4))
    assert (info["atomic_steps"], terminated, truncated) == (2, False, True)


def test_a_macro_may_stop_at_a_subgoal():
    env = make(interface="macro", stop_at_subgoal=True)
    env.reset(seed=0)
    *_, info = env.step("value(1, r4c4) value(2, r3c1)")
    assert (info["atomic_steps"], len(info["subgoals_reached"])) == (1, 1)


def test_default_budgets_follow_the_distance():
    assert [make(interface=name).game.budgets(make().workshop.prepare(START)) for name in ("atomic", "split")] == [
        (6, 6),
        (12, 6),
    ]


@pytest.mark.parametrize(
    ("thought", "reply", "format_ok", "void", "steps"),
    [
        ("none", "<think> b1 9 </think> r3c1 2", True, False, 1),
        ("free", "<think> b1 9 </think> r3c1 2", True, False, 1),
        ("checked", "<think> b3 2 3 4 </think> r3c1 2", True, False, 1),
        ("checked", "<think> b3 2 3 </think> r3c1 2", True, True, 0),
        ("checked", "<think> hm </think> r3c1 2", False, False, 0),
        ("checked", "r3c1 2", False, False, 0),
    ],
)
def test_thoughts(thought, reply, format_ok, void, steps):
    env = make(thought=thought, observation="compact")
    env.reset(seed=0)
    observation, *_, info = env.step(reply)
    assert (info["format_ok"], info["void"], info["atomic_steps"]) == (format_ok, void, steps)
    assert ("<void>" in observation) == (steps == 0)


def test_puzzles_without_thoughts_refuse_to_check_them():
    with pytest.raises(ValueError, match="checks no thoughts"):
        make(family="RushHour", instance=BOARD, thought="checked")


class Puzzle(LightsOut):
    """A puzzle that happens to be called as the base class is."""

    def check_thought(self, state: object, thought: str) -> bool:
        return "lit" in thought


def test_any_puzzle_that_checks_thoughts_is_asked():
    env = make(family="Puzzle", puzzle=Puzzle, instance="111010000", thought="checked")
    env.reset(seed=0)
    assert env.step("<think> all dark </think> press(r1c1)")[4]["void"]
    assert env.step("<think> lit </think> press(r1c1)")[4]["legal"]


def test_void_replies_end_the_episode_on_request():
    env = make(on_error="semi", on_void="end")
    env.reset(seed=0)
    assert env.step("?")[4]["end_reason"] == "format"


def test_actions_fail_by_chance_at_the_stated_rate():
    env = make(family="RushHour", instance=BOARD, failure_probability=0.3, max_decisions=4000, max_atomic_steps=4000)
    env.reset(seed=1)
    failed = 0
    for number in range(1000):
        *_, info = env.step(
            "move(A, right, 1)" if env.puzzle.moves(env.state)[0] and number % 2 == 0 else "move(A, left, 1)"
        )
        failed += info["failed_actions"]
    tried = failed + env.game.atomic_steps
    assert 0.25 < failed / tried < 0.35


def test_memory_keeps_two_turns_without_their_thoughts():
    env = make()
    env.reset(seed=0)
    env.step("<think>secret</think> First reason. Action: value(1, r3c1)")
    env.step("<think>secret</think> Second reason. Action: value(3, r3c1)")
    observation, *_ = env.step("<think>secret</think> Third reason. Action: value(1, r4c4)")
    assert "secret" not in observation
    assert "First" not in observation
    assert "- Second reason. Action: value(3, r3c1)" in observation
    assert "- Third reason. Action: value(1, r4c4)" in observation


@given(text=st.one_of(garbage(), st.text(max_size=200)), interface=st.sampled_from(["atomic", "macro", "split"]))
@settings(max_examples=60)
def test_any_reply_costs_at_most_one_decision_and_the_observation_stays_in_its_space(text, interface):
    env = make(interface=interface)
    env.reset(seed=0)
    observation, *_, info = env.step(text)
    assert info["decisions"] == 1
    assert env.observation_space.contains(observation)


def test_a_thousand_long_replies_grow_nothing():
    env = make(on_error="stay", max_decisions=10**6)
    generator = np.random.default_rng(0)
    env.reset(seed=0)
    for _ in range(1000):
        piece = "".join(map(chr, generator.integers(1, 0xD7FF, 12)))
        observation, *_, info = env.step(f"```\n<think>{piece * 200}```" * 3)
        assert not info["format_ok"]
    assert len(observation) < 2000
    assert info["decisions"] == 1000
