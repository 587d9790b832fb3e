"""A team of one does everything itself; shares of a larger one add up to the whole."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from horizon_bench.training.team import Team


@given(st.integers(0, 40), st.integers(1, 5))
def test_shares_are_even_and_add_up(rows: int, size: int) -> None:
    shares = [Team(rank, size).share(torch.arange(rows)) for rank in range(size)]
    assert sorted(torch.cat(shares).tolist()) == list(range(rows))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_without_a_process_group_there_is_a_team_of_one() -> None:
    team, weights = Team.current(), torch.tensor([1.0, 2.0])
    assert (team.size, team.leads, team.agree("a"), team.collect("a")) == (1, True, "a", ["a"])
    team.add_up([weights])
    team.adopt([weights])
    team.wait()
    assert weights.tolist() == [1.0, 2.0]
    assert not Team(1, 2).leads
