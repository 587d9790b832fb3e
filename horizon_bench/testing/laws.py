"""The laws, by name, and the error that names the broken one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from horizon_bench.testing import environment_laws, puzzle_laws
from horizon_bench.testing.puzzle_laws import BreachError
from horizon_bench.testing.strategies import Walk
from horizon_bench.testing.subjects import Subject
from puzzles.base import EXACT_DISTANCE, LISTED_MOVES, SNAPSHOTS, Puzzle

LAWS: dict[str, Callable[[Subject, Walk], None]] = {
    "text round-trip": puzzle_laws.text_round_trip,
    "name, rules and starts": puzzle_laws.names_and_rules,
    "values": puzzle_laws.values,
    "replies never raise": puzzle_laws.replies_never_raise,
    "starts are refused by ValueError": puzzle_laws.bad_starts,
    "legal moves": puzzle_laws.legal_moves,
    "action round-trip": puzzle_laws.action_round_trip,
    "tokens": puzzle_laws.tokens,
    "arrays": puzzle_laws.arrays,
    "distance": puzzle_laws.distance,
    "plan": puzzle_laws.plan,
    "subgoals": puzzle_laws.subgoals,
    "observation in its space": environment_laws.observations,
    "bad replies change nothing": environment_laws.bad_replies,
    "macro = its atomic sequence": environment_laws.macro,
    "twins agree": environment_laws.twins,
    "snapshot and replay": environment_laws.snapshots,
    "subgoals are paid once": environment_laws.farming,
    "budgets are exact": environment_laws.budgets,
    "global generators stay untouched": environment_laws.generators,
}
"""Every law by name, in the order they are checked: a puzzle's own before its environments'."""


LIMITED: dict[str, tuple[str, str]] = {
    "distance": (EXACT_DISTANCE, "held from the start along expert moves only"),
    "plan": (EXACT_DISTANCE, "held for the plan from the start only"),
    "snapshot and replay": (SNAPSHOTS, "not held"),
    "legal moves": (
        LISTED_MOVES,
        "held for a few listed moves; one that is refused must say why and not apply",
    ),
    "bad replies change nothing": (LISTED_MOVES, "held for garbage and for moves of the starts"),
}
"""Laws that a puzzle without some ability (see `Puzzle.lacks`) keeps in part or not at all: ability, and how far."""


def limits(puzzle: Puzzle[Any, Any]) -> dict[str, str]:
    """Return the laws that `check_puzzle` cannot hold in full against a puzzle, each with how far and why.

    Args:
        puzzle: the rules.
    """
    limited = {
        law: f"{extent}, for want of {ability}: {puzzle.lacks[ability]}"
        for law, (ability, extent) in LIMITED.items()
        if ability in puzzle.lacks
    }
    if not puzzle.all_moves():
        limited["arrays"] = "not held: the puzzle names no moves once for all (all_moves), so it has no structured form"
    return limited


class LawError(AssertionError):
    """A law that a puzzle breaks, with the smallest example found."""

    def __init__(self, law: str, walk: Walk | None, puzzle: Puzzle[Any, Any], cause: Exception) -> None:
        self.law = law
        self.walk = walk
        self.cause = cause
        lines = [f"law broken: {law}", f"puzzle: {getattr(puzzle, 'name', type(puzzle).__name__)}"]
        if walk is None:
            lines.append("the result changes from call to call with the same arguments")
        else:
            lines.append(f"found: {cause if isinstance(cause, BreachError) else repr(cause)}")
            lines += [f"start: {walk.start}", f"moves taken: {', '.join(_moves(puzzle, walk)) or 'none'}"]
            lines += [f"{name}: {getattr(walk, name)!r}" for name in ("interface", "on_error", "seed", "text")]
        super().__init__("\n".join(lines))


def _moves(puzzle: Puzzle[Any, Any], walk: Walk) -> list[str]:
    """Return the walk's moves as text, as far as the puzzle lets them be written."""
    texts: list[str] = []
    try:
        state = puzzle.parse(walk.start)
        for choice in walk.choices:
            moves = puzzle.moves(state)
            if puzzle.solved(state) or not moves:
                break
            move = moves[choice % len(moves)]
            texts.append(puzzle.format_action(move))
            state = puzzle.apply(state, move)
    except Exception as error:
        texts.append(f"(then {error!r})")
    return texts
