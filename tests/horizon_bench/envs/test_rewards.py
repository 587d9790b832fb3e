"""Rewards by hand, and the potential's policy invariance by value iteration."""

from __future__ import annotations

import dataclasses
import itertools

import gymnasium
import pytest
from lights_out import LightsOut

from horizon_bench.envs import REWARDS, PuzzleEnv, RewardFacts

NOTHING = RewardFacts(None, (), 4, 0, 0.0, 0.0, 0.0, 0.9, False)


@pytest.mark.parametrize(
    ("reward", "changes", "expected"),
    [
        ("outcome", {}, 0.0),
        ("outcome", {"solved_at": 0, "moves": 1}, 1.0),
        ("outcome", {"solved_at": 2, "moves": 3, "discount_inside": True}, 0.81),
        ("subgoal", {"subgoals_at": (0, 1), "moves": 2}, 0.5),
        ("subgoal", {"subgoals_at": (0, 1), "moves": 2, "discount_inside": True}, 0.475),
        ("subgoal", {"subgoals_at": (1,), "solved_at": 1, "moves": 2}, 1.25),
        ("potential", {"potential_before": -1.0, "potential_after": -0.5, "moves": 2}, 0.55),
        ("potential", {"potential_before": -1.0, "potential_after": -0.5, "moves": 2, "discount_inside": True}, 0.595),
        ("step", {"step_reward": -0.5}, -0.5),
        ("step", {"step_reward": 0.0, "solved_at": 0, "moves": 1}, 1.0),
        ("score", {"moves": 1}, 0.0),
        ("score", {"score_gained": 0.5, "moves": 3}, 0.5),
        ("score", {"score_gained": 0.5, "moves": 3, "discount_inside": True}, 0.405),
    ],
)
def test_by_hand(reward, changes, expected):
    assert REWARDS[reward](NOTHING._replace(**changes)) == pytest.approx(expected)


def transitions(reward, gamma):
    """Return the reward and the next state of every legal move in every state of the 2x2 board."""
    env = PuzzleEnv(puzzle=LightsOut, size=2, instance="1000", reward=reward, gamma=gamma, max_decisions=9)
    env.reset(seed=0)
    snapshot = env.get_state()
    table = {}
    for state in itertools.product((False, True), repeat=4):
        if any(state):
            for move in env.puzzle.moves(state):
                env.set_state(dataclasses.replace(snapshot, state=state))
                table[state, move] = env.step(env.puzzle.format_action(move))[1], env.state
    return table


def best_moves(table, gamma):
    """Return the best moves of each state, by value iteration."""
    values = {state: 0.0 for state, _ in table}
    for _ in range(400):
        for state in values:
            options = [
                pay + gamma * values.get(after, 0.0) for (here, _), (pay, after) in table.items() if here == state
            ]
            values[state] = max(options)
    return {
        state: {
            move
            for (here, move), (pay, after) in table.items()
            if here == state and pay + gamma * values.get(after, 0.0) > values[state] - 1e-9
        }
        for state in values
    }


@pytest.mark.parametrize("gamma", [0.5, 0.9, 0.995])
def test_the_potential_changes_no_best_move(gamma):
    assert best_moves(transitions("potential", gamma), gamma) == best_moves(transitions("outcome", gamma), gamma)


def test_potential_of_an_episode_telescopes():
    env = gymnasium.make("horizon_bench/Sudoku-v0", level="T2", reward="potential", gamma=1.0).unwrapped
    env.reset(seed=0)
    total = 0.0
    while not env.game.end_reason:
        total += env.step(env.puzzle.format_action(env.oracle.plan(env.state)[0]))[1]
    assert total == pytest.approx(1.0 + 1.0)


def test_boxes_pay_once_and_only_when_right():
    env = gymnasium.make(
        "horizon_bench/Sudoku-v0", instance="12343412.143..2.", reward="subgoal", on_error="stay", budget_slack=20.0
    ).unwrapped
    env.reset(seed=0)
    assert env.step("value(1, r4c4)")[1] == pytest.approx(1 / 2)
    for _ in range(5):
        assert env.step("erase(r4c4)")[1] == 0.0
        assert env.step("value(1, r4c4)")[1] == 0.0
    rewards = [env.step(f"value({fill})")[1] for fill in ("3, r3c1", "2, r4c1", "4, r4c1", "2, r3c1", "3, r4c2")]
    assert rewards == pytest.approx([0.0, 0.0, 0.0, 0.0, 1.5])


@pytest.mark.parametrize("subgoals", ["distance", "blockers"])
def test_rush_hour_milestones_pay_once(subgoals):
    env = gymnasium.make(
        "horizon_bench/RushHour-v0",
        instance="AA...OP..Q.OPXXQ.OP..Q..B...CCB.RRR.",
        reward="subgoal",
        subgoals=subgoals,
        budget_slack=9.0,
    ).unwrapped
    env.reset(seed=0)
    total = sum(env.step(f"move(A, {way}, 1)")[1] for way in ("right", "left") * 6)
    assert total <= 1 / len(env.oracle.subgoals)
    while not env.game.end_reason:
        total += env.step(env.puzzle.format_action(env.oracle.plan(env.state)[0]))[1]
    assert total == pytest.approx(2.0)


@pytest.mark.parametrize(("bought", "paid"), [("small", 1.0), ("large", 2 / 3)])
def test_the_score_is_paid_at_the_purchase(bought, paid):
    env = PuzzleEnv(puzzle="shop", instance="lumen jacket <=80 small", reward="score")
    env.reset(seed=0)
    rewards = [env.step(reply)[1] for reply in ("search(lumen jacket)", "open(1)", f"choose({bought})", "buy(now)")]
    assert rewards == pytest.approx([0.0, 0.0, 0.0, paid])
