"""Instances: checked starts with the facts a solver established, and their tab-separated file form."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent / "data"
"""Folder of the shipped banks."""

SPLITS = ("train", "validation", "test")
"""Parts of a bank."""
_SHARES = (70, 15, 15)
"""Percent of all content keys that each split owns."""


@dataclass(frozen=True)
class Instance:
    """One start and what is proven about it."""

    puzzle: str
    """Name in `PUZZLES`."""
    size: int
    """Rows of the board; products of a shop."""
    level: str
    """Level that the instance belongs to, or `-`."""
    split: str
    """`train`, `validation` or `test`, decided by the key."""
    start: str
    """The board, as `Puzzle.format` writes it."""
    distance: int
    """Goal distance, in atomic actions."""
    slides: int
    """Rush Hour: fewest moves of any length; -1 for other puzzles."""
    grade: str
    """Sudoku: hardest technique that the technique checker needs; `-` for other puzzles or where not graded."""
    solution: str
    """Sudoku: the one solved grid; Rush Hour, Shop: a shortest plan, moves joined by `;`."""
    key: str
    """Content key, as `Puzzle.key` gives it: the same for all symmetric copies."""
    seed: str
    """`SEED/LEVEL/INDEX` where the project's generator made it, else `-`."""


COLUMNS = tuple(field.name for field in fields(Instance))


def split_of(key: str) -> str:
    """Return the split that a content key belongs to: about 70 % train, 15 % validation, 15 % test.

    Symmetric copies of a puzzle share the key, so they never stand in two splits.
    """
    draw = int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big") % sum(_SHARES)
    for split, share in zip(SPLITS, _SHARES, strict=True):
        if draw < share:
            return split
        draw -= share
    raise AssertionError("shares cover every draw")


def instance_rng(seed: int, level: str, index: int) -> np.random.Generator:
    """Return the stream of random numbers that instance `index` of a level is made from, unrelated to all others.

    Raises:
        ValueError: if the seed is negative.
    """
    if seed < 0:
        raise ValueError(f"seed is {seed}, must be 0 or more")
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(*level.encode(), index)))


def instance_lines(instances: Iterable[Instance], remarks: Mapping[str, str]) -> list[str]:
    """Return the lines of a bank file: remarks as `# name: value`, the last the number of rows, a header, the rows."""
    rows = ["\t".join(str(value) for value in asdict(instance).values()) for instance in instances]
    noted = {**remarks, "rows": str(len(rows))}
    return [*(f"# {name}: {value}" for name, value in noted.items()), "\t".join(COLUMNS), *rows]


def write_instances(instances: Iterable[Instance], path: Path, remarks: Mapping[str, str]) -> None:
    """Write a bank file, whole or not at all."""
    lines = instance_lines(instances, remarks)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text("\n".join(lines) + "\n", encoding="utf8", newline="\n")
    part.replace(path)


def read_instances(path: Path) -> tuple[dict[str, str], list[tuple[int, Instance]]]:
    """Return the remarks of a bank file and its instances with their line numbers.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: naming file and line, if a line is not as `write_instances` writes it, or the file was cut off.
    """
    remarks: dict[str, str] = {}
    rows: list[tuple[int, Instance]] = []
    header_seen = False
    try:
        lines = path.read_text(encoding="utf8").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: no bank file, it is no text in UTF-8") from error
    for number, line in enumerate(lines, start=1):
        if line.startswith("#"):
            name, _, value = line[1:].partition(":")
            remarks[name.strip()] = value.strip()
        elif line and not header_seen:
            if tuple(line.split("\t")) != COLUMNS:
                raise ValueError(f"{path}:{number}: no bank file, its header is not {' '.join(COLUMNS)}")
            header_seen = True
        elif line:
            rows.append((number, _read_row(line, f"{path}:{number}")))
    if not header_seen:
        raise ValueError(f"{path}: no bank file, it has no header")
    if lines[-1]:
        raise ValueError(f"{path}:{len(lines)}: cut off, the last line has no end")
    if remarks.get("rows", str(len(rows))) != str(len(rows)):
        raise ValueError(f"{path}: {len(rows)} rows, its first lines say {remarks['rows']}")
    return remarks, rows


def _read_row(line: str, place: str) -> Instance:
    values = line.split("\t")
    if len(values) != len(COLUMNS):
        raise ValueError(f"{place}: {len(values)} columns, expected {len(COLUMNS)}")
    row = dict(zip(COLUMNS, values, strict=True))
    numbers: dict[str, int] = {}
    for name in ("size", "distance", "slides"):
        try:
            numbers[name] = int(row.pop(name))
        except ValueError:
            raise ValueError(f"{place}: {name} is no whole number") from None
    if row["split"] not in SPLITS:
        raise ValueError(f"{place}: unknown split {row['split']!r}; known: {', '.join(SPLITS)}")
    return Instance(**row, **numbers)  # type: ignore[arg-type]
