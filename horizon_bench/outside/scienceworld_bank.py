"""The tasks of ScienceWorld as plain data: names, splits, and the measured gold commands of the banked variations.

Nothing here needs the package or Java. `python -m horizon_bench.outside.scienceworld_make` wrote the file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from horizon_bench.outside.bank_files import digest, read_data, write_data

BANK = Path(__file__).parent / "data" / "scienceworld.json.gz"
LEVELS: dict[str, tuple[int, int]] = {"short": (1, 10), "medium": (11, 30), "long": (31, 10_000)}
"""Range of the number of gold commands, both ends included."""
SPLITS = {"train": "train", "dev": "validation", "test": "test"}
"""Our name for each of the package's splits."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of one variation."""

    gold: tuple[str, ...]
    """Commands of the package's gold path, up to the one that reaches the goal."""
    subgoals: tuple[str, ...]
    """Names of the sequential subgoals."""
    seconds: float
    """How long making and playing them took."""
    problem: str = ""
    """Why the gold path does not reach the goal; empty where it does."""


@dataclass(frozen=True)
class Bank:
    """Every task, and the variations that were measured."""

    version: str
    """Of the package."""
    splits: Mapping[str, Mapping[str, tuple[int, int]]]
    """Of each task: first variation of each split, and the first beyond it."""
    measured: Mapping[str, Measured]

    def has(self, text: str) -> bool:
        """Return whether `TASK/VARIATION` exists."""
        task, _, number = text.partition("/")
        if task not in self.splits or not number.isascii() or not number.isdigit() or str(int(number)) != number:
            return False
        return any(low <= int(number) < high for low, high in self.splits[task].values())

    def split_of(self, text: str) -> str:
        """Return the split that a variation belongs to."""
        task, _, number = text.partition("/")
        return next(split for split, (low, high) in self.splits[task].items() if low <= int(number) < high)

    @cached_property
    def placed(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """Measured variations of each level and split that the gold path solves, in an order that tells nothing."""
        found: dict[tuple[str, str], list[str]] = defaultdict(list)
        for text, each in self.measured.items():
            if not each.problem:
                found[level_of(len(each.gold)), self.split_of(text)].append(text)
        return {place: tuple(sorted(texts, key=digest)) for place, texts in found.items()}


def level_of(length: int) -> str:
    """Return the level of a number of gold commands."""
    return next(level for level, (low, high) in LEVELS.items() if low <= length <= high)


@lru_cache(maxsize=4)
def read_bank(path: Path = BANK) -> Bank:
    """Return the bank in a file.

    Raises:
        ValueError: if the file is none.
    """
    try:
        data = read_data(path)
        splits = {
            task: {name: (low, high) for name, (low, high) in parts.items()} for task, parts in data["splits"].items()
        }
        measured = {
            text: Measured(tuple(each["gold"]), tuple(each["subgoals"]), each["seconds"], each["problem"])
            for text, each in data["measured"].items()
        }
        return Bank(str(data["version"]), splits, measured)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path} is no bank of ScienceWorld tasks ({error})") from error


def write_bank(bank: Bank, path: Path) -> None:
    """Write a bank, whole or not at all, the same bytes for the same bank."""
    measured = {text: asdict(each) for text, each in sorted(bank.measured.items())}
    write_data(path, {"version": bank.version, "splits": bank.splits, "measured": measured})
    read_bank.cache_clear()
