"""Whether a puzzle of your own can be trained on: its compact form, checked before a study writes anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from puzzles.base import Puzzle
from studies.factors import Cell
from studies.recipe import instances
from studies.training_settings import rules, sft_levels

PROBED = 5
"""Starts of each taught level whose boards and moves are looked at."""


def check_trainable(cells: Sequence[Cell]) -> None:
    """Check that the puzzles of your own among the cells that train a small model have a compact form.

    Raises:
        ValueError: naming every method that is missing or does not serve, what for, and what works without.
    """
    for cell in {cell.puzzle: cell for cell in cells if cell.module and cell.needs_sft}.values():
        puzzle = rules(cell)
        starts = [puzzle.parse(one.start) for one in instances(cell, sft_levels(cell), "train", PROBED)]
        if faults := compact_faults(puzzle, starts):
            raise ValueError(
                f"puzzle {cell.puzzle!r} cannot be trained on: a small model reads boards and writes moves as tokens, "
                f"its compact form, and the puzzle's class lacks {'; '.join(faults)}. The page docs/your_puzzle.md "
                "shows them; `horizon-bench study run untrained` and `horizon-bench eval` work without"
            )


def compact_faults(puzzle: Puzzle[Any, Any], states: Sequence[Any]) -> list[str]:
    """Return what is wrong with a puzzle's compact form, method by method; [] if a small model can be trained on it.

    Args:
        puzzle: rules.
        states: some states; the more, the surer.
    """
    boards = [tuple(puzzle.compact(state)) for state in states]
    replies = {move: tuple(puzzle.compact_action(move)) for state in states for move in puzzle.moves(state)}
    words: Any = puzzle.vocabulary()
    known = frozenset(words)
    used = dict.fromkeys(token for tokens in (*boards, *replies.values()) for token in tokens)
    unknown = [token for token in used if token not in known]
    faults = []
    if not known:
        faults.append(
            "vocabulary() (every token of compact(state) and compact_action(move), by default the characters of "
            "format(state) and the words of format_action(move))"
        )
    elif not isinstance(words, tuple | list):
        faults.append(f"vocabulary() as a tuple or a list, not a {type(words).__name__}: tokens have places")
    elif unknown:
        faults.append(f"tokens in vocabulary(), which must name every token of boards and moves: {unknown[0]!r}")
    if len({len(tokens) for tokens in boards}) > 1 or not all(map(_plain, boards)):
        faults.append("compact(state) (the board as tokens without blanks, equally many in every state)")
    if not all(_plain(tokens) and _read(puzzle, tokens) == (move,) for move, tokens in replies.items()):
        faults.append("compact_action(move) (the move as tokens that, joined by blanks, parse_action reads back)")
    return faults


def _plain(tokens: tuple[str, ...]) -> bool:
    """Return whether there are tokens, each without blanks."""
    return bool(tokens) and all(token.split() == [token] for token in tokens)


def _read(puzzle: Puzzle[Any, Any], tokens: tuple[str, ...]) -> tuple[Any, ...] | None:
    return puzzle.parse_action(" ".join(tokens))
