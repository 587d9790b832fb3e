"""Banks: shipped and built files of proven instances, one file a level, split by content key.

The shipped ones lie in `curricula/data`; each says in its first lines from which seed and generator version it comes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import lru_cache, partial
from pathlib import Path

from curricula.bank_import import Rejected, import_instances
from curricula.instances import DATA, SPLITS, Instance, read_instances, split_of, write_instances
from curricula.levels import Level, find_level
from curricula.making import make_instance, relation
from puzzles.names import check_name

__all__ = [
    "DATA",
    "SPLITS",
    "Instance",
    "Rejected",
    "bank_files",
    "build_bank",
    "import_instances",
    "load_bank",
    "quota",
    "save_bank",
    "split_of",
]

VERSION = "1"
"""Raised whenever the same seed gives other instances."""

_BLOCK = 32
_TRIES = 40
"""A level that needs more than this many instances for each one kept is given up."""

_TECHNIQUE_NUMBERS = {"L2": (12, 3, 3), "L3": (30, 10, 10), "L4": (60, 20, 30), "L5": (100, 30, 60)}
"""Instances that need more than singles, by split: the fewer blanks, the rarer they are."""

Progress = Callable[[int, int], None]


def quota(level: Level) -> dict[str, int]:
    """Return how many instances a shipped bank of a level holds, by split."""
    if level.techniques:
        numbers = (100, 30, 60) if level.name.endswith("-single") else _TECHNIQUE_NUMBERS[level.name[:2]]
        return dict(zip(SPLITS, numbers, strict=True))
    match level.name[0], int(level.name[1:]):
        case ("T" | "M", _) | ("S", 1 | 2 | 3 | 4):
            return {"train": 640, "validation": 100, "test": 200}
        case "S", _:
            return {"train": 100, "validation": 100, "test": 200}
        case ("L", 5 | 6) | ("R", 6 | 7):
            return {"train": 100, "validation": 100, "test": 100}
        case "L", 7:
            return {"train": 100, "validation": 100, "test": 50}
    return {"train": 640, "validation": 100, "test": 100}


def load_bank(level: str | None, split: str = "train", path: str | Path | None = None) -> tuple[Instance, ...]:
    """Return the instances of a level and split, in the order of the file.

    Args:
        level: name of the level; None takes every level of the bank file `path`.
        split: `train`, `validation` or `test`.
        path: a bank file, or a folder of files called `LEVEL.tsv`; the shipped banks by default.

    Raises:
        ValueError: if level or split is unknown or missing, or the file holds nothing of them.
        FileNotFoundError: if there is no such file.
    """
    check_name("split", split, SPLITS)
    place = Path(path) if path is not None else DATA
    if level is None and not place.is_file():
        raise ValueError(f"name a level, or a bank file with any levels; {place} is no file")
    if path is None and level is not None:
        find_level(level)
    file = place / f"{level}.tsv" if place.is_dir() else place
    if not file.is_file():
        known = ", ".join(bank.stem for bank in bank_files(place)) or "none"
        raise FileNotFoundError(f"no bank of level {level} at {file}; banks there: {known}")
    rows = [each for each in _read(file, file.stat().st_mtime_ns) if level is None or each.level == level]
    chosen = tuple(each for each in rows if each.split == split)
    if not chosen:
        held = ", ".join(sorted({each.split for each in rows}, key=SPLITS.index)) or "none"
        what = "instances" if level is None else f"instances of level {level!r}"
        raise ValueError(f"{file} holds no {split} {what}; splits it holds of them: {held}")
    return chosen


def bank_files(folder: str | Path = DATA) -> list[Path]:
    """Return the bank files of a folder, by name."""
    return sorted(Path(folder).glob("*.tsv"))


def save_bank(instances: Sequence[Instance], path: str | Path, **remarks: str) -> None:
    """Write instances as a bank file; `remarks` stand in its first lines."""
    write_instances(instances, Path(path), remarks)


def build_bank(
    level: Level,
    seed: int,
    wanted: dict[str, int] | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> list[Instance]:
    """Return new proven instances of a level, by split and then in the order of their making.

    Args:
        level: what to make.
        seed: seed of the series.
        wanted: how many of each split; the shipped banks' numbers by default. A small board may have fewer:
            what there is comes back.
        workers: processes; the result does not depend on their number.
        progress: called with instances kept and wanted.

    Raises:
        ValueError: if the generator cannot make the level.
    """
    wanted = quota(level) if wanted is None else wanted
    total = sum(wanted.values())
    kept: dict[str, list[Instance]] = {split: [] for split in SPLITS}
    seen: set[str] = set()
    for made in _series(level, seed, _TRIES * total, workers):
        if len(kept[made.split]) < wanted.get(made.split, 0):
            mark = relation(made)
            if mark not in seen:
                seen.add(mark)
                kept[made.split].append(made)
        count = sum(map(len, kept.values()))
        if progress is not None:
            progress(count, total)
        if count == total:
            break
    return [instance for split in SPLITS for instance in kept[split]]


def summary(instances: Sequence[Instance]) -> dict[str, int]:
    """Return how many instances of each split there are."""
    counts = Counter(instance.split for instance in instances)
    return {split: counts[split] for split in SPLITS}


def _series(level: Level, seed: int, most: int, workers: int) -> Iterator[Instance]:
    """Yield the instances of a level's series in order."""
    blocks = range(0, most, _BLOCK)
    make = partial(_make_block, level, seed)
    with ProcessPoolExecutor(workers) if workers > 1 else nullcontext() as pool:
        for first in range(0, len(blocks), workers):
            part = blocks[first : first + workers]
            for block in pool.map(make, part) if pool is not None else map(make, part):
                yield from block


def _make_block(level: Level, seed: int, first: int) -> list[Instance]:
    return [make_instance(level, seed, index) for index in range(first, first + _BLOCK)]


@lru_cache(maxsize=64)
def _read(file: Path, changed: int) -> tuple[Instance, ...]:
    """Return the instances of a file, read again after it changed."""
    return tuple(instance for _, instance in read_instances(file)[1])
