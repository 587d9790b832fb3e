"""The words of our TextWorld games: one fixed name for each slot, and the commands that name them.

A game draws its names from these pools anew for each start, and turns its map around, so that no name stands for a
place in a quest.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import product

POOLS: dict[str, tuple[str, ...]] = {
    "r": ("kitchen", "bedroom", "garden", "cellar", "attic", "study"),
    "d": ("gate", "hatch", "portal", "shutter", "screen"),
    "c": ("chest", "locker", "safe", "box", "trunk", "crate", "cabinet"),
    "s": ("table", "shelf", "desk", "bench", "stand"),
    "k": ("latchkey", "passkey", "keycard", "fob", "badge", "coin", "pin"),
    "o": ("lamp", "book", "vase", "towel", "clock"),
    "f": ("apple", "loaf", "melon", "carrot", "cheese"),
}
"""Names by the package's type of thing: rooms, doors, containers, supporters, keys, other objects, food."""
DIRECTIONS = ("north", "east", "south", "west")
VERBS = ("go", "open", "close", "lock", "unlock", "take", "drop", "insert", "put", "eat")
PORTABLE = ("k", "o", "f")
MOST_EVENTS = 20


@cache
def commands() -> Mapping[str, tuple[str, ...]]:
    """Return the tokens of every command there can be, by its text."""
    things = [name for kind in PORTABLE for name in POOLS[kind]]
    lockable = POOLS["d"] + POOLS["c"]
    table: dict[str, tuple[str, ...]] = {f"go {direction}": ("go", direction) for direction in DIRECTIONS}
    table |= {f"{verb} {thing}": (verb, thing) for verb, thing in product(("open", "close"), lockable)}
    table |= {
        f"{verb} {thing} with {key}": (verb, thing, key)
        for verb, thing, key in product(("lock", "unlock"), lockable, POOLS["k"])
    }
    table |= {f"{verb} {thing}": (verb, thing) for verb, thing in product(("take", "drop"), things)}
    table |= {
        f"take {thing} from {place}": ("take", thing, place)
        for thing, place in product(things, POOLS["c"] + POOLS["s"])
    }
    table |= {f"insert {thing} into {place}": ("insert", thing, place) for thing, place in product(things, POOLS["c"])}
    table |= {f"put {thing} on {place}": ("put", thing, place) for thing, place in product(things, POOLS["s"])}
    return table | {f"eat {thing}": ("eat", thing) for thing in POOLS["f"]}


@cache
def spellings() -> Mapping[str, str]:
    """Return the command that each spelling stands for: its words, or its tokens."""
    table = {" ".join(tokens): command for command, tokens in commands().items()}
    return table | {command: command for command in commands()}


def vocabulary() -> tuple[str, ...]:
    """Return every token of boards and commands."""
    names = [name for pool in POOLS.values() for name in pool]
    states = ["open", "closed", "locked", "carried", "eaten", "-"]
    counts = [f"left{count}" for count in range(MOST_EVENTS + 1)]
    return tuple(dict.fromkeys([*names, *DIRECTIONS, *VERBS, *states, *counts]))
