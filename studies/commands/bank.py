"""`horizon-bench bank build`, `verify`, `import` and `list`: files of proven instances."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import tyro

from puzzles.names import check_name

if TYPE_CHECKING:
    from curricula.instances import Instance

DEFAULT_SEED = 2026
"""Seed of the shipped banks."""
LONGEST = 300
"""Characters shown of a refused row."""


@dataclass(frozen=True)
class BankBuild:
    """Build banks of new proven instances, one file a level, split by content key."""

    level: tuple[str, ...] = ()
    """Levels such as L3 or R1; all by default."""
    out: Path = Path("banks")
    """Folder for the files, called LEVEL.tsv."""
    seed: int = DEFAULT_SEED
    """The same seed gives the same bank."""
    workers: int = 2
    """Processes; the bank does not depend on their number."""
    train: int | None = None
    """Instances of the training split; as in the shipped bank by default."""
    validation: int | None = None
    """Instances of the validation split."""
    test: int | None = None
    """Instances of the test split."""

    def run(self) -> int:
        """Build each level and print `level train validation test file`."""
        from curricula import banks
        from curricula.levels import LEVELS, TECHNIQUE_LEVELS, find_level

        levels = [find_level(name) for name in self.level or (*LEVELS, *TECHNIQUE_LEVELS)]
        status = 0
        print("\t".join(("level", *banks.SPLITS, "file")))
        for level in levels:
            asked = {"train": self.train, "validation": self.validation, "test": self.test}
            wanted = banks.quota(level) | {split: number for split, number in asked.items() if number is not None}
            built = banks.build_bank(level, self.seed, wanted, self.workers, _progress(level.name))
            file = self.out / f"{level.name}.tsv"
            banks.save_bank(built, file, level=level.name, seed=str(self.seed), version=banks.VERSION)
            counts = banks.summary(built)
            print("\t".join((level.name, *(str(counts[split]) for split in banks.SPLITS), str(file))), flush=True)
            for split, number in wanted.items():
                if counts[split] < number:
                    status = 1
                    print(f"{level.name}: only {counts[split]} of {number} {split} instances found", file=sys.stderr)
        return status


@dataclass(frozen=True)
class BankVerify:
    """Prove every row of banks again: solutions, distance, grade, plan, key, split, level."""

    path: tyro.conf.Positional[tuple[Path, ...]] = ()
    """Bank files or folders of them; the shipped banks by default."""
    level: tuple[str, ...] = ()
    """Only these levels."""
    workers: int = 2
    """Processes."""

    def run(self) -> int:
        """Print `rows proven failed`; one line per failure on standard error."""
        from curricula import banks
        from curricula.verifying import verify_banks

        paths = self.path or (banks.DATA,)
        files = [file for path in paths for file in (banks.bank_files(path) if path.is_dir() else [path])]
        if not files:
            raise ValueError(f"no bank files to verify in {', '.join(map(str, paths))}; they are called LEVEL.tsv")
        for level in self.level:
            check_name("level of these banks", level, dict.fromkeys(file.stem for file in files))
        files = [file for file in files if not self.level or file.stem in self.level]
        rows, problems = verify_banks(files, self.workers, _progress("rows"))
        for problem in problems:
            print(problem, file=sys.stderr)
        failed = len({(problem.file, problem.line) for problem in problems})
        print("rows\tproven\tfailed")
        print(f"{rows}\t{rows - failed}\t{failed}")
        return 1 if problems else 0


@dataclass(frozen=True)
class BankImport:
    """Turn a list of your own puzzles into a bank: every row is proven, every refused row named with its reason."""

    file: tyro.conf.Positional[Path]
    """One puzzle a line, or a table whose header names the board column, or lines `slides board states`."""
    puzzle: Literal["auto", "sudoku", "rush-hour", "shop"] = "auto"
    """What the puzzles are; auto looks at the boards."""
    out: Path | None = None
    """Bank file to write; standard output by default."""
    level: str | None = None
    """Level to enter all puzzles in; by default each one's own by its distance."""

    def run(self) -> int:
        """Write the bank; refused rows go to standard error."""
        from curricula.bank_import import guess_puzzle, import_instances
        from curricula.instances import instance_lines, write_instances

        puzzle = guess_puzzle(self.file) if self.puzzle == "auto" else self.puzzle
        accepted, rejected = import_instances(self.file, puzzle, self.level)
        remarks = {"imported": self.file.name, "accepted": str(len(accepted)), "rejected": str(len(rejected))}
        if self.out is None:
            print("\n".join(instance_lines(accepted, remarks)))
        else:
            write_instances(accepted, self.out, remarks)
            print(f"{self.out}: {len(accepted)} accepted, {len(rejected)} rejected")
        for row in rejected:
            print(f"line {row.line}: {row.reason[:LONGEST]}: {row.text[:LONGEST]}", file=sys.stderr)
        return 1 if rejected else 0


@dataclass(frozen=True)
class BankList:
    """Show the banks at hand."""

    path: tyro.conf.Positional[Path | None] = None
    """Folder of bank files; the shipped ones by default."""

    def run(self) -> int:
        """Print `level puzzle size distances train validation test seed` a line."""
        from curricula import banks
        from curricula.instances import read_instances

        folder = self.path or banks.DATA
        if not folder.is_dir():
            raise ValueError(f"{folder} is no folder of banks")
        files = banks.bank_files(folder)
        if not files:
            raise ValueError(f"{folder} holds no bank files, which are called LEVEL.tsv")
        print("\t".join(("level", "puzzle", "size", "distances", *banks.SPLITS, "seed")))
        for file in files:
            remarks, rows = read_instances(file)
            instances = [instance for _, instance in rows]
            counts = banks.summary(instances)
            numbers = (str(counts[split]) for split in banks.SPLITS)
            print("\t".join((file.stem, *_shape(instances), *numbers, remarks.get("seed", "-"))))
        return 0


def _shape(instances: Sequence[Instance]) -> tuple[str, str, str]:
    """Return puzzle, size and range of distances of a bank's instances."""
    if not instances:
        return "-", "-", "-"
    distances = sorted(instance.distance for instance in instances)
    first = instances[0]
    return first.puzzle, str(first.size), f"{distances[0]}-{distances[-1]}"


def _progress(what: str) -> Callable[[int, int], None]:
    """Return a callback that shows how far the work is, where standard error is a terminal."""

    def show(done: int, total: int) -> None:
        if sys.stderr.isatty():
            end = "\n" if done == total else ""
            print(f"\r{what}: {done} of {total} ", end=end, file=sys.stderr, flush=True)

    return show
