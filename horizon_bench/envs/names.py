"""One way to look a name up: the registry's value, or an error with the nearest match."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def check_name(what: str, name: object, known: Iterable[str]) -> str:
    """Return `name` if it is one of `known`.

    Args:
        what: what the name stands for, as the error shall say it.
        name: the name to look up.
        known: every valid name.

    Raises:
        ValueError: naming the value, the nearest match and the choices.
    """
    choices = tuple(known)
    if isinstance(name, str) and name in choices:
        return name
    near = get_close_matches(str(name), choices, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ";"
    raise ValueError(f"unknown {what} {name!r}{hint} known: {', '.join(choices)}")
