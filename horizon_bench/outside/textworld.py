"""TextWorld as a puzzle: generated houses whose quests have a length that is chosen and nothing else that varies.

The games and the rules are the package's (`textworld_games`); they are played from plain data, so that states are
values and distances exact, and so that a study needs no more than the bank that ships. `TextWorldPlayed` plays the same
games through the package's own interpreter.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from horizon_bench.outside.commands import command_pattern, tidy
from horizon_bench.outside.textworld_bank import BANK, LEVELS, Bank, read_bank, read_start
from horizon_bench.outside.textworld_house import House, TextState
from horizon_bench.outside.textworld_oracle import TextWorldOracle
from horizon_bench.outside.textworld_rules import Mechanics, mechanics
from horizon_bench.outside.textworld_words import VERBS, commands, spellings, vocabulary
from puzzles.base import Puzzle

_PLACES = {token: place for place, token in enumerate(vocabulary())}
_MOST_HOUSES = 2048
_EXAMPLES = 8


class TextWorld(Puzzle[TextState, str]):
    """A house of rooms, doors, containers and keys; follow the quest to its end."""

    name: ClassVar[str] = "textworld"
    action_pattern: ClassVar[re.Pattern[str]] = command_pattern(VERBS)

    def __init__(self, bank: str | Path | None = None) -> None:
        """Open a bank of games.

        Args:
            bank: a file that `horizon-bench` shipped or that `python -m horizon_bench.outside.textworld_make` wrote.
        """
        self._path = BANK if bank is None else Path(bank)
        self._mechanics: dict[int, Mechanics] = {}
        self._houses: OrderedDict[str, House] = OrderedDict()

    @cached_property
    def bank(self) -> Bank:
        """The games."""
        return read_bank(self._path)

    def house(self, text: str) -> House:
        """Return the game of a start, ready to play."""
        house = self._houses.get(text)
        if house is None:
            number, done, label = read_start(text, self.bank)
            game = self.bank.games[number].game
            if number not in self._mechanics:
                self._mechanics[number] = mechanics(game.facts, self.bank.rules)
            house = self._houses[text] = House(game, self._mechanics[number], done, label)
            if len(self._houses) > _MOST_HOUSES:
                self._houses.popitem(last=False)
        return house

    # ---------------------------------------------------------------- rules

    def parse(self, text: str) -> TextState:
        """Return the start `house-GAME-DONE-LABEL`."""
        house = self.house(text)
        return TextState(text, house.start, house.happened(house.start, 0))

    def format(self, state: TextState) -> str:
        """Return the start, followed by what has changed since."""
        house = self.house(state.start)
        if state.facts == house.start and state.done == house.happened(house.start, 0):
            return state.start
        return f"{state.start} {state.facts:x} {state.done:x}"

    def moves(self, state: TextState) -> tuple[str, ...]:
        """Return the possible commands that change something; none once the quest is done."""
        return () if self.solved(state) else self.house(state.start).legal(state.facts)

    def apply(self, state: TextState, move: str) -> TextState:
        """Return the state after a command."""
        house = self.house(state.start)
        action = None if self.solved(state) else house.action(state.facts, move)
        if action is None:
            raise ValueError("not possible here")
        facts = action.on(state.facts)
        return TextState(state.start, facts, house.happened(facts, state.done))

    def refusal(self, state: TextState, move: str) -> str | None:
        """Return why a command is not possible here, None if it is."""
        possible = not self.solved(state) and self.house(state.start).action(state.facts, move) is not None
        return None if possible else "not possible here"

    def solved(self, state: TextState) -> bool:
        """Return whether every step of the quest has been done."""
        return state.done.bit_count() == len(self.house(state.start).events)

    def examples(self) -> tuple[str, ...]:
        """Return a few starts."""
        return self.starts("W1", "train")[:_EXAMPLES]

    def levels(self) -> tuple[str, ...]:
        """Return the levels, by how much of the quest is left."""
        return tuple(LEVELS)

    def starts(self, level: str, split: str) -> tuple[str, ...]:
        """Return the starts of one level and split."""
        return self.bank.placed.get((level, split), ())

    def key(self, state: TextState) -> str:
        """Return the content key: that of the game, and how much of the quest lies behind."""
        return self.key_of(state.start)

    def key_of(self, text: str) -> str:
        """Return the content key of a start."""
        number, done, _ = read_start(text, self.bank)
        return f"{self.bank.games[number].key}-{done}"

    def make_oracle(self, start: TextState) -> TextWorldOracle:
        """Return exact knowledge about a start."""
        return TextWorldOracle(self.house(start.start), start)

    # ---------------------------------------------------------------- text

    def parse_action(self, text: str) -> tuple[str, ...] | None:
        """Return the one command that a text is, written in words or in tokens."""
        command = spellings().get(tidy(text))
        return None if command is None else (command,)

    def format_action(self, move: str) -> str:
        """Return the command."""
        return move

    def rules(self) -> str:
        """Return rules, goal and commands."""
        return _RULES

    def render(self, state: TextState) -> str:
        """Return the house, what you carry and the quest."""
        return self.house(state.start).describe(state.facts, state.done)

    def subgoals(self, start: TextState) -> tuple[str, ...]:
        """Return the steps of the quest."""
        return tuple(event.command for event in self.house(start.start).events)

    def subgoals_done(self, start: TextState, state: TextState) -> tuple[bool, ...]:
        """Return which steps have been done."""
        return tuple(bool(state.done >> index & 1) for index in range(len(self.house(start.start).events)))

    # ---------------------------------------------------------------- tokens

    def all_moves(self) -> tuple[str, ...]:
        """Return every command there can be."""
        return tuple(commands())

    def compact(self, state: TextState) -> tuple[str, ...]:
        """Return your room, the exits of each room, where everything is, and the next step of the quest."""
        return self.house(state.start).compact(state.facts, state.done)

    def compact_action(self, move: str) -> tuple[str, ...]:
        """Return the words of a command that matter."""
        return commands()[move]

    def encode(self, state: TextState) -> NDArray[np.int8]:
        """Return the compact form as places in the vocabulary."""
        return np.array([_PLACES[token] for token in self.compact(state)], dtype=np.int8)

    def array_high(self) -> int:
        """Return the last place in the vocabulary."""
        return len(_PLACES) - 1

    def vocabulary(self) -> tuple[str, ...]:
        """Return every token."""
        return vocabulary()


_RULES = """A house of rooms, doors, containers and things (TextWorld). Do every step of your quest.
You see the whole house. Containers and doors can be opened, closed, and locked or unlocked with the one key that fits.
What is inside a closed container cannot be taken, closed doors cannot be passed. You can carry any number of things.
Commands: go north; open chest; close chest; lock chest with fob; unlock chest with fob; take lamp; drop lamp;
take lamp from chest; insert lamp into chest; put lamp on table; eat apple."""
