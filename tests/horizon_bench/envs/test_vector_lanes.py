"""What a vector environment offers beside Gymnasium's own: lanes' attributes, masks, snapshots, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from horizon_bench.envs.batched_rush_hour import BatchedRushHour
from horizon_bench.envs.batched_sudoku import BatchedSudoku
from horizon_bench.envs.vector import PuzzleVectorEnv, add_finals, batch_infos, find_mode, make_vector
from horizon_bench.policies.expert import write_reply
from solvers import oracle

LANES = 3


def text_lanes(**arguments: Any) -> Any:
    return make_vector(LANES, level="T1", observation="text", **arguments)


def experts(vector: Any, count: int = 1) -> list[str]:
    return [
        write_reply(env.puzzle, oracle(env.puzzle, env.state).expert_moves(env.state)[:count]).text
        for env in vector.envs
    ]


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"level": "T1", "observation": "array"}, BatchedSudoku),
        ({"level": "R1", "observation": "array"}, BatchedRushHour),
        ({"level": "T1", "observation": "array", "on_error": "stay"}, PuzzleVectorEnv),
        ({"level": "T1"}, PuzzleVectorEnv),
        ({"level": "S1"}, PuzzleVectorEnv),
    ],
)
def test_the_kind_of_lanes_follows_the_form(arguments: dict[str, Any], kind: type) -> None:
    arguments = {"puzzle": {"T": "sudoku", "R": "rush-hour", "S": "shop"}[arguments["level"][0]], **arguments}
    vector = make_vector(2, **arguments)
    assert type(vector) is kind
    assert vector.num_envs == 2


def test_a_mode_is_taken_as_it_is_or_by_its_name() -> None:
    assert find_mode(AutoresetMode.DISABLED) is find_mode("Disabled") is AutoresetMode.DISABLED


def test_lanes_answer_by_attribute_and_by_method() -> None:
    vector = text_lanes()
    vector.reset(seed=4)
    states = vector.get_attr("state")
    assert states == vector.call("state")
    assert [id(state) for state in states] == [id(env.state) for env in vector.envs]
    assert len({str(state) for state in states}) == LANES
    vector.call("count_tokens", 7)
    infos = vector.step(experts(vector))[4]
    assert infos["tokens"].tolist() == [7] * LANES
    vector.count_tokens([1, 2, 3])
    assert vector.step(experts(vector))[4]["tokens"].tolist() == [8, 9, 10]


def test_masks_of_lanes_are_those_of_their_infos() -> None:
    vector = make_vector(LANES, puzzle="sudoku", level="T1", observation="array", on_error="stay")
    _, infos = vector.reset(seed=1)
    assert vector.action_masks().shape == infos["action_mask"].shape
    assert np.array_equal(vector.action_masks(), infos["action_mask"])
    first = vector.step(infos["action_mask"].argmax(axis=1))[4]["action_mask"]
    assert np.array_equal(vector.action_masks(), first)
    assert not np.array_equal(first, infos["action_mask"])


@pytest.mark.parametrize("observation", ["text", "array"])
def test_lanes_go_on_from_their_snapshots(observation: str) -> None:
    arguments = {"puzzle": "sudoku", "level": "T3", "observation": observation, "on_error": "stay"}
    vector, other = make_vector(LANES, **arguments), make_vector(LANES, **arguments)
    before = vector.reset(seed=2)
    snapshots = vector.get_state()
    assert len(snapshots) == LANES
    if observation == "text":
        actions: Any = experts(vector)
    else:
        actions = before[1]["action_mask"].argmax(axis=1)
    wanted = vector.step(actions)
    again = other.set_state(snapshots)
    np.testing.assert_equal(again[0], before[0])
    np.testing.assert_equal(again[1]["decisions"], before[1]["decisions"])
    found = other.step(actions)
    for left, right in zip(found, wanted, strict=True):
        np.testing.assert_equal(left, right)


def test_a_lane_set_to_the_end_begins_anew_with_the_next_step() -> None:
    vector = make_vector(2, puzzle="sudoku", level="T1")
    start = "1234341221434.2."
    vector.reset(seed=0, options={"instances": [start, start]})
    waiting = vector.get_state()
    vector.step(experts(vector))
    over = vector.step(experts(vector))
    assert over[2].tolist() == [True, True]
    ended = vector.get_state()
    vector.set_state([ended[0], waiting[1]])
    _, rewards, terminated, _, infos = vector.step(["nonsense", "nonsense"])
    # The first lane's word was not heard: a new episode began; the second lane's was, as a decision.
    assert infos["decisions"].tolist() == [0, 1]
    assert (rewards[0], terminated.tolist()) == (0.0, [False, False])


def test_pictures_and_closing_reach_every_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    vector = text_lanes(puzzle="sudoku", render_mode="ansi")
    vector.reset(seed=5)
    drawn = vector.render()
    assert drawn == tuple(env.render() for env in vector.envs)
    assert len(set(drawn)) == LANES
    closed: list[int] = []
    for lane, env in enumerate(vector.envs):
        monkeypatch.setattr(env, "close", lambda lane=lane: closed.append(lane))
    vector.close()
    assert closed == [0, 1, 2]


def test_what_does_not_fit_the_lanes_is_named() -> None:
    vector = text_lanes(puzzle="sudoku")
    with pytest.raises(ValueError, match="2 seeds for 3 lanes"):
        vector.reset(seed=[1, 2])
    with pytest.raises(ValueError, match="1 entries for 3 lanes"):
        vector.reset(options={"instances": ["1234341221434.2."]})
    with pytest.raises(ValueError, match=r"reset_mask has shape \(2,\)"):
        vector.reset(options={"reset_mask": np.ones(2, dtype=bool)})
    with pytest.raises(ValueError, match="type int64, must be"):
        vector.reset(options={"reset_mask": np.ones(3, dtype=np.int64)})
    vector.reset(seed=[1, 2, None])
    with pytest.raises(ValueError, match="2 actions for 3 lanes"):
        vector.step(["a", "b"])


def test_without_a_lane_there_is_nothing_to_tell() -> None:
    assert batch_infos([None, None]) == {}
    together: dict[str, Any] = {}
    add_finals(together, [None, None])
    assert together == {}
