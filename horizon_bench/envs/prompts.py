"""Words around a board: the prompt, the feedback on a reply and the memory of earlier turns.

Feedback tells what the rules say and nothing else: it never looks at a solution.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from puzzles.base import Puzzle

if TYPE_CHECKING:
    from horizon_bench.envs.decisions import Decision

CHARACTERS = "".join(
    sorted(
        set(string.printable) - set("\r\x0b\x0c")
        | set(map(chr, range(0xA1, 0x180)))
        | set(map(chr, range(0x2190, 0x2200)))
        | set(map(chr, range(0x2500, 0x2600)))
        | set(map(chr, (*range(0x2010, 0x2027), *range(0x2264, 0x2266))))
    )
)
"""Characters of every observation and action space: printable ASCII, Latin letters, arrows, lines and blocks."""

LONGEST_PROMPT = 32_768
"""Characters of the longest prompt."""

LONGEST_REPLY = 32_768
"""Characters of the longest reply in the action space; `step` reads longer ones all the same."""

LONGEST_RATIONALE = 200
"""Characters of a rationale that the memory keeps."""

MOST_LISTED = 12
"""Actions that feedback and memory list by name."""

_OUTSIDE = re.compile(f"[^{re.escape(CHARACTERS)}]")


def clean(text: str) -> str:
    """Return the text with every character outside `CHARACTERS` replaced by a question mark."""
    return text if text.isascii() and text.isprintable() else _OUTSIDE.sub("?", text)


def opening(puzzle: Puzzle[Any, Any], instruction: str, thought: str) -> str:
    """Return the part of a prompt that never changes: rules, goal, grammar, how to reply.

    Args:
        puzzle: states its rules.
        instruction: what the interface asks of a reply.
        thought: `none`, `free` or `checked`.
    """
    lines = [puzzle.rules(), instruction]
    if thought == "free":
        lines.append("You may think first, between <think> and </think>.")
    elif thought == "checked":
        lines.append("Think first, between <think> and </think>; one false claim in it voids the whole reply.")
    lines.append("You may state a short reason on the line before. End the reply with: Action: ACTION")
    return clean("\n".join(lines))


def prompt(head: str, board: str, memory: Sequence[tuple[str, str]], feedback: str, pending: str | None) -> str:
    """Return the whole observation in text form; the oldest turns give way where it would be too long, then feedback.

    Args:
        head: `opening`'s part.
        board: the board as people read it.
        memory: rationale and action of earlier turns, oldest first.
        feedback: what came of the last reply; empty at the start.
        pending: the first half of an action, where one is chosen.
    """
    parts = [head]
    if memory:
        turns = [f"- {f'{rationale} ' if rationale else ''}Action: {action}" for rationale, action in memory]
        parts.append("\n".join(["Your last turns:", *turns]))
    if feedback:
        parts.append(f"Feedback: {feedback}")
    parts.append(f"Board:\n{board}")
    if pending is not None:
        parts.append(f"Chosen so far: what({pending}). Now reply where(...).")
    text = "\n\n".join(parts)
    if len(text) <= LONGEST_PROMPT:
        return text
    if memory:
        return prompt(head, board, _latest(memory, len(text) - LONGEST_PROMPT), feedback, pending)
    if feedback:
        return prompt(head, board, (), feedback[: max(len(feedback) - (len(text) - LONGEST_PROMPT), 0)], pending)
    return text[-LONGEST_PROMPT:]


def _latest(memory: Sequence[tuple[str, str]], excess: int) -> Sequence[tuple[str, str]]:
    """Return the memory without its oldest turns, which hold at least `excess` characters, if it has as many."""
    dropped = 0
    while dropped < len(memory) and excess > 0:
        rationale, action = memory[dropped]
        excess -= len(rationale) + bool(rationale) + len(action) + len("\n- Action: ")
        dropped += 1
    return memory[dropped:]


def feedback_text(write: Callable[[Any], str], decision: Decision, pending: str | None) -> str:
    """Return what the next prompt says of a decision.

    Args:
        write: gives a move's text.
        decision: what came of the reply.
        pending: the first half of an action, where one is chosen.
    """
    if not decision.format_ok or decision.void:
        return clean(f"nothing was carried out: {decision.problem}.")
    parts = []
    if decision.carried:
        parts.append(f"carried out {_listed(write, decision.carried)}.")
    if decision.failed:
        parts.append(f"{decision.failed} legal action{'s' if decision.failed > 1 else ''} had no effect by chance.")
    for move, reason in list(zip(decision.refused, decision.reasons, strict=True))[:MOST_LISTED]:
        parts.append(f"refused {move if isinstance(move, str) else write(move)}: {reason}.")
    dropped = len(decision.written) - decision.tried
    if dropped > 0 and not decision.parsed.problem:
        parts.append(f"{dropped} further action{'s' if dropped > 1 else ''} not tried.")
    if pending is not None and not decision.refused:
        parts.append(f"what({pending}) is chosen.")
    return clean(" ".join(parts) or "nothing was carried out.")


def turn_text(write: Callable[[Any], str], decision: Decision, pending: str | None) -> tuple[str, str]:
    """Return rationale and action of a decision as the memory keeps them; its thought is never kept."""
    rationale = decision.parsed.rationale
    if rationale:
        rationale = clean(" ".join(rationale[: 4 * LONGEST_RATIONALE].split())[:LONGEST_RATIONALE])
    if not decision.format_ok:
        return rationale, "(unreadable)"
    if pending is not None and not decision.written:
        return rationale, f"what({pending})"
    return rationale, clean(_listed(write, decision.written) or "(none)")


def _listed(write: Callable[[Any], str], moves: Sequence[Any]) -> str:
    """Return the first moves by name and the number of the others."""
    if len(moves) == 1:
        return write(moves[0])
    text = " ".join([write(move) for move in moves[:MOST_LISTED]])
    more = len(moves) - MOST_LISTED
    return f"{text} and {more} more" if more > 0 else text
