"""Chooses the instances an environment draws from: one text, a bank, or the puzzle's own examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from curricula.instances import SPLITS, Instance
from curricula.levels import LEVELS, Level
from horizon_bench.envs.instances import PuzzleName, make_puzzle
from horizon_bench.envs.settings import check_count
from puzzles.names import check_name
from puzzles.sudoku import sudoku_size


@dataclass(frozen=True)
class Source:
    """Where starts come from."""

    instances: Sequence[Any]
    """Texts or records, at least one."""
    size: int | None
    """Rows of the board; None leaves it to the puzzle."""


def find_source(
    puzzle: PuzzleName, level: str | None, split: str, bank: str | Path | None, size: int | None, instance: str | None
) -> Source:
    """Return the instances that the arguments ask for.

    Args:
        puzzle: a name in `PUZZLES` or an import string.
        level: name of a level; by default all levels of the bank file, without one the puzzle's first at its size.
        split: `train`, `validation` or `test`.
        bank: path of a bank file; by default the bank that ships for the level.
        size: rows of the board; by default the level's.
        instance: text of the only start.

    Raises:
        ValueError: if the arguments contradict each other, or name nothing.
    """
    check_name("split", split, SPLITS)
    if size is not None:
        check_count("size", size, least=1)
    known = [entry for entry in LEVELS.values() if entry.puzzle == puzzle]
    if instance is not None:
        if level is not None and known:
            check_name(f"level of {puzzle}", level, [entry.name for entry in known])
        return _only(puzzle, instance, bank, size)
    if not known and bank is None:
        if own := _own_levels(puzzle, size):
            return Source(_own_starts(puzzle, size, own, level, split), size)
        if level is not None:
            raise ValueError(f"puzzle {puzzle!r} has no levels, so no level {level!r}; give bank=PATH, or no level")
        return Source(_examples(puzzle, size), size)
    if level is None and bank is not None and Path(bank).is_file():
        return _whole(puzzle, split, bank, size)
    if known:
        found = _find_level(puzzle, known, level, size)
        level, size = found.name, found.size
    elif size is None and level in LEVELS:
        size = LEVELS[level].size
    return Source(_bank(level, split, bank), size)


def _find_level(puzzle: PuzzleName, known: Sequence[Level], level: str | None, size: int | None) -> Level:
    """Return the level asked for, by default the first one of the size."""
    if level is None:
        for entry in known:
            if size in (None, entry.size):
                return entry
        sizes = ", ".join(sorted({str(entry.size) for entry in known}))
        raise ValueError(f"no level has boards of size {size}; sizes with levels: {sizes}; or give instance=")
    found = LEVELS[check_name(f"level of {puzzle}", level, [entry.name for entry in known])]
    if size not in (None, found.size):
        raise ValueError(f"size is {size}, but level {level} has boards of size {found.size}; give one of them")
    return found


def _only(puzzle: PuzzleName, instance: object, bank: str | Path | None, size: int | None) -> Source:
    """Return the source of one start."""
    if not isinstance(instance, str):
        raise ValueError(f"instance is {instance!r}, must be the text of a start")
    if bank is not None:
        raise ValueError(f"there are an instance and a bank, {str(bank)!r}; give one of them")
    if size is None and puzzle == "sudoku":
        size = sudoku_size(instance)
    return Source((instance,), size)


def _whole(puzzle: PuzzleName, split: str, bank: str | Path, size: int | None) -> Source:
    """Return the source of all levels in a bank file."""
    instances = [each for each in _bank(None, split, bank) if size is None or each.size == size]
    others = sorted({each.puzzle for each in instances} - {puzzle})
    if others:
        raise ValueError(
            f"bank {str(bank)!r} holds {' and '.join(others)}, not only {puzzle}; give the bank of {puzzle}"
        )
    sizes = sorted({each.size for each in instances})
    if len(sizes) != 1:
        held = ", ".join(map(str, sizes)) or f"none of {size}"
        raise ValueError(f"bank {str(bank)!r} holds boards of several sizes or none ({held}); give size= or level=")
    return Source(instances, sizes[0])


def _bank(level: str | None, split: str, bank: str | Path | None) -> tuple[Instance, ...]:
    """Return the instances of a bank, imported here because the compiled solvers come with them."""
    from curricula.banks import load_bank

    return load_bank(level, split, bank)


class OwnStart(NamedTuple):
    """A start of one of a puzzle's own levels, as an environment draws it."""

    start: str
    level: str
    key: str


@lru_cache(maxsize=64)
def _own_levels(puzzle: PuzzleName, size: int | None) -> tuple[str, ...]:
    """Return the levels that a puzzle states itself."""
    return make_puzzle(puzzle, size).levels()


@lru_cache(maxsize=64)
def _own_starts(
    puzzle: PuzzleName, size: int | None, levels: Sequence[str], level: str | None, split: str
) -> tuple[OwnStart, ...]:
    """Return the starts of one of a puzzle's own levels, by default the first."""
    chosen = levels[0] if level is None else check_name(f"level of {puzzle}", level, levels)
    made = make_puzzle(puzzle, size)
    texts = made.starts(chosen, split)
    if not texts:
        raise ValueError(f"puzzle {puzzle!r} has no start of level {chosen} in split {split!r}")
    return tuple(OwnStart(text, chosen, made.key_of(text)) for text in texts)


def _examples(puzzle: PuzzleName, size: int | None) -> tuple[str, ...]:
    examples = tuple(make_puzzle(puzzle, size).examples())
    if not examples:
        raise ValueError(
            f"puzzle {puzzle!r} offers no examples() to start from; give instance=TEXT or bank=PATH, "
            "or let its examples() return texts of starts"
        )
    return examples
