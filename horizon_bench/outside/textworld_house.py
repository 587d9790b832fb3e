"""One game ready to play from one start: names drawn, map turned, quest left, text and tokens of its states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from horizon_bench.outside.textworld_games import Fact, Game
from horizon_bench.outside.textworld_rules import GroundAction, Mechanics, kind_of
from horizon_bench.outside.textworld_words import DIRECTIONS, POOLS, PORTABLE, commands

NOTHING = "-"
_STATES = ("open", "closed", "locked", "eaten")


@dataclass(frozen=True, slots=True)
class Event:
    """A step of the quest that is more than walking: it has happened once what its action gives has held."""

    mask: int
    command: str
    room: str


@dataclass(frozen=True, slots=True)
class TextState:
    """A state of a game."""

    start: str
    """The start it began from."""
    facts: int
    """What holds, as bits of the game's mechanics."""
    done: int
    """Which events of the quest have happened, as bits."""


def drawn_names(game: Game, label: int) -> dict[str, str]:
    """Return a name for each thing, and for each compass point the one it is turned to.

    Args:
        game: the game.
        label: which draw.

    Raises:
        ValueError: if the game has more things of a kind than there are names.
    """
    rng = np.random.default_rng([game.seed, label])
    things = sorted({argument for fact in game.facts for argument in fact[1:]} - {"P", "I"})
    names = {}
    for kind, pool in POOLS.items():
        own = [thing for thing in things if kind_of(thing) == kind]
        if len(own) > len(pool):
            raise ValueError(f"the game has {len(own)} things of type {kind!r}, names are there for {len(pool)}")
        chosen = rng.permutation(len(pool))[: len(own)]
        names.update({thing: pool[index] for thing, index in zip(own, chosen, strict=True)})
    turn, mirrored = int(rng.integers(4)), bool(rng.integers(2))
    for index, direction in enumerate(DIRECTIONS):
        names[direction] = DIRECTIONS[(turn + (-index if mirrored else index)) % 4]
    return names


