"""Advantages by hand, what they reduce to, and that shaping leaves the best policy as it is."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from curricula import load_bank
from horizon_bench.credit import CreditBatch
from horizon_bench.credit.arrays import return_to_go
from horizon_bench.credit.critics import following, temporal_differences
from horizon_bench.mira.objective import mixed_advantages, shaped_rewards
from puzzles.base import Puzzle
from puzzles.rush_hour import RushHour
from puzzles.sudoku import Sudoku

Floats = NDArray[np.float64]


def batch_of(values: list[list[float]], solved: list[bool]) -> CreditBatch:
    rewards = [[0.0] * (len(row) - 1) + [float(won)] for row, won in zip(values, solved, strict=True)]
    return CreditBatch.from_ragged(rewards, values=values)


def test_advantages_by_hand() -> None:
    batch = batch_of([[0.5, 0.75], [0.25]], [True, False])
    potentials = np.array([0.0, 0.5, 0.25])
    given = mixed_advantages(batch, potentials, np.array([True, False]), lam=0.5, shaping=0.4)
    one_step = [0.4 * 0.5 + 0.75 - 0.5, 1 + 0.4 * 0.5 - 0.75, -0.4 * 0.25 - 0.25]
    whole = [1 - 0.5, 1 - 0.75, -0.25]
    assert given == pytest.approx([0.5 * (near + far) for near, far in zip(one_step, whole, strict=True)])


@st.composite
def cases(draw: st.DrawFn) -> tuple[CreditBatch, Floats, NDArray[np.bool_]]:
    chance = st.floats(0, 1, width=32)
    values = draw(st.lists(st.lists(chance, min_size=1, max_size=5), min_size=1, max_size=4))
    solved = draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    count = sum(map(len, values))
    potentials = draw(st.lists(chance, min_size=count, max_size=count))
    return batch_of(values, solved), np.array(potentials), np.array(solved)


@given(cases(), st.floats(0, 1))
def test_the_ends_of_lam_are_the_one_step_and_the_whole_advantage(
    case: tuple[CreditBatch, Floats, NDArray[np.bool_]], gamma: float
) -> None:
    batch, potentials, solved = case
    near = mixed_advantages(batch, potentials, solved, lam=1.0, gamma=gamma, shaping=0.0)
    assert near == pytest.approx(temporal_differences(batch, gamma=gamma, bootstrap=False))
    far = mixed_advantages(batch, potentials, solved, lam=0.0, gamma=gamma, shaping=0.3)
    assert batch.values is not None
    assert far == pytest.approx(return_to_go(batch.rewards, batch.offsets, gamma) - batch.values)


@given(cases(), st.floats(0, 2))
def test_without_discount_all_shaping_of_an_episode_is_fixed_by_its_start_and_its_outcome(
    case: tuple[CreditBatch, Floats, NDArray[np.bool_]], coefficient: float
) -> None:
    batch, potentials, solved = case
    after = following(potentials, solved.astype(float), batch.offsets)
    shaped = shaped_rewards(batch.rewards, potentials, after, coefficient=coefficient)
    added = np.add.reduceat(shaped - batch.rewards, batch.offsets[:-1])
    assert added == pytest.approx(coefficient * (solved - potentials[batch.offsets[:-1]]), abs=1e-9)


def test_what_an_advantage_needs_is_asked_for() -> None:
    bare = CreditBatch.from_ragged([[0.0, 1.0]])
    with pytest.raises(ValueError, match="values"):
        mixed_advantages(bare, np.zeros(2), np.array([True]))
    with pytest.raises(ValueError, match="lam"):
        mixed_advantages(batch_of([[0.5]], [True]), np.zeros(1), np.array([True]), lam=1.5)


@dataclass(frozen=True)
class Graph:
    """All states that a board leads to: `source[i]` goes to `target[i]` by its i-th move."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    solved: NDArray[np.bool_]
    dead: NDArray[np.bool_]

    def best_moves(self, rewards: Floats, gamma: float) -> tuple[NDArray[np.bool_], Floats]:
        """Return which moves are optimal, by value iteration, and the values; the states that end a game have none."""
        values = np.zeros(len(self.solved))
        for _ in range(120):
            worth = rewards + gamma * values[self.target]
            values = np.full(len(self.solved), -np.inf)
            np.maximum.at(values, self.source, worth)
            values = np.where(self.solved | self.dead, 0.0, values)
        return np.isclose(worth, values[self.source], atol=1e-9), values


def graph_of(puzzle: Puzzle[Any, Any], start: Any) -> Graph | None:
    """Return all that a board leads to; None if that is too much."""
    order: dict[Hashable, int] = {start: 0}
    queue, edges, solved, dead = [start], [], [], []
    for state in queue:
        if len(queue) > MOST_STATES:
            return None
        moves = () if puzzle.solved(state) else puzzle.moves(state)
        solved.append(puzzle.solved(state))
        dead.append(not moves and not solved[-1])
        for move in moves:
            after = puzzle.apply(state, move)
            if after not in order:
                order[after] = len(order)
                queue.append(after)
            edges.append((order[state], order[after]))
    source, target = np.array(edges).T
    return Graph(source, target, np.array(solved), np.array(dead))


def few_states(puzzle: Puzzle[Any, Any], level: str) -> Graph:
    """Return the graph of the first board of a level on which one can go wrong and that leads to few states."""
    for instance in load_bank(level)[:80]:
        graph = graph_of(puzzle, puzzle.parse(instance.start))
        if graph is not None and (graph.dead.any() or puzzle.name == "rush-hour"):
            return graph
    raise AssertionError("no such board")


GRAPHS = {"sudoku": (Sudoku(4), "T2"), "rush-hour": (RushHour(), "R1")}
MOST_STATES = 2000


@pytest.fixture(scope="module", params=GRAPHS)
def graph(request: pytest.FixtureRequest) -> Graph:
    return few_states(*GRAPHS[request.param])


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32), coefficient=st.floats(0.05, 3.0), gamma=st.sampled_from([0.8, 0.95]))
def test_shaping_leaves_the_optimal_policy_of_a_board_unchanged(
    graph: Graph, seed: int, coefficient: float, gamma: float
) -> None:
    rewards = graph.solved[graph.target].astype(float)
    potentials = np.random.default_rng(seed).random(len(graph.solved))
    potentials = np.where(graph.solved, 1.0, np.where(graph.dead, 0.0, potentials))
    shaped = shaped_rewards(
        rewards, potentials[graph.source], potentials[graph.target], coefficient=coefficient, gamma=gamma
    )
    plain, values = graph.best_moves(rewards, gamma)
    assert (plain == graph.best_moves(shaped, gamma)[0]).all()
    assert not plain.all()
    assert values[0] > 0
