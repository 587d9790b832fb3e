"""Policies that know the solution, err at a known rate, or know nothing: the yardsticks beside every trained policy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from horizon_bench.envs.split import halves
from horizon_bench.policies.base import Reply, Seat, Tokenless
from puzzles.base import EXACT_DISTANCE


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
            _write_turn(seat, expert_moves(seat, self.actions, generator))
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
                return _write_turn(seat, (wrong[generator.integers(len(wrong))],))
        return _write_turn(seat, expert_moves(seat, self.actions, generator))


@dataclass(frozen=True)
class RandomPolicy(Tokenless):
    """Writes one legal move, all equally likely."""

    def reply(
        self, observations: Sequence[str], seats: Sequence[Seat], generators: Sequence[np.random.Generator]
    ) -> list[Reply]:
        """Return one reply for each lane; an empty one where no move is legal."""
        replies = []
        for seat, generator in zip(seats, generators, strict=True):
            moves = _going_on(seat, seat.puzzle.moves(seat.state))
            chosen = (moves[generator.integers(len(moves))],) if moves else ()
            replies.append(_write_turn(seat, chosen))
        return replies


def expert_moves(seat: Seat, actions: int, generator: np.random.Generator) -> tuple[Any, ...]:
    """Return up to `actions` expert moves in a row, or one legal move where the goal is out of reach.

    Args:
        seat: puzzle, state and oracle of one lane.
        actions: most moves to take.
        generator: breaks ties among expert moves.

    Raises:
        ValueError: if the rules refuse what the oracle advises.
    """
    state, moves = seat.state, []
    for index in range(actions):
        choices = seat.oracle.expert_moves(state)
        if index == 0:
            choices = _going_on(seat, choices)
        if not choices:
            break
        move = choices[generator.integers(len(choices))] if len(choices) > 1 else choices[0]
        moves.append(move)
        try:
            state = seat.puzzle.apply(state, move)
        except ValueError as error:
            name = seat.puzzle.name
            raise ValueError(f"the oracle of {name} advises {move!r}, which its rules refuse: {error}") from error
    if not moves:
        legal = _going_on(seat, seat.puzzle.moves(state))
        moves = [legal[generator.integers(len(legal))]] if legal else []
    return tuple(moves)


def mistakes(seat: Seat) -> tuple[Any, ...]:
    """Return the legal moves that bring the goal no nearer; where there are none, the moves that the rules refuse.

    Where only one way to the goal is known, every move off it counts. Where an action takes two replies, only those of
    which the half that is due is an error already.
    """
    puzzle, oracle, state = seat.puzzle, seat.oracle, seat.state
    here, legal = oracle.distance_to_go(state), puzzle.moves(state)
    if EXACT_DISTANCE in puzzle.lacks:
        # Trying thousands of commands would take as many fresh starts of a simulator.
        right = oracle.expert_moves(state)
        wrong = [move for move in legal if move not in right]
    else:
        wrong = []
        for move in legal:
            there = oracle.distance_to_go(puzzle.apply(state, move))
            if there is None or (here is not None and there >= here):
                wrong.append(move)
    refused = (move for move in puzzle.all_moves() if move not in set(legal))
    return _half_wrong(seat, wrong) or _half_wrong(seat, refused)


def write_reply(puzzle: Any, moves: Sequence[Any]) -> Reply:
    """Return the reply that asks for the moves, as canonical text."""
    return Reply(" ".join(puzzle.format_action(move) for move in moves))


def _write_turn(seat: Seat, moves: Sequence[Any]) -> Reply:
    """Return the reply that asks for the moves; where an action takes two replies, the half that is due."""
    if not moves or not _in_halves(seat):
        return write_reply(seat.puzzle, moves)
    what, where = halves(seat.puzzle, moves[0])
    return Reply(f"what({what})" if _pending(seat) is None else f"where({where})")


def _going_on(seat: Seat, moves: Sequence[Any]) -> tuple[Any, ...]:
    """Return the moves that begin with the half that was chosen before; all moves where none was."""
    pending = _pending(seat)
    return tuple(move for move in moves if pending is None or halves(seat.puzzle, move)[0] == pending)


def _half_wrong(seat: Seat, wrong: Iterable[Any]) -> tuple[Any, ...]:
    """Return those of some wrong moves of which the half that is due is wrong by itself; else all."""
    if not _in_halves(seat):
        return tuple(wrong)
    if _pending(seat) is not None:
        return _going_on(seat, tuple(wrong))
    right = {halves(seat.puzzle, move)[0] for move in seat.oracle.expert_moves(seat.state)}
    return tuple(move for move in wrong if halves(seat.puzzle, move)[0] not in right)


def _in_halves(seat: Seat) -> bool:
    game = getattr(seat, "game", None)
    return game is not None and game.interface.halves


def _pending(seat: Seat) -> str | None:
    """Return the half action that was chosen before; None outside the interface `split`."""
    return getattr(getattr(seat, "game", None), "pending", None)