class House:
    """A start with everything that its states need."""

    def __init__(self, game: Game, mechanics: Mechanics, done: int, label: int) -> None:
        """Carry out the quest's first `done` actions and draw the names.

        Args:
            game: the game.
            mechanics: its rules, ready to play.
            done: actions of the quest that lie behind.
            label: which draw of names.
        """
        self.mechanics = mechanics
        self.names = drawn_names(game, label)
        self.fixed = mechanics.fixed
        facts, events = mechanics.start, []
        for index, step in enumerate(game.quest):
            action = _action_of(step, mechanics, facts)
            if index == done:
                self.start = facts
            if index >= done and not action.rule.startswith("go/"):
                events.append(Event(action.gains, self.named(action.command), self.names[mechanics.room(facts)]))
            facts = action.on(facts)
        self.events = _distinct(events)

    def named(self, command: str) -> str:
        """Return a command of the mechanics with the names of this start."""
        return " ".join(self.names.get(word, word) for word in command.split())

    @cached_property
    def actions(self) -> Mapping[str, Mapping[str, tuple[GroundAction, ...]]]:
        """Actions by room and named command."""
        table: dict[str, dict[str, tuple[GroundAction, ...]]] = {}
        for room, actions in self.mechanics.actions.items():
            by_command = table.setdefault(room, {})
            for action in actions:
                command = self.named(action.command)
                by_command[command] = (*by_command.get(command, ()), action)
        return table

    def happened(self, facts: int, done: int) -> int:
        """Return the events that have happened, those that hold now included, as bits."""
        for index, event in enumerate(self.events):
            if facts & event.mask == event.mask:
                done |= 1 << index
        return done

    def action(self, facts: int, command: str) -> GroundAction | None:
        """Return the possible action that a command stands for, None if there is none."""
        for action in self.actions[self.mechanics.room(facts)].get(command, ()):
            if action.allowed(facts):
                return action
        return None

    def legal(self, facts: int) -> tuple[str, ...]:
        """Return the possible commands."""
        return tuple(
            command
            for command, actions in self.actions[self.mechanics.room(facts)].items()
            if any(action.allowed(facts) for action in actions)
        )

    def pending(self, done: int) -> Event | None:
        """Return the first event that has not happened; None at the end."""
        return next((event for index, event in enumerate(self.events) if not done >> index & 1), None)

    # ---------------------------------------------------------------- tokens

    @cached_property
    def _slots(self) -> dict[str, int]:
        """Place of each named thing's tokens in the compact form."""
        slots, place = {}, 1
        for kind, width in (("r", 4), ("d", 1), ("c", 2), ("s", 1), ("k", 1), ("o", 1), ("f", 1)):
            for name in POOLS[kind]:
                slots[name] = place
                place += width
        slots[""] = place
        return slots

    @cached_property
    def _board(self) -> tuple[list[str], list[tuple[int, int, str]]]:
        """The compact form with what never changes, and for each bit of the facts the place and token it sets."""
        board = [NOTHING] * (self._slots[""] + 5)
        ways: dict[tuple[str, str], int] = {}
        for fact in sorted(self.fixed):
            name, things = fact[0], fact[1:]
            if name.endswith("_of"):
                # `north_of(a, b)`: going north from b leads to a.
                heading = DIRECTIONS.index(self.names[name.removesuffix("_of")])
                ways[things[1], things[0]] = self._slots[self.names[things[1]]] + heading
        for fact in sorted(self.fixed):
            if fact[0] == "link":
                board[ways[fact[1], fact[3]]] = self.names[fact[2]]
        for fact in sorted(self.fixed):
            for place, token in self._tokens(fact, ways):
                board[place] = token
        changing: list[tuple[int, int, str]] = []
        for bit, fact in enumerate(self.mechanics.facts):
            changing += [(1 << bit, place, token) for place, token in self._tokens(fact, ways)]
        return board, changing

    def _tokens(self, fact: Fact, ways: Mapping[tuple[str, str], int]) -> list[tuple[int, str]]:
        """Return which tokens of the compact form a fact sets."""
        name, things = fact[0], fact[1:]
        if name == "free":
            way = ways.get((things[0], things[1]))
            return [] if way is None else [(way, self.names[things[1]])]
        if name in _STATES:
            return [(self._slots[self.names[things[0]]], name)]
        if name not in ("at", "in", "on"):
            return []
        place = "carried" if things[1] == "I" else self.names[things[1]]
        if things[0] == "P":
            return [(0, place)]
        slot = self._slots[self.names[things[0]]]
        return [(slot + 1 if kind_of(things[0]) == "c" else slot, place)]

    def compact(self, facts: int, done: int) -> tuple[str, ...]:
        """Return a state as tokens: the player's room, the exits of each room, where everything is, the next event."""
        board, changing = self._board
        tokens = board.copy()
        for bit, place, token in changing:
            if facts & bit:
                tokens[place] = token
        event = self.pending(done)
        place = self._slots[""]
        if event is not None:
            words = commands()[event.command]
            tokens[place : place + len(words)] = words
            tokens[place + 3] = event.room
        tokens[place + 4] = f"left{len(self.events) - done.bit_count()}"
        return tuple(tokens)

    # ---------------------------------------------------------------- text

    def describe(self, facts: int, done: int) -> str:
        """Return a state as people read it."""
        tokens = self.compact(facts, done)
        lines = [f"You are in the {tokens[0]}."]
        lines += [self._room_line(room, tokens) for room in self.names.values() if room in POOLS["r"]]
        carried = [name for kind in PORTABLE for name in POOLS[kind] if tokens[self._slots[name]] == "carried"]
        lines.append(f"You carry: {', '.join(carried) or 'nothing'}.")
        lines.append("Your quest, step by step:")
        for index, event in enumerate(self.events):
            mark = "done" if done >> index & 1 else "to do"
            lines.append(f"{index + 1}. {event.command}, in the {event.room} ({mark})")
        return "\n".join(lines)

    def _room_line(self, room: str, tokens: tuple[str, ...]) -> str:
        first = self._slots[room]
        exits = []
        for direction, token in zip(DIRECTIONS, tokens[first : first + 4], strict=True):
            if token in POOLS["d"]:
                exits.append(f"{direction}: the {tokens[self._slots[token]]} {token}")
            elif token != NOTHING:
                exits.append(f"{direction} to the {token}")
        things = self._things(room, tokens)
        for name in POOLS["c"]:
            if tokens[self._slots[name] + 1] == room:
                inside = self._things(name, tokens)
                kept = f" with {self._list(inside)}" if inside else ""
                things.append(f"{_article(tokens[self._slots[name]])} {name}{kept}")
        for name in POOLS["s"]:
            if tokens[self._slots[name]] == room:
                above = self._things(name, tokens)
                things.append(f"a {name}{f' with {self._list(above)}' if above else ''}")
        return f"{room.capitalize()}: {', '.join(exits) or 'no exit'}. {self._list(things).capitalize() or 'Nothing'}."

    def room_text(self, room: str) -> str:
        """Return what never changes in a room: its exits, containers and supporters."""
        board, _ = self._board
        first = self._slots[room]
        exits = []
        for direction, token in zip(DIRECTIONS, board[first : first + 4], strict=True):
            if token != NOTHING:
                exits.append(f"{direction} {'through the' if token in POOLS['d'] else 'to the'} {token}")
        fixed = [name for name in POOLS["c"] if board[self._slots[name] + 1] == room]
        fixed += [name for name in POOLS["s"] if board[self._slots[name]] == room]
        seen = f" You see {self._list(list(map(_article, fixed)))}." if fixed else ""
        return f"The {room}.{seen} Exits: {', '.join(exits) or 'none'}."

    def _things(self, place: str, tokens: tuple[str, ...]) -> list[str]:
        names = [name for kind in PORTABLE for name in POOLS[kind] if tokens[self._slots[name]] == place]
        return list(map(_article, names))

    @staticmethod
    def _list(things: list[str]) -> str:
        return ", ".join([*things[:-2], " and ".join(things[-2:])]) if things else ""


def _article(word: str) -> str:
    """Return a word with `a` or `an`."""
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def _action_of(step: tuple[str, ...], mechanics: Mechanics, facts: int) -> GroundAction:
    """Return the possible action that a step of a quest is.

    Raises:
        ValueError: if it is not possible: the game's rules are not its own.
    """
    for action in mechanics.legal(facts):
        if action.key == step:
            return action
    raise ValueError(f"the quest's step {' '.join(step)} is not possible")


def _distinct(events: list[Event]) -> tuple[Event, ...]:
    """Return the events, the first of each condition."""
    first: dict[int, Event] = {}
    for event in events:
        first.setdefault(event.mask, event)
    return tuple(first.values())
