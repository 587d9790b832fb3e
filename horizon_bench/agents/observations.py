"""The parts of a prompt that agents rearrange: what never changes, the memory of earlier turns, and the news."""

from __future__ import annotations

from typing import NamedTuple

from horizon_bench.envs.parsing import split_thought
from horizon_bench.envs.prompts import clean

MEMORY, FEEDBACK, BOARD = "\n\nYour last turns:\n", "\n\nFeedback: ", "\n\nBoard:\n"
"""What the parts of a prompt begin with; see `horizon_bench.envs.prompts.prompt`."""

LONGEST_NOTE = 2000
"""Characters of a note that a prompt repeats."""


class Parts(NamedTuple):
    """A prompt in parts; together they are the prompt again."""

    head: str
    """Rules, goal, grammar."""
    memory: str
    """Earlier turns; empty where there are none."""
    news: str
    """Feedback and board."""


def parts_of(observation: str) -> Parts:
    """Return the parts of a prompt; text that is no prompt of ours is all news.

    Args:
        observation: what the environment shows.
    """
    places = {mark: observation.find(mark) for mark in (MEMORY, FEEDBACK, BOARD)}
    found = [place for place in places.values() if place >= 0]
    if not found:
        return Parts("", "", observation)
    start = min(found)
    if places[MEMORY] != start:
        return Parts(observation[:start], "", observation[start:])
    after = [place for mark, place in places.items() if mark != MEMORY and place >= 0]
    end = min(after) if after else len(observation)
    return Parts(observation[:start], observation[start:end], observation[end:])


def with_note(observation: str, title: str, note: str) -> str:
    """Return the prompt with a note after the rules, the same prompt where the note is empty.

    Args:
        observation: what the environment shows.
        title: what the note is.
        note: any text of characters that prompts hold, as `as_note` returns it.
    """
    if not note:
        return observation
    head, memory, news = parts_of(observation)
    block = f"{title}:\n{note}"
    return f"{head}\n\n{block}{memory}{news}" if head else f"{block}\n\n{news}"


def as_note(reply: str) -> str:
    """Return what a note keeps of a reply: the text beside its thought, at most `LONGEST_NOTE` characters.

    Characters that no prompt holds become question marks.
    """
    return clean(without_thought(reply).strip()[:LONGEST_NOTE])


def without_thought(reply: str) -> str:
    """Return a reply without what stands in thinking tags; conversations never repeat it."""
    if "<" not in reply:
        return reply
    _, before, body = split_thought(reply)
    return f"{before}{body}"
