"""Vector environments give each lane what a single environment with that lane's seed gives."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon_bench.envs.batched_rush_hour import BatchedRushHour
from horizon_bench.envs.batched_sudoku import BatchedSudoku
from horizon_bench.envs.vector import PuzzleVectorEnv, lane_seeds

LANES = 3
FORMS = {
    "Sudoku": {"level": "T1"},
    "RushHour": {"level": "R1"},
}
NONE = {"distance_to_go", "own_subgoal"}


def make_singles(family, arguments):
    return [gymnasium.make(f"horizon_bench/{family}-v0", **arguments).unwrapped for _ in range(LANES)]


def entry(infos, key, lane):
    """Return a lane's info entry in the single environment's form."""
    value = infos[key][lane]
    if key == "subgoals_reached" and not isinstance(value, tuple):
        return () if value < 0 else (int(value),)
    if key in NONE and not infos[f"_{key}"][lane]:
        return None
    return value


def assert_lane(infos, lane, info, batched):
    for key, value in info.items():
        if key in ("moves", "state_hash") and batched:
            continue
        assert infos[f"_{key}"][lane] or (batched and key in ("distance_to_go", "own_subgoal", "subgoals_reached"))
        found = entry(infos, key, lane)
        if key == "subgoals_done":
            assert tuple(found)[: len(value)] == tuple(value)
            assert not any(tuple(found)[len(value) :])
        else:
            np.testing.assert_equal(found, value, err_msg=key)


def choose(info, choice):
    """Return any action for most draws, a legal one for the others."""
    legal = np.flatnonzero(info["action_mask"])
    return int(legal[choice % len(legal)]) if choice % 4 and len(legal) else choice % len(info["action_mask"])


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("family", FORMS)
@given(
    seed=st.integers(0, 2**32),
    choices=st.lists(st.integers(0, 9999), min_size=1, max_size=14),
    reward=st.sampled_from(["outcome", "subgoal", "potential", "step"]),
    on_error=st.sampled_from(["strict", "end", "semi"]),
    vectorization=st.sampled_from(["batched", "lanes"]),
)
@settings(max_examples=15)
def test_lanes_equal_single_environments(family, mode, seed, choices, reward, on_error, vectorization):
    arguments = {**FORMS[family], "observation": "array", "reward": reward, "on_error": on_error}
    singles = make_singles(family, arguments)
    if vectorization == "batched":
        vector = gymnasium.make_vec(f"horizon_bench/{family}-v0", LANES, autoreset_mode=mode, **arguments)
        assert isinstance(vector, BatchedSudoku | BatchedRushHour)
    else:
        vector = PuzzleVectorEnv(make_singles(family, arguments), AutoresetMode(mode))
    batched = vectorization == "batched"
    observations, infos = vector.reset(seed=seed)
    expected = [single.reset(seed=each) for single, each in zip(singles, lane_seeds(seed, LANES), strict=True)]
    over = [False] * LANES
    for lane, (observation, info) in enumerate(expected):
        np.testing.assert_array_equal(observations[lane], observation)
        assert_lane(infos, lane, info, batched)
    for choice in choices:
        current = [info for *_, info in expected]
        actions = np.array([choose(info, choice + 7 * lane) for lane, info in enumerate(current)])
        observations, rewards, terminated, truncated, infos = vector.step(actions)
        assert observations in vector.observation_space
        for lane, single in enumerate(singles):
            if over[lane] and mode == "NextStep":
                observation, info = expected[lane] = single.reset()
                result = (0.0, False, False)
            else:
                observation, *result, info = single.step(int(actions[lane]))
                expected[lane] = (observation, info)
                if mode == "SameStep" and (result[1] or result[2]):
                    np.testing.assert_array_equal(infos["final_obs"][lane], observation)
                    assert_lane(infos["final_info"], lane, info, batched)
                    observation, info = expected[lane] = single.reset()
                elif "_final_obs" in infos:
                    assert not infos["_final_obs"][lane]
            assert (rewards[lane], terminated[lane], truncated[lane]) == pytest.approx(tuple(result))
            np.testing.assert_array_equal(observations[lane], observation)
            assert_lane(infos, lane, info, batched)
            over[lane] = bool(result[1] or result[2])
        if batched:
            hashes = vector.state_hashes()
            assert [int(each) for each in hashes] == [single.game.state_hash() for single in singles]


@pytest.mark.parametrize("observation", ["text", "compact"])
def test_text_lanes_equal_single_environments(observation):
    arguments = {"level": "T2", "interface": "macro", "observation": observation}
    vector = gymnasium.make_vec("horizon_bench/Sudoku-v0", LANES, **arguments)
    singles = make_singles("Sudoku", arguments)
    observations, _ = vector.reset(seed=5)
    expected = [single.reset(seed=each) for single, each in zip(singles, lane_seeds(5, LANES), strict=True)]
    assert observations == tuple(observation for observation, _ in expected)
    assert observations in vector.observation_space
    for _ in range(3):
        replies = [single.puzzle.format_action(single.oracle.plan(single.state)[0]) for single in singles]
        observations, rewards, terminated, _, infos = vector.step(replies)
        for lane, (single, reply) in enumerate(zip(singles, replies, strict=True)):
            observation, reward, ended, _, info = single.step(reply)
            assert (observations[lane], rewards[lane], terminated[lane]) == (observation, reward, ended)
            assert_lane(infos, lane, info, batched=False)


def test_seeds_of_lanes_are_not_shifted_copies():
    assert len({*lane_seeds(0, 8), *lane_seeds(1, 8)}) == 16
    assert lane_seeds(3, 4) == lane_seeds(3, 8)[:4]


def test_groups_start_from_given_instances():
    vector = gymnasium.make_vec("horizon_bench/Sudoku-v0", 2, size=4, level="T1")
    start = "1234341221434.2."
    observations, infos = vector.reset(seed=0, options={"instances": [start, start]})
    assert observations[0] == observations[1]
    assert infos["distance"].tolist() == [2, 2]


def test_a_mask_resets_only_its_lanes():
    arguments = {"level": "T1", "observation": "array", "on_error": "strict", "autoreset_mode": "Disabled"}
    vector = gymnasium.make_vec("horizon_bench/Sudoku-v0", 2, **arguments)
    _, infos = vector.reset(seed=1)
    actions = infos["action_mask"].argmin(axis=1)
    assert vector.step(actions)[2].all()
    with pytest.raises(RuntimeError, match="reset_mask"):
        vector.step(actions)
    _, infos = vector.reset(options={"reset_mask": np.array([True, True])})
    assert infos["decisions"].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gymnasium.make_vec("horizon_bench/Sudoku-v0", 2, level="T1", autoreset_mode="nextstep"), "NextStep"),
        (lambda: gymnasium.make_vec("horizon_bench/Sudoku-v0", 0, level="T1"), "at least 1"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_wrong_actions_and_seeds_are_named():
    vector = gymnasium.make_vec("horizon_bench/Sudoku-v0", 2, level="T1", observation="array")
    with pytest.raises(ValueError, match="one for each"):
        vector.reset(seed=[1, 2, 3])
    vector.reset(seed=1)
    with pytest.raises(ValueError, match="must be 0 to 63"):
        vector.step(np.array([0, 64]))
    with pytest.raises(ValueError, match="one index for each lane"):
        vector.step(np.array([0]))


def test_lanes_with_a_token_budget_count_their_tokens():
    vector = gymnasium.make_vec("horizon_bench/Sudoku-v0", 2, level="T5", observation="array", max_tokens=5)
    _, infos = vector.reset(seed=1)
    vector.unwrapped.count_tokens([2, 5])
    truncated, infos = vector.step(infos["action_mask"].argmax(axis=1))[3:]
    assert (infos["tokens"].tolist(), truncated.tolist()) == ([2, 5], [False, True])


def test_masks_handed_out_never_change():
    vector = gymnasium.make_vec(
        "horizon_bench/Sudoku-v0", 4, level="T5", observation="array", autoreset_mode="SameStep"
    )
    _, infos = vector.reset(seed=0)
    kept, parts, wanted = [], [], []
    for step in range(12):
        mask = infos["action_mask"]
        if step % 2:
            kept.append(mask)
        else:
            parts.append(mask[1:3])
        wanted.append((mask if step % 2 else mask[1:3]).tolist())
        actions = mask.argmax(axis=1)
        del mask
        _, _, _, _, infos = vector.step(actions)
    assert [part.tolist() for part in parts] == wanted[::2]
    assert [mask.tolist() for mask in kept] == wanted[1::2]
    assert not any(np.shares_memory(one, other) for one in parts for other in kept)
