from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from horizon_bench.credit import ESTIMATORS, CreditBatch
from horizon_bench.episodes import Episode, Turn

TURN = Turn(
    observation="1...",
    reply="r1c2 2",
    prompt_ids=np.array([1, 2]),
    reply_ids=np.array([3, 4]),
    sampling_logprobs=np.array([-0.5, -0.25], dtype=np.float32),
    entropy=0.5,
    capped=False,
    format_ok=True,
    legal=True,
    actions_written=1,
    moves=("value(2, r1c2)",),
    illegal_actions=0,
    reward=0.0,
    step_reward=0.0,
    subgoals_reached=(),
    own_subgoal=0,
    state_hash=2**64 - 1,
    distance_before=3,
    distance_after=2,
)


def episode(*turns: Turn, group: int = 0, attempt: int = 0, solved: bool = False) -> Episode:
    return Episode(
        instance_key="k",
        start="1...",
        level="T1",
        distance=4,
        group=group,
        attempt=attempt,
        turns=turns,
        solved=solved,
        terminated=solved,
        truncated=not solved,
        end_reason="solved" if solved else "max_decisions",
    )


def test_episodes_become_flat_arrays_in_order() -> None:
    first = episode(
        TURN,
        replace(TURN, own_subgoal=1, step_reward=-0.5, moves=()),
        replace(TURN, reward=1.0, subgoals_reached=(0, 1), own_subgoal=0, state_hash=5),
        group=7,
        solved=True,
    )
    batch = CreditBatch.from_episodes([first, episode(TURN, group=8)], values=[0.1, 0.2, 0.3, 0.4])
    assert batch.offsets.tolist() == [0, 3, 4]
    assert batch.group.tolist() == [7, 8]
    assert batch.rewards.tolist() == [0, 0, 1, 0]
    assert batch.step_rewards.tolist() == [0, -0.5, 0, 0]
    assert batch.subgoals_reached.tolist() == [0, 0, 2, 0]
    assert batch.own_subgoal_turn.tolist() == [2, 2, 2, -1]
    assert batch.terminated.tolist() == [True, False]
    assert batch.states[0] == batch.states[1] == batch.states[3] == -1
    assert batch.states[2] == 5
    assert batch.actions[0] == batch.actions[2] != batch.actions[1]


def test_work_on_a_subgoal_completed_before_earns_no_own_credit() -> None:
    played = episode(replace(TURN, subgoals_reached=(0,)), TURN)
    assert CreditBatch.from_episodes([played]).own_subgoal_turn.tolist() == [0, -1]


def test_action_labels_agree_between_batches() -> None:
    one, other = (CreditBatch.from_episodes([episode(TURN)]) for _ in range(2))
    assert one.actions.tolist() == other.actions.tolist()


def test_no_episodes_make_an_empty_batch() -> None:
    assert CreditBatch.from_episodes([]).turns == 0


def test_ragged_lists_take_any_labels() -> None:
    batch = CreditBatch.from_ragged([[1.0], [0.0, 2.0]], group=["x", "y"], states=[["s"], ["t", "s"]])
    assert batch.group.tolist() == [0, 1]
    assert batch.states.tolist() == [0, 1, 0]
    assert batch.group_of_turn.tolist() == [0, 1, 1]
    assert batch.turn_in_episode.tolist() == [0, 0, 1]
    assert [row.tolist() for row in batch.split(batch.rewards)] == [[1.0], [0.0, 2.0]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"offsets": [0, 2, 1]}, "offsets must rise from 0"),
        ({"offsets": [1, 2, 3]}, "offsets must rise from 0"),
        ({"group": [0]}, r"group has shape \(1,\), but the offsets ask for \(2,\)"),
        ({"rewards": [0.0]}, r"rewards has shape \(1,\), but the offsets ask for \(3,\)"),
        ({"values": [0.0] * 4}, r"values has shape \(4,\)"),
        ({"final_values": [0.0] * 3}, r"final_values has shape \(3,\)"),
        ({"own_subgoal_turn": [0, -1, 5]}, "own_subgoal_turn of decision 2 is 5"),
        ({"own_subgoal_turn": [-1, -1, 0]}, "own_subgoal_turn of decision 2 is 0"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change: dict[str, list[float]], message: str) -> None:
    batch = CreditBatch.from_ragged([[1.0], [0.0, 2.0]])
    with pytest.raises(ValueError, match=message):
        replace(batch, **{name: np.array(value) for name, value in change.items()})


def test_rows_of_other_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="episodes have lengths"):
        CreditBatch.from_ragged([[1.0], [0.0, 2.0]], states=[["s"], ["t"]])


def test_padded_arrays_become_ragged_and_back() -> None:
    mask = np.array([[True, True], [True, False], [False, False]])
    rewards = np.array([[1.0, 2.0], [3.0, 99.0], [99.0, 99.0]])
    batch = CreditBatch.from_padded(mask, {"rewards": rewards}, {"group": [4, 4, 5], "terminated": [True, False, True]})
    assert batch.rewards.tolist() == [1, 2, 3]
    assert batch.group.tolist() == [4, 4, 5]
    assert batch.padded(batch.rewards).tolist() == [[1, 2], [3, 0], [0, 0]]
    with pytest.raises(ValueError, match="decisions before its padding"):
        CreditBatch.from_padded(~mask, {"rewards": rewards})
    with pytest.raises(ValueError, match=r"rewards has shape \(3,\)"):
        CreditBatch.from_padded(mask, {"rewards": rewards[:, 0]})


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), 1e306, float("nan")])
@pytest.mark.parametrize("name", ["rewards", "step_rewards", "values"])
def test_numbers_that_no_sum_survives_are_refused(name: str, number: float) -> None:
    fields = {"rewards": [[0.0, 0.0]], name: [[0.0, number]]}
    if name == "rewards" and np.isnan(number):
        assert np.isnan(CreditBatch.from_ragged(**fields).rewards[1])
        return
    with pytest.raises(ValueError, match=f"{name} hold .* at entry 1"):
        CreditBatch.from_ragged(**fields)


def test_unknown_and_missing_fields_of_padded_arrays_are_named() -> None:
    mask, rewards = [[True, True, False]], {"rewards": [[1, 2, 3]]}
    with pytest.raises(ValueError, match="unknown field of per_turn 'reward'; did you mean 'rewards'"):
        CreditBatch.from_padded(mask, {"reward": [[1, 2, 3]]})
    with pytest.raises(ValueError, match="unknown field of per_episode 'grop'; did you mean 'group'"):
        CreditBatch.from_padded(mask, rewards, {"grop": [0]})
    with pytest.raises(ValueError, match="lacks `rewards`"):
        CreditBatch.from_padded(mask, {"states": [[1, 2, 3]]})


def test_a_negative_number_of_subgoals_is_refused() -> None:
    with pytest.raises(ValueError, match="subgoals_reached of decision 1 is -1"):
        CreditBatch.from_ragged([[0.0, 0.0]], subgoals_reached=[[0, -1]])


def test_the_value_behind_a_terminated_episode_may_be_anything() -> None:
    rewards, values = [[0.0, 1.0], [0.0]], [[0.0, 0.0], [0.0]]
    batch = CreditBatch.from_ragged(rewards, values=values, final_values=[np.nan, 2.0], terminated=[True, False])
    np.testing.assert_allclose(ESTIMATORS["ppo"](batch, gamma=1.0, lam=1.0), [1, 1, 2])
