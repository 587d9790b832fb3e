"""Commands of text worlds as text: how they are found in a reply, and their one spelling."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LONGEST_WORDS = 24
_CONNECTIVES = ("and then", "and", "then")
_ENDS = " \t.,;:!\"'`*"


def writable(text: str) -> str:
    """Return a text with question marks for half characters, which text of no program but Python can hold."""
    return text.encode("utf8", "replace").decode("utf8")


def tidy(command: str) -> str:
    """Return a command in its one spelling: lower case, single blanks, no punctuation or connective around it.

    >>> tidy(" Open   the Door, and then")
    'open the door'
    """
    text = " ".join(writable(command).lower().split()).strip(_ENDS)
    for word in _CONNECTIVES:
        text = text.removesuffix(f" {word}").rstrip(_ENDS)
    return text


def command_pattern(verbs: Sequence[str]) -> re.Pattern[str]:
    """Return the pattern that finds each command in a reply, also where nothing but blanks stands between two.

    Args:
        verbs: first words of commands; none may be part of a thing's name.

    Raises:
        ValueError: if there are none: no command could be found.

    >>> [match[0] for match in command_pattern(("go to", "take")).finditer("Take key, take box go to hall; take lamp")]
    ['Take key', 'take box', 'go to hall', 'take lamp']
    """
    if not verbs:
        raise ValueError("a world names no `verbs`; give it the first words of its commands, such as ('go', 'take')")
    choices = "|".join(re.escape(verb).replace(r"\ ", r"[ \t]+") for verb in sorted(verbs, key=len, reverse=True))
    edge = r"(?![\w-])"
    word = rf"(?!(?:{choices}){edge})[^\s;,]{{1,60}}"
    return re.compile(rf"(?<![\w-])(?:{choices}){edge}(?:[ \t]{{1,8}}{word}){{0,{_LONGEST_WORDS}}}", re.IGNORECASE)
