"""The bank of TextWorld games: a file of plain data, its levels and splits, and the names of its starts.

A start is `house-12-7-0`: game 12 after the first 7 actions of its quest, with its names drawn by label 0. Starts of
one game differ in how much of the quest is left, and in nothing else: the same rooms, things and goal.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from horizon_bench.outside.bank_files import digest, read_data, write_data
from horizon_bench.outside.textworld_games import Fact, Game, Rule

BANK = Path(__file__).parent / "data" / "textworld.json.gz"
LEVELS: dict[str, tuple[int, int]] = {"W1": (2, 4), "W2": (5, 8), "W3": (9, 14), "W4": (15, 20)}
"""Range of the quest length that is left, both ends included."""
SHARES = {"validation": 0.15, "test": 0.25}
"""Share of the games in each split; the rest is for training."""
LABELS = 4
"""Draws of names that training takes each start with."""
_TEXT = re.compile(r"house-([0-9]{1,6})-([0-9]{1,3})-([0-9]{1,6})")


@dataclass(frozen=True)
class Banked:
    """A game with what was measured of it."""

    game: Game
    key: str
    """Content key: equal for two games that differ in names and in the map's orientation only."""
    distances: tuple[int, ...]
    """Fewest commands to the end of the quest after each number of its actions."""


@dataclass(frozen=True)
class Bank:
    """Games and the rules they play by."""

    version: str
    """Of the package that made them."""
    rules: tuple[Rule, ...]
    games: tuple[Banked, ...]

    @cached_property
    def splits(self) -> dict[str, tuple[int, ...]]:
        """Numbers of the games of each split, chosen by content key."""
        keys = sorted({each.key for each in self.games})
        split_of, first = {}, 0
        for split, share in SHARES.items():
            count = round(share * len(keys))
            split_of.update(dict.fromkeys(keys[first : first + count], split))
            first += count
        found: dict[str, list[int]] = defaultdict(list)
        for number, each in enumerate(self.games):
            found[split_of.get(each.key, "train")].append(number)
        return {split: tuple(numbers) for split, numbers in found.items()}

    @cached_property
    def placed(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """Starts of each level and split, in an order that tells nothing."""
        found: dict[tuple[str, str], list[str]] = defaultdict(list)
        for split, numbers in self.splits.items():
            for number in numbers:
                for done, distance in enumerate(self.games[number].distances):
                    for level, (least, most) in LEVELS.items():
                        if least <= distance <= most:
                            labels = range(LABELS if split == "train" else 1)
                            found[level, split] += [start_text(number, done, label) for label in labels]
        return {place: tuple(sorted(texts, key=digest)) for place, texts in found.items()}


def start_text(number: int, done: int, label: int = 0) -> str:
    """Return the name of a start."""
    return f"house-{number}-{done}-{label}"


def read_start(text: str, bank: Bank) -> tuple[int, int, int]:
    """Return game, actions done and label of a start.

    Raises:
        ValueError: if the bank has no such start.
    """
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:60]!r} is no start; write house-GAME-DONE-LABEL, such as house-0-5-0")
    number, done, label = map(int, match.groups())
    if text != start_text(number, done, label):
        raise ValueError(f"{text!r} has zeros in front; write {start_text(number, done, label)}")
    if number >= len(bank.games):
        raise ValueError(f"{text!r}: the bank has games 0 to {len(bank.games) - 1}")
    if done >= len(bank.games[number].game.quest):
        raise ValueError(f"{text!r}: the quest of game {number} has {len(bank.games[number].game.quest)} actions")
    return number, done, label


def content_key(game: Game) -> str:
    """Return the content key of a game, by colours that are refined until they tell all they can.

    Args:
        game: names and compass points may be exchanged without a change of the key.
    """
    relations = [(_unturned(fact[0]), fact[1:]) for fact in game.facts]
    relations += [(f"{index} {_unturned(step[0])}", step[1:]) for index, step in enumerate(game.quest)]
    colour = {thing: digest(thing.partition("_")[0]) for _, things in relations for thing in things}
    for _ in range(len(colour)):
        seen: dict[str, list[str]] = defaultdict(list)
        for name, things in relations:
            around = " ".join(colour[thing] for thing in things)
            for place, thing in enumerate(things):
                seen[thing].append(f"{name} {place} {around}")
        new = {thing: digest(colour[thing] + "|".join(sorted(seen[thing]))) for thing in colour}
        if len(set(new.values())) == len(set(colour.values())):
            break
        colour = new
    return digest(
        "|".join(sorted(f"{name} {' '.join(colour[thing] for thing in things)}" for name, things in relations))
    )


def _unturned(name: str) -> str:
    """Return a predicate or rule without its compass point."""
    return re.sub("north|south|east|west", "side", name)


def write_bank(bank: Bank, path: Path) -> None:
    """Write a bank, whole or not at all; the same bank gives the same bytes."""
    data = {
        "package": f"textworld {bank.version}",
        "rules": [asdict(rule) for rule in bank.rules],
        "games": [
            {
                "seed": each.game.seed,
                "key": each.key,
                "distances": each.distances,
                "facts": "; ".join(" ".join(fact) for fact in each.game.facts),
                "quest": "; ".join(" ".join(step) for step in each.game.quest),
            }
            for each in bank.games
        ],
    }
    write_data(path, data)
    read_bank.cache_clear()


@lru_cache(maxsize=4)
def read_bank(path: Path = BANK) -> Bank:
    """Return a bank.

    Raises:
        ValueError: if the file is no bank.
    """
    try:
        content = read_data(path)
        rules = tuple(
            Rule(
                rule["name"],
                tuple((name, kind) for name, kind in rule["parameters"]),
                tuple(map(tuple, rule["needs"])),
                tuple(map(tuple, rule["gives"])),
                rule["command"],
            )
            for rule in content["rules"]
        )
        games = tuple(
            Banked(
                Game(each["seed"], _facts(each["facts"]), _facts(each["quest"])), each["key"], tuple(each["distances"])
            )
            for each in content["games"]
        )
        return Bank(content["package"].rpartition(" ")[2], rules, games)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path} is no bank of TextWorld games: {error}") from error


def _facts(text: str) -> tuple[Fact, ...]:
    return tuple(tuple(fact.split()) for fact in text.split("; ") if fact)
