"""Why an attempt failed: one class for each unsolved episode, the first of five whose criterion holds.

The order is the priority: an attempt that ran in circles into a dead end stopped wrongly. Only facts of the episode are
asked, no solver, so that the class is computed for every attempt while it is evaluated. Where a policy left the
expert's way is `reports.failures_divergence`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from horizon_bench.envs.parsing import split_thought
from horizon_bench.episodes import Episode, Turn
from puzzles.base import CRASHED

STOPPED, STUCK, NO_ATTEMPT, BUDGET, OTHER = (
    "stopped-wrongly",
    "stuck-midway",
    "no-reasonable-attempt",
    "out-of-budget",
    "other",
)

CLASSES: dict[str, str] = {
    STOPPED: "the policy declared itself done, or ended where the goal was out of reach or no legal move was left",
    STUCK: "the last decisions repeat the same action on the same board, or go round in a short circle",
    NO_ATTEMPT: "most of what it wrote was unreadable or refused by the rules",
    BUDGET: "a budget ran out while it was still at work",
    OTHER: "none of these, such as a refused action that ends the episode by its rules, or a world that crashed",
}
"""Every class of failure in order of priority, and what it means."""

_DECLARED = re.compile(
    r"(?<!not )(?<!not yet )(?<!n't )\b(?:(?:done|solved|finished|completed)(?![ ]*\?)|complete(?=[ ]*(?:[.!,;]|$))|"
    r"giv(?:e|ing) up|i (?:quit|stop)|impossible|unsolvable|"
    r"no (?:more |further |other |legal |valid |possible )*(?:moves?|actions?|fills?|steps?|solutions?)|"
    r"(?:cannot|can't) (?:be (?:solved|completed|continued)|continue|go on|solve|finish))(?!\w)",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True)
class FailureRules:
    """Thresholds of the classes; all are ours."""

    identical: int = 3
    """Last decisions that repeat one action on one board: stuck."""
    longest_cycle: int = 4
    """Decisions of the longest circle that counts as short."""
    cycle_repeats: int = 2
    """Times that the last decisions go round in a circle: stuck."""
    bad_share: float = 0.5
    """Share of unreadable replies and refused actions, among all that was tried: no reasonable attempt."""

    def __post_init__(self) -> None:
        """Check the fields."""
        for name, least in (("identical", 2), ("longest_cycle", 2), ("cycle_repeats", 2)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}, must be at least {least}")
        if not 0.0 < self.bad_share <= 1.0:
            raise ValueError(f"bad_share is {self.bad_share}, must be over 0 and at most 1")


USUAL_RULES = FailureRules()
"""The thresholds that records are classified by."""


@dataclass(frozen=True)
class Verdict:
    """What the analyser says of an episode."""

    failure: str
    """Key of `CLASSES`; "" for a solved episode."""
    reason: str
    """The finding in words."""
    also: tuple[str, ...] = ()
    """Classes of lower priority whose criteria hold as well."""


def classify(episode: Episode, rules: FailureRules = USUAL_RULES) -> Verdict:
    """Return the class of an episode's failure: the first of `CLASSES` whose criterion holds.

    Args:
        episode: any episode.
        rules: thresholds.
    """
    if episode.solved:
        return Verdict("", "solved")
    if episode.end_reason == CRASHED:
        return Verdict(OTHER, "the world itself went down")
    found = [(name, reason) for name, criterion in _CRITERIA.items() if (reason := criterion(episode, rules))]
    first, *lower = found or [(OTHER, f"ended by {episode.end_reason or 'nothing'}")]
    return Verdict(*first, also=tuple(name for name, _ in lower))


def _stopped(episode: Episode, rules: FailureRules) -> str:
    """Return how the policy stopped wrongly, or ""."""
    last = episode.turns[-1] if episode.turns else None
    if last is not None and declares_done(last):
        return "it declared itself done"
    if episode.end_reason == "dead":
        return "no legal move was left"
    if episode.end_reason == "wrong" or (last is not None and last.distance_after is None):
        return "the goal was out of reach"
    return ""


def declares_done(turn: Turn) -> bool:
    """Return whether a reply holds no action and says that it is done, or that nothing can be done."""
    if turn.actions_written or turn.moves:
        return False
    return _DECLARED.search(split_thought(turn.reply)[2]) is not None


def _stuck(episode: Episode, rules: FailureRules) -> str:
    """Return how the last decisions repeat themselves, or ""."""
    deeds = [deed(turn) for turn in episode.turns]
    if _tail_repeats(deeds, 1, rules.identical):
        return f"the last {rules.identical} decisions are the same on the same board"
    for length in range(2, rules.longest_cycle + 1):
        if _tail_repeats(deeds, length, rules.cycle_repeats):
            return f"the last {length * rules.cycle_repeats} decisions go round in a circle of {length}"
    return ""


def deed(turn: Turn) -> tuple[int, tuple[str, ...]]:
    """Return the board a decision saw and what it did there: the moves carried out, else the reply without thought."""
    if turn.moves:
        return turn.state_hash, turn.moves
    reply = " ".join(split_thought(turn.reply)[2].split())
    return turn.state_hash, (f"reply: {reply}",)


def _tail_repeats(deeds: Sequence[object], length: int, repeats: int) -> bool:
    """Return whether the end of a sequence is one part of that length, so often in a row."""
    tail = deeds[-length * repeats :]
    return len(tail) == length * repeats and all(tail[i] == tail[i % length] for i in range(len(tail)))


def _no_attempt(episode: Episode, rules: FailureRules) -> str:
    """Return how little of what was written could be carried out, or ""."""
    bad, tried = 0, 0
    for turn in episode.turns:
        bad += turn.illegal_actions + turn.lost
        tried += turn.illegal_actions + turn.lost + len(turn.moves)
    if not tried or bad < rules.bad_share * tried:
        return ""
    return f"{bad} of {tried} actions were unreadable or refused"


def _out_of_budget(episode: Episode, rules: FailureRules) -> str:
    """Return which budget ran out, or ""."""
    return f"the budget {episode.end_reason} ran out" if episode.truncated else ""


_CRITERIA: dict[str, Callable[[Episode, FailureRules], str]] = {
    STOPPED: _stopped,
    STUCK: _stuck,
    NO_ATTEMPT: _no_attempt,
    BUDGET: _out_of_budget,
}
