"""The two halves of an action, as the small model learns them for the interface `split`: what, then where. Torch-free.

The environment asks for the first half by the token `<what>`; it asks for the second by the first one itself, which
stands where the mode token stood. So a reply to `where` begins with the half that was chosen before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from horizon_bench.envs.split import halves
from horizon_bench.policies.base import Policy
from puzzles.base import Puzzle
from solvers.base import Oracle

HALF_MODES = ("what", "where")
"""Modes of a trace that hold one half of an action."""
WHAT_TOKEN = "<what>"


def half_tokens(puzzle: Puzzle[Any, Any], move: Any) -> tuple[str, tuple[str, ...]]:
    """Return the token of what and the tokens of where, among those of the compact action.

    Raises:
        ValueError: if the puzzle's compact action does not hold the first half as a token of its own.
    """
    tokens = tuple(puzzle.compact_action(move))
    what = "".join(halves(puzzle, move)[0].split())
    if what not in tokens or len(tokens) < 2:
        raise ValueError(
            f"the compact action {' '.join(tokens)!r} of puzzle {puzzle.name!r} has no two halves (what: {what!r}); "
            "train through another interface than split"
        )
    place = tokens.index(what)
    return what, (*tokens[:place], *tokens[place + 1 :])


def half_target(puzzle: Puzzle[Any, Any], move: Any, mode: str) -> tuple[str, ...]:
    """Return the reply that gives one half of a move, the token that asks for it first."""
    what, where = half_tokens(puzzle, move)
    return (WHAT_TOKEN, what) if mode == "what" else (what, *where)


def measure_halves(
    policy: Policy,
    puzzle: Puzzle[Any, Any],
    places: Sequence[tuple[Oracle[Any, Any], Any]],
    feedback: str,
    rng: np.random.Generator,
) -> dict[str, float]:
    """Return the share of right halves: `what_first_action`, and `where_first_action` after a right first half.

    Right is what a shortest way goes on with.

    Args:
        policy: what is measured.
        puzzle: the rules.
        places: states with their oracles.
        feedback: feedback token of the prompts.
        rng: draws the first halves and the replies.
    """
    experts = [[half_tokens(puzzle, move) for move in oracle.expert_moves(state)] for oracle, state in places]
    given = [pairs[rng.integers(len(pairs))][0] for pairs in experts]
    boards = [" ".join((*puzzle.compact(state), feedback)) for _, state in places]
    whats = policy.reply([f"{board} {WHAT_TOKEN}" for board in boards], (), rng.spawn(len(boards)))
    wheres = policy.reply(
        [f"{board} {what}" for board, what in zip(boards, given, strict=True)], (), rng.spawn(len(boards))
    )
    return {
        "what_first_action": float(
            np.mean([reply.text in {what for what, _ in pairs} for reply, pairs in zip(whats, experts, strict=True)])
        ),
        "where_first_action": float(
            np.mean(
                [
                    (what, tuple(reply.text.split())) in pairs
                    for what, reply, pairs in zip(given, wheres, experts, strict=True)
                ]
            )
        ),
    }
