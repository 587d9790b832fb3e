"""The same TextWorld games in the package's own interpreter: its text, its commands, nothing of ours in between.

A game is written with the names of its start, compiled once into the cache, and played in a process of its own.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from horizon_bench.outside.bank_files import digest
from horizon_bench.outside.child import ChildSimulator, serve
from horizon_bench.outside.extras import need
from horizon_bench.outside.simulators import Simulator, View
from horizon_bench.outside.textworld import TextWorld
from horizon_bench.outside.textworld_bank import LEVELS
from horizon_bench.outside.textworld_games import Fact
from horizon_bench.outside.textworld_house import House
from horizon_bench.outside.textworld_rules import kind_of
from horizon_bench.outside.textworld_words import VERBS
from horizon_bench.outside.world import World

CACHE = Path.home() / ".cache" / "horizon_bench" / "textworld"
_NEEDS = "playing TextWorld's interpreter"
_LOOKING = ("examine", "look", "inventory")
"""Commands that change nothing. The interpreter takes them; our levels do not count them as moves."""


class TextWorldPlayed(World):
    """A house of rooms, doors, containers and keys, as TextWorld tells it. Follow the quest to its end."""

    name = "textworld-played"
    verbs: ClassVar[tuple[str, ...]] = (*VERBS, *_LOOKING)
    most_live: ClassVar[int] = 4

    def __init__(self, bank: str | Path | None = None) -> None:
        """Open a bank of games.

        Args:
            bank: a file of games; by default the one that ships.
        """
        self._plain = TextWorld(bank)
        self._bank = "" if bank is None else str(bank)

    def start_simulator(self) -> Simulator:
        """Start an interpreter in a process of its own."""
        need("textworld", _NEEDS)
        return ChildSimulator("horizon_bench.outside.textworld_played", [self._bank] if self._bank else [])

    def has_task(self, task: str) -> bool:
        """Return whether the bank has the start."""
        try:
            self._plain.house(task)
        except ValueError:
            return False
        return True

    def gold(self, task: str) -> tuple[str, ...]:
        """Return a shortest way, as the rules give it."""
        start = self._plain.parse(task)
        return self._plain.make_oracle(start).plan(start) or ()

    def subgoal_names(self, task: str) -> tuple[str, ...]:
        """Return the steps of the quest."""
        return self._plain.subgoals(self._plain.parse(task))

    def examples(self) -> tuple[str, ...]:
        """Return a few starts."""
        return self._plain.examples()

    def levels(self) -> tuple[str, ...]:
        """Return the levels, by how much of the quest is left."""
        return tuple(LEVELS)

    def starts(self, level: str, split: str) -> tuple[str, ...]:
        """Return the starts of one level and split."""
        return self._plain.starts(level, split)

    def key_of(self, text: str) -> str:
        """Return the content key of a start."""
        return self._plain.key_of(text)


class Interpreter:
    """One game at a time in the package's interpreter."""

    def __init__(self, bank: str = "") -> None:
        self._plain = TextWorld(bank or None)
        self._env: Any = None
        self._objective = ""

    def reset(self, task: str) -> View:
        """Begin a start anew."""
        textworld = need("textworld", _NEEDS)
        self.close()
        # The reward itself is of no use here; asking for it is what makes the package follow the quest's events.
        infos = textworld.EnvInfos(
            admissible_commands=True, won=True, lost=True, description=True, inventory=True, intermediate_reward=True
        )
        self._env = textworld.start(str(compiled(self._plain.house(task))), infos)
        self._objective = "; ".join(self._plain.subgoals(self._plain.parse(task)))
        return self._view(self._env.reset(), "")

    def step(self, command: str) -> View:
        """Carry out one of the admissible commands."""
        state, _, _ = self._env.step(command)
        return self._view(state, " ".join(state.feedback.split()))

    def close(self) -> None:
        """End the interpreter."""
        if self._env is not None:
            self._env.close()
            self._env = None

    def _view(self, state: Any, answer: str) -> View:
        """Return what the interpreter tells."""
        progress = state["_game_progression"]
        happened = tuple(bool(quest.completed) for quest in progress.quest_progressions)
        won = bool(state.won)
        commands = () if won else tuple(sorted(state.admissible_commands))
        text = [
            f"Your quest: {self._objective}.",
            *([answer] if answer else []),
            " ".join(state.description.split()),
            " ".join(state.inventory.split()),
        ]
        score = sum(happened) / len(happened)
        return View("\n".join(text), commands, won, bool(state.lost), happened, score=score)


def package_game(house: House) -> Any:
    """Return a start as a game of the package, with its names and its map turned."""
    worlds = need("textworld.generator.world", _NEEDS)
    games = need("textworld.generator.game", _NEEDS)
    facts = [*house.fixed, *house.mechanics.holding(house.start)]
    quests = [
        games.Quest([games.Event(conditions=_propositions(house, house.mechanics.holding(event.mask)))])
        for event in house.events
    ]
    game = games.Game(worlds.World.from_facts(_propositions(house, facts)), None, quests)
    for thing, info in game.infos.items():
        info.name = house.names.get(thing, thing)
        info.desc = house.room_text(info.name) if kind_of(thing) == "r" else f"The {info.name}."
    return game


def _propositions(house: House, facts: Iterable[Fact]) -> list[Any]:
    """Return facts as the package writes them, compass points as they are turned."""
    logic = need("textworld.logic", _NEEDS)
    found = []
    for fact in sorted(facts):
        side = fact[0].removesuffix("_of")
        name = f"{house.names[side]}_of" if fact[0].endswith("_of") else fact[0]
        found.append(logic.Proposition(name, [logic.Variable(thing, kind_of(thing)) for thing in fact[1:]]))
    return found


def compiled(house: House, folder: Path = CACHE) -> Path:
    """Return the compiled game of a start, from the cache if it was compiled before.

    Args:
        house: the start.
        folder: the cache.
    """
    textworld = need("textworld", _NEEDS)
    generator = need("textworld.generator", _NEEDS)
    game = package_game(house)
    name = digest(f"{textworld.__version__} {sorted(house.names.items())} {game.serialize()['world']} {house.events}")
    path = folder / f"{name}.z8"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as draft:
            options = textworld.GameOptions()
            options.path = str(Path(draft) / f"{name}.z8")
            made = Path(generator.compile_game(game, options))
            shutil.move(made.with_suffix(".json"), path.with_suffix(".json"))
            shutil.move(made, path)
    return path


if __name__ == "__main__":
    serve(partial(Interpreter, *sys.argv[1:]))
