"""The Gymnasium side of an environment: resets, snapshots, infos, spaces, masks, and wrappers of others."""

from __future__ import annotations

import random
from functools import partial

import gymnasium
import numpy as np
import pytest

from horizon_bench.envs import PuzzleEnv

# 1 2 | 3 4
# 3 4 | 1 2
# ----+----     solution: r3c1 2, r4c1 4, r4c2 3, r4c4 1
START = "12343412.143..2."

make = partial(PuzzleEnv, instance=START)


def right(env, count=1):
    return " ".join(map(env.puzzle.format_action, env.oracle.plan(env.state)[:count]))


def test_snapshots_go_on_exactly_and_in_other_environments():
    arguments = {"failure_probability": 0.5, "interface": "macro", "on_error": "stay"}
    env, other = make(**arguments), make(**arguments)
    env.reset(seed=5)
    env.step(right(env, 1))
    snapshot = env.get_state()
    first = [env.step("value(4, r4c1) value(3, r4c2)") for _ in range(3)]
    env.set_state(snapshot)
    again = [env.step("value(4, r4c1) value(3, r4c2)") for _ in range(3)]
    other.set_state(snapshot)
    elsewhere = [other.step("value(4, r4c1) value(3, r4c2)") for _ in range(3)]
    assert first == again == elsewhere
    observation, info = env.set_state(snapshot)
    assert (info["decisions"], env.observation_space.contains(observation)) == (1, True)


def test_groups_repeat_the_instance():
    env = gymnasium.make("horizon_bench/Sudoku-v0", level="T3").unwrapped
    _, info = env.reset(seed=3)
    for _ in range(3):
        assert env.reset(options={"same_instance": True})[1]["instance_key"] == info["instance_key"]
    assert env.reset(options={"instance": START})[1]["distance"] == 4
    with pytest.raises(ValueError, match="did you mean 'instance'"):
        env.reset(options={"instanse": START})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (5, "must be a dict"),
        ({"instance": 5}, "must be the text of a start"),
        ({"same_instance": "yes"}, "must be True or False"),
        ({"instance": START, "same_instance": True}, "give one of them"),
    ],
)
def test_wrong_reset_options_are_named(options, message):
    env = make()
    env.reset(seed=0)
    with pytest.raises(ValueError, match=message):
        env.reset(options=options)


@pytest.mark.parametrize("tokens", [-1, 1.5, None, "3", True])
def test_token_counts_are_whole_numbers(tokens):
    with pytest.raises(ValueError, match="must be a whole number"):
        make().count_tokens(tokens)


def test_another_interface_takes_effect_within_the_episode():
    env = make(interface="split")
    env.reset(seed=0)
    env.step("what(2)")
    env.use_interface("atomic")
    observation, _, _, _, info = env.step("value(2, r3c1)")
    assert info["moves"] == ("value(2, r3c1)",)
    assert "Chosen so far" not in observation
    assert env.game.max_decisions == 6


@pytest.mark.parametrize("interface", ["atomic", "split"])
def test_a_step_before_the_first_reset_says_what_to_do(interface):
    with pytest.raises(RuntimeError, match="call reset"):
        make(interface=interface).step("value(1, r4c4)")


def test_info_is_fresh_and_complete():
    env = make()
    _, first = env.reset(seed=0)
    *_, second = env.step(right(env))
    assert first is not second
    assert set(first) == set(second)
    wanted = "decisions atomic_steps tokens distance_to_go subgoals_done subgoals_reached own_subgoal goal state_hash"
    wanted += " instance_key format_ok legal actions_written moves illegal_actions step_reward end_reason"
    assert set(wanted.split()) <= set(first)


def test_state_hashes_are_the_same_in_every_process():
    env = make()
    assert env.reset(seed=0)[1]["state_hash"] == 753954894084795986


def test_spaces_of_two_environments_draw_apart():
    env, other = make(), make()
    env.action_space.seed(1)
    other.action_space.seed(2)
    first, second = env.action_space.sample(), other.action_space.sample()
    env.action_space.seed(1)
    assert env.action_space.sample() == first != second


def test_third_party_wrappers_work():
    env = gymnasium.make("horizon_bench/Sudoku-v0", instance=START, interface="macro")
    env = gymnasium.wrappers.TransformReward(
        gymnasium.wrappers.RecordEpisodeStatistics(env), lambda reward: 10 * reward
    )
    env.reset(seed=0)
    _, reward, terminated, _, info = env.step(right(env.unwrapped, 4))
    assert (reward, terminated, info["episode"]["l"]) == (10.0, True, 1)
    vector = gymnasium.make_vec("horizon_bench/Sudoku-v0", 2, instance="12..3.....4....2", vectorization_mode="sync")
    vector.reset(seed=0)
    *_, infos = vector.step(["value(3, r1c4)", "?"])
    assert infos["distance_to_go"].tolist() == [None, 11]


def test_global_generators_stay_untouched():
    before, legacy = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    env = gymnasium.make("horizon_bench/RushHour-v0", level="R1", failure_probability=0.5)
    env.reset(seed=0)
    env.step("move(A, right, 1)")
    assert random.getstate() == before
    assert np.random.get_state()[1].tolist() == legacy  # noqa: NPY002


@pytest.mark.parametrize("observation", ["text", "compact"])
def test_compact_tokens_have_fixed_number(observation):
    env = make(observation=observation)
    first, _ = env.reset(seed=0)
    second, *_ = env.step("?")
    if observation == "compact":
        assert first.split() == [*START, "<ok>", "<atomic>"]
        assert second.split() == [*START, "<void>", "<atomic>"]
    assert env.observation_space.contains(first)
    assert env.observation_space.contains(second)


def test_masked_policies_find_their_masks():
    env = gymnasium.make("horizon_bench/Sudoku-v0", level="T2", observation="array")
    observation, info = env.reset(seed=0)
    masks = env.get_wrapper_attr("action_masks")()
    assert masks.tolist() == info["action_mask"].astype(bool).tolist()
    moves = env.unwrapped.puzzle.all_moves()
    assert {moves[index] for index in np.flatnonzero(masks)} == set(env.unwrapped.puzzle.moves(env.unwrapped.state))
    while True:
        action = env.action_space.sample(mask=info["action_mask"])
        observation, _, terminated, truncated, info = env.step(action)
        assert info["legal"]
        assert env.observation_space.contains(observation)
        if terminated or truncated:
            break
    with pytest.raises(ValueError, match="structured form only"):
        make().action_masks()


def test_array_macros():
    env = make(observation="array", interface="macro-capped-3")
    env.reset(seed=0)
    plan = [env.puzzle.all_moves().index(move) for move in env.oracle.plan(env.state)]
    *_, info = env.step(np.array([plan[0], plan[1], 64]))
    assert (info["atomic_steps"], info["legal"]) == (2, True)
    with pytest.raises(ValueError, match="is not in MultiDiscrete"):
        env.step(np.array([0, 0, 65]))
    with pytest.raises(ValueError, match="must be the reply as text"):
        make().step(3)
