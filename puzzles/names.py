"""One way to look a name up: the name itself, or an error with the nearest match."""

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
    raise unknown_name(what, name, choices)


def unknown_name(what: str, name: object, known: Iterable[str]) -> ValueError:
    """Return the error for a name that is none of `known`; arguments as `check_name` takes them."""
    choices = tuple(known)
    hint = did_you_mean(name, choices) or ";"
    return ValueError(f"unknown {what} {name!r}{hint} known: {', '.join(choices)}")


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return the end of an error that names the nearest of `known`, whatever its case; "" if none is near."""
    by_lower = {each.lower(): each for each in known}
    near = get_close_matches(str(name).lower(), by_lower, n=1, cutoff=0.5)
    return f"; did you mean {by_lower[near[0]]!r}?" if near else ""
