"""Policies that know the solution, err at a known rate, or know nothing: the yardsticks beside every trained policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from horizon_bench.policies.base import Reply, Seat, Tokenless


@dataclass(frozen=True)
class ExpertPolicy(Tokenless):
    """Takes an expert move each time, ties broken at random; in a macro several, each after the one before."""

    actions: int = 1
    """Atomic actions in each reply; fewer where the goal comes first."""

    def __post_init__(self) -> None:
        """Check the field."""
        if self.actions < 1:
            raise ValueError(f"actions must be at least 1 in each reply, not {self.actions}")

    def reply(
        self, observations: Sequence[str], seats: Sequence[Seat], generators: Sequence[np.random.Generator]
    ) -> list[Reply]:
        """Return one reply for each lane."""
        return [
            write_reply(seat.puzzle, expert_moves(seat, self.actions, generator))
            for seat, generator in zip(seats, generators, strict=True)
        ]


@dataclass(frozen=True)
class NoisyExpertPolicy(Tokenless):
    """An expert that errs with a fixed probability at each decision, whatever the decision holds.

    The error takes the place of the whole reply: a random legal move that brings the goal no nearer (in Sudoku a wrong
    digit that breaks no rule; in Rush Hour a detour), or where there is none a random move that the rules refuse. With
    errors that end the episode (`on_error="strict"`), success over d decisions is (1 - error_rate) ** d.
    """

    error_rate: float = 0.05
    """Probability that a decision errs."""
    actions: int = 1
    """Atomic actions in each reply without error."""

    def __post_init__(self) -> None:
        """Check the fields."""
        if not 0.0 <= self.error_rate <= 1.0:
            raise ValueError(f"error_rate is a probability from 0 to 1, not {self.error_rate}")
        ExpertPolicy(self.actions)

    def reply(
        self, observations: Sequence[str], seats: Sequence[Seat], generators: Sequence[np.random.Generator]
    ) -> list[Reply]:
        """Return one reply for each lane."""
        return [self._reply(seat, generator) for seat, generator in zip(seats, generators, strict=True)]

    def _reply(self, seat: Seat, generator: np.random.Generator) -> Reply:
        if generator.random() < self.error_rate:
            wrong = mistakes(seat)
            if wrong:
                return write_reply(seat.puzzle, (wrong[generator.integers(len(wrong))],))
        return write_reply(seat.puzzle, expert_moves(seat, self.actions, generator))


@dataclass(frozen=True)
class RandomPolicy(Tokenless):
    """Writes one legal move, all equally likely."""

    def reply(
        self, observations: Sequence[str], seats: Sequence[Seat], generators: Sequence[np.random.Generator]
    ) -> list[Reply]:
        """Return one reply for each lane; an empty one where no move is legal."""
        replies = []
        for seat, generator in zip(seats, generators, strict=True):
            moves = seat.puzzle.moves(seat.state)
            chosen = (moves[generator.integers(len(moves))],) if moves else ()
            replies.append(write_reply(seat.puzzle, chosen))
        return replies


def expert_moves(seat: Seat, actions: int, generator: np.random.Generator) -> tuple[Any, ...]:
    """Return up to `actions` expert moves in a row, or one legal move where the goal is out of reach.

    Args:
        seat: puzzle, state and oracle of one lane.
        actions: most moves to take.
        generator: breaks ties among expert moves.
    """
    state, moves = seat.state, []
    for _ in range(actions):
        choices = seat.oracle.expert_moves(state)
        if not choices:
            break
        move = choices[generator.integers(len(choices))] if len(choices) > 1 else choices[0]
        moves.append(move)
        state = seat.puzzle.apply(state, move)
    if not moves:
        legal = seat.puzzle.moves(state)
        moves = [legal[generator.integers(len(legal))]] if legal else []
    return tuple(moves)


def mistakes(seat: Seat) -> tuple[Any, ...]:
    """Return the legal moves that bring the goal no nearer; where there are none, the moves that the rules refuse."""
    puzzle, oracle, state = seat.puzzle, seat.oracle, seat.state
    here, legal = oracle.distance_to_go(state), puzzle.moves(state)
    wrong = []
    for move in legal:
        there = oracle.distance_to_go(puzzle.apply(state, move))
        if there is None or (here is not None and there >= here):
            wrong.append(move)
    return tuple(wrong) or tuple(move for move in puzzle.all_moves() if move not in set(legal))


def write_reply(puzzle: Any, moves: Sequence[Any]) -> Reply:
    """Return the reply that asks for the moves, as canonical text."""
    return Reply(" ".join(puzzle.format_action(move) for move in moves))
