"""The pace counts just what was played within its block."""

from __future__ import annotations

import pytest

from curricula import load_bank
from horizon_bench.envs import Settings
from horizon_bench.pace import Pace, measured_pace
from horizon_bench.policies.expert import ExpertPolicy
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.rollout import rollout
from puzzles.sudoku import Sudoku

INSTANCES = load_bank("T1")[:2]


def test_blocks_count_their_own_rollouts_and_those_of_blocks_within() -> None:
    with measured_pace() as outer:
        first = rollout(ExpertPolicy(), INSTANCES, Settings())
        with measured_pace() as inner:
            second = rollout(ExpertPolicy(), INSTANCES[:1], Settings(), attempts=2)
    rollout(ExpertPolicy(), INSTANCES, Settings())
    assert inner.decisions == sum(episode.decisions for episode in second)
    assert outer.decisions == inner.decisions + sum(episode.decisions for episode in first)
    assert outer.seconds > inner.seconds > 0


def test_tokens_are_counted_where_a_policy_writes_some() -> None:
    policy = TinyPolicy.create(Sudoku(4), 16, hidden_size=16, layers=1)
    with measured_pace() as pace:
        episodes = rollout(policy, INSTANCES, Settings(observation="compact"))
    assert pace.tokens == sum(episode.tokens for episode in episodes) > 0
    assert pace.tokens_per_second == pace.tokens / pace.seconds
    assert str(pace).endswith(" tokens/s")


def test_a_rollout_that_fails_counts_nothing() -> None:
    with measured_pace() as pace, pytest.raises(ValueError, match="at least 1"):
        rollout(ExpertPolicy(), INSTANCES, Settings(), attempts=0)
    assert pace == Pace()
    assert (pace.decisions_per_second, pace.tokens_per_second) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("pace", "text"),
    [
        (Pace(3000, 12000, 2.0), "1,500 decisions/s, 6,000 tokens/s"),
        (Pace(3, 0, 8.0), "0.38 decisions/s"),
        (Pace(), "0 decisions/s"),
    ],
)
def test_figures_are_short(pace: Pace, text: str) -> None:
    assert str(pace) == text
