"""The words of milestoning: the plan as the prompt shows it, and the policy's reflection as its reply states it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from horizon_bench.milestones.plan import MilestonePlan, current_of

_LINE = re.compile(r"^[ \t>*-]*milestones?[ \t*]*:(.*)$\n?", re.IGNORECASE | re.MULTILINE)
_VECTOR = re.compile(r"(?<![\w.])[01](?:[ \t,]*[01])*(?![\w.])")
_CURRENT = re.compile(r"current\s*[:=]?\s*(?:\d+\s*)?(done|open|met|unmet|yes|no)\b", re.IGNORECASE)
_NEXT = re.compile(r"next\s*[:=]?\s*(\d+|none)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Reflection:
    """What a reply says about the plan."""

    done: tuple[bool, ...]
    """Claimed vector z, as long as the plan; all false where the reply states none of that length."""
    current_done: bool | None
    """Whether the current milestone is claimed to be done; None if unsaid."""
    following: int | None
    """Index of the milestone that is claimed to be next; None if unsaid or none is left."""
    stated: bool
    """Whether the reply holds a readable line at all."""


def plan_text(plan: MilestonePlan, done: Sequence[bool], blocked: Sequence[int]) -> str:
    """Return the part of the prompt that shows the plan and asks for a reflection.

    Args:
        plan: of the episode.
        done: which milestones to mark as done.
        blocked: indices of milestones that the last reply claimed and the checker did not confirm.
    """
    current = current_of(tuple(done))
    lines = ["Milestones:"]
    for index, one in enumerate(plan.milestones):
        mark = "done" if done[index] else "current" if index == current else "open"
        lines.append(f"{index + 1}. [{mark}] {one.meaning}")
    lines += [f"Blocked: you claimed milestone {index + 1}, which is not met; stay on it." for index in blocked]
    example = "1" + "0" * (len(plan) - 1)
    lines.append(
        "Begin your answer with one line: Milestones: Z; current: done or open; next: NUMBER. Z holds a 1 for each "
        f"milestone that is done and a 0 for each other one, for example {example}."
    )
    return "\n".join(lines)


def with_plan(observation: str, text: str) -> str:
    """Return a prompt with the plan before its board, or at its end where it shows none."""
    before, board, after = observation.rpartition("\n\nBoard:\n")
    return f"{before}\n\n{text}{board}{after}" if board else f"{observation}\n\n{text}"


def read_reflection(reply: str, milestones: int) -> tuple[Reflection, str, str]:
    """Return what a reply says about the plan, the reply without that, and the line itself; never raises.

    Args:
        reply: the whole reply; the last line that begins with `Milestones:` counts.
        milestones: of the plan.
    """
    lines = list(_LINE.finditer(reply))
    if not lines:
        return Reflection((False,) * milestones, None, None, False), reply, ""
    said = lines[-1][1]
    vector = _VECTOR.search(said)
    bits = tuple(bit == "1" for bit in vector[0] if bit in "01") if vector else ()
    current, following = _CURRENT.search(said), _NEXT.search(said)
    number = int(following[1]) - 1 if following and following[1].isdigit() else None
    readable = len(bits) == milestones
    reflection = Reflection(
        bits if readable else (False,) * milestones,
        current[1].lower() in ("done", "met", "yes") if current else None,
        number if number is not None and 0 <= number < milestones else None,
        readable or current is not None or number is not None,
    )
    return reflection, _LINE.sub("", reply), lines[-1][0]


def false_claims(reflection: Reflection, done: tuple[bool, ...]) -> tuple[int, ...]:
    """Return the milestones that a reflection claims although they are not met.

    Claimed are those marked in z, the current one where it is said to be done, and the current one where a later one
    is said to be next.

    Args:
        reflection: of the reply.
        done: the verified vector z of the board that the reply was written for.
    """
    claimed = {index for index, bit in enumerate(reflection.done) if bit and not done[index]}
    current = current_of(done)
    if current is not None and (reflection.current_done or (reflection.following or 0) > current):
        claimed.add(current)
    return tuple(sorted(claimed))
