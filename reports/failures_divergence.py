"""Where an attempt first left the expert's way, by replaying its moves beside the exact solver.

Sudoku: the first wrong fill, or the first erasure of a right digit. Rush Hour and any other puzzle: the first move
after which the goal is further away than before, or out of reach; in a world that knows one way only, the first off it.
A refused action changes nothing and diverges from nothing, and a world that crashed is no fault of the policy's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from horizon_bench.envs.instances import Workshop, workshop
from horizon_bench.episodes import Episode
from puzzles.base import CRASHED, EXACT_DISTANCE, Puzzle
from reports.boards import UNPLAYABLE
from reports.records import StoredEpisode
from solvers.sudoku_oracle import SudokuOracle


@dataclass(frozen=True)
class Divergence:
    """The first move off the expert's way."""

    decision: int
    """Decision that it belongs to, from 0."""
    atomic_step: int
    """Atomic steps carried out before it."""
    move: str
    """Canonical text of the move."""
    distance: int | None
    """Goal distance before it, in atomic actions."""


def first_divergence(episode: Episode, puzzle: str, size: int | None) -> Divergence | None:
    """Return the first move that left the expert's way, None where there is none.

    Args:
        episode: any episode of moves that were carried out.
        puzzle: name of the puzzle, or an import string.
        size: rows of the board; None or 0 for puzzles that take no size.

    Raises:
        ValueError: if there is no such puzzle, or a move does not fit it.
    """
    try:
        return _first(workshop(puzzle, size or None, False), episode)
    except ValueError:  # moves that only the rules with repairs know, or no such puzzle at all
        return _first(workshop(puzzle, size or None, True), episode)


def _first(shop: Workshop, episode: Episode) -> Divergence | None:
    """Return the first diverging move by the rules of a workshop, which rollouts of the same rules share."""
    prepared = shop.prepare(episode.start)
    state, oracle, step = prepared.start, prepared.oracle, 0
    for index, turn in enumerate(episode.turns):
        for text in turn.moves:
            moves = shop.puzzle.parse_action(text)
            if moves is None:
                raise ValueError(f"{text!r} is no action of {shop.puzzle.name}")
            for move in moves:
                after = shop.puzzle.apply(state, move)
                if shop.puzzle.failure(after) == CRASHED:
                    return None
                if _diverges(shop.puzzle, oracle, state, move, after):
                    return Divergence(index, step, text, oracle.distance_to_go(state))
                state, step = after, step + 1
    return None


def divergence_of(stored: StoredEpisode) -> Divergence | None:
    """Return where a stored episode left the expert's way; None too for a puzzle that cannot be played here."""
    try:
        return first_divergence(stored.episode, stored.puzzle, stored.size)
    except UNPLAYABLE:
        return None


def _diverges(puzzle: Puzzle[Any, Any], oracle: Any, state: Any, move: Any, after: Any) -> bool:
    if isinstance(oracle, SudokuOracle):
        right = oracle.solution[move.cell]
        return bool(move.digit != right if move.digit else state.values[move.cell] == right)
    there, here = oracle.distance_to_go(after), oracle.distance_to_go(state)
    if there is None or here is None:
        return there is None
    # Off the one way that is known the distance stays as it was.
    return bool(there >= here if EXACT_DISTANCE in puzzle.lacks else there > here)
