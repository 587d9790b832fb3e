"""Hypothesis strategies over any puzzle: starts, states, replies, garbage, and whole walks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from horizon_bench.envs.interfaces import INTERFACES
from horizon_bench.envs.settings import ON_ERROR
from horizon_bench.testing.subjects import Subject
from puzzles.base import Puzzle

LONGEST_WALK = 12


@dataclass(frozen=True)
class Walk:
    """One example for a law: where it starts, which moves it takes, under which rules."""

    start: str
    choices: tuple[int, ...] = ()
    """Each picks a legal move, counted round."""
    text: str = ""
    """Any text: garbage for parsers."""
    interface: str = "atomic"
    on_error: str = "end"
    seed: int = 0


def starts(subject: Subject) -> st.SearchStrategy[str]:
    """Return texts of starts."""
    return st.sampled_from(subject.starts)


def garbage() -> st.SearchStrategy[str]:
    """Return any text, and text that looks a little like replies."""
    pieces = st.sampled_from(
        ["<think>", "</think>", "```", "\n", "Action:", "value(", ")", "r1c1", "5", "move(B, up, 1)", ",", "what(", " "]
    )
    return st.one_of(st.text(max_size=40), st.lists(pieces, max_size=12).map("".join))


def walks(subject: Subject) -> st.SearchStrategy[Walk]:
    """Return walks over a puzzle's states; the simplest is the bare first start."""
    return st.builds(
        Walk,
        start=starts(subject),
        choices=st.lists(st.integers(0, 9999), max_size=LONGEST_WALK).map(tuple),
        text=garbage(),
        interface=st.sampled_from(sorted(INTERFACES)),
        on_error=st.sampled_from(sorted(ON_ERROR)),
        seed=st.integers(0, 2**32 - 1),
    )


def states(subject: Subject) -> st.SearchStrategy[Any]:
    """Return states that legal moves reach."""
    return walks(subject).map(lambda walk: follow(subject.puzzle, walk.start, walk.choices)[-1])


def legal_replies(puzzle: Puzzle[Any, Any], state: Any) -> st.SearchStrategy[str]:
    """Return replies of one legal action, in both notations; needs a state with a legal move."""
    moves = puzzle.moves(state)
    return st.one_of(
        st.sampled_from(moves).map(puzzle.format_action),
        st.sampled_from(moves).map(lambda move: " ".join(puzzle.compact_action(move))),
    )


def illegal_replies(subject: Subject, state: Any) -> st.SearchStrategy[str]:
    """Return replies of one action that the rules refuse in `state`; empty where there is none."""
    legal = set(subject.puzzle.moves(state))
    illegal = [move for move in subject.known_moves if move not in legal]
    return st.sampled_from(illegal).map(subject.puzzle.format_action) if illegal else st.nothing()


def follow(puzzle: Puzzle[Any, Any], start: str, choices: Sequence[int]) -> list[Any]:
    """Return the states of a walk, the start first.

    It ends early at the goal, where no move is legal, and where a move listed as legal does not apply.
    """
    state = puzzle.parse(start)
    passed = [state]
    for choice in choices:
        moves = puzzle.moves(state)
        if puzzle.solved(state) or not moves:
            break
        try:
            state = puzzle.apply(state, moves[choice % len(moves)])
        except ValueError:
            break
        passed.append(state)
    return passed
