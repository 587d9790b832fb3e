"""Means over a hand-made batch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from horizon_bench.episodes import Episode, Turn
from horizon_bench.training.metrics import rollout_metrics

TURN = Turn(
    observation="",
    reply="",
    prompt_ids=np.zeros(2, np.int64),
    reply_ids=np.zeros(3, np.int64),
    sampling_logprobs=np.zeros(3, np.float32),
    entropy=0.5,
    capped=False,
    format_ok=True,
    legal=True,
    actions_written=2,
    moves=("a", "b"),
    illegal_actions=0,
    reward=0.0,
    step_reward=0.0,
    subgoals_reached=(),
    own_subgoal=None,
    state_hash=0,
    distance_before=2,
    distance_after=0,
)
BAD = replace(TURN, format_ok=False, legal=False, actions_written=0, moves=(), capped=True, entropy=1.5)
ILLEGAL = replace(TURN, legal=False, illegal_actions=1, moves=("a",))


def episode(group: int, turns: tuple[Turn, ...], solved: bool) -> Episode:
    return Episode("key", "start", "T1", 4, group, 0, turns, solved, True, False, "solved" if solved else "wrong")


def test_a_hand_made_batch() -> None:
    solved = episode(0, (TURN, replace(TURN, reward=1.0, subgoals_reached=(0, 1))), True)
    failed = episode(0, (ILLEGAL, BAD), False)
    metrics = rollout_metrics([solved, failed])
    expected = {
        "episodes": 2,
        "groups": 1,
        "success": 0.5,
        "return": 0.5,
        "decisions": 2,
        "atomic_steps": 2.5,
        "tokens": 6,
        "subgoals": 1,
        "distance": 4,
        "group_reward_std": 0.5,
        "entropy": 0.75,
        "tokens_per_decision": 3,
        "macro_length": 2,
        "format_share": 0.75,
        "lost_share": 0.25,
        "invalid_share": 0.5,
        "illegal_action_share": 1 / 6,
        "capped_share": 0.25,
    }
    assert metrics == pytest.approx(expected)


def test_a_batch_without_a_readable_reply() -> None:
    metrics = rollout_metrics([episode(0, (BAD,), False)])
    assert (metrics["macro_length"], metrics["format_share"], metrics["capped_share"]) == (0.0, 0.0, 1.0)
