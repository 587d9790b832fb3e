"""Measures gold paths of ScienceWorld, and writes the bank: `python -m horizon_bench.outside.scienceworld_make --help`.

It checks as well: it names every variation whose gold path does not reach score 100, and why.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from horizon_bench.outside.extras import need
from horizon_bench.outside.scienceworld_bank import BANK, Bank, level_of, read_bank, write_bank
from horizon_bench.outside.scienceworld_jvm import ScienceWorldSimulator


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, report and write; return 1 if a gold path failed or could not be measured."""
    chosen = _parser().parse_args(arguments)
    path = Path(chosen.bank)
    with_machine = ScienceWorldSimulator()
    try:
        bank = _open(path, with_machine)
        wanted = list(_sample(bank, chosen.per_split, chosen.splits, chosen.seed, chosen.tasks))
        failed = crashed = 0
        for number, task in enumerate(wanted, start=1):
            known = bank.measured.get(task)
            if known is None or chosen.again:
                began = time.monotonic()
                try:
                    known = with_machine.measure(task)
                except ImportError:
                    raise
                except Exception as error:
                    # One machine that goes down costs one variation; the next call measures it.
                    with_machine.close()
                    crashed += 1
                    print(f"{number}/{len(wanted)} {task}: the machine went down: {error}", flush=True)
                    continue
                known = replace(known, seconds=round(time.monotonic() - began, 1))
                bank = replace(bank, measured={**bank.measured, task: known})
                if not chosen.dry_run:
                    write_bank(bank, path)
            failed += bool(known.problem)
            told = known.problem or f"score 100 after {len(known.gold)} commands ({level_of(len(known.gold))})"
            print(f"{number}/{len(wanted)} {task}: {told}", flush=True)
    except ImportError as error:
        raise SystemExit(str(error)) from error
    finally:
        with_machine.close()
    print(f"{len(wanted) - failed - crashed} of {len(wanted)} gold paths reach score 100")
    return int(failed + crashed > 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m horizon_bench.outside.scienceworld_make", description=__doc__)
    parser.add_argument(
        "--bank", default=str(BANK), help="file to read and to go on with (default: the one that ships)"
    )
    parser.add_argument("--per-split", type=int, default=1, help="variations of each task and split (default 1)")
    parser.add_argument("--splits", nargs="+", default=["train", "test"], choices=["train", "validation", "test"])
    parser.add_argument("--tasks", nargs="+", default=[], help="names of tasks (default: all thirty)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw of variations")
    parser.add_argument("--again", action="store_true", help="measure anew what the bank holds")
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    return parser


def _open(path: Path, machine: ScienceWorldSimulator) -> Bank:
    """Return the bank in a file, or an empty one with the package's splits."""
    if path.is_file():
        return read_bank(path)
    tasks = need("scienceworld.constants", "ScienceWorld").ID2TASK.values()
    version = str(need("scienceworld.version", "ScienceWorld").__version__)
    return Bank(version, {task: machine.splits(task) for task in sorted(tasks)}, {})


def _sample(bank: Bank, per_split: int, splits: Sequence[str], seed: int, tasks: Sequence[str]) -> Iterator[str]:
    """Yield variations of each task and split, the first ones of a shuffle that the seed alone decides."""
    unknown = sorted(set(tasks) - set(bank.splits))
    if unknown:
        raise SystemExit(f"unknown task {unknown[0]!r}; known: {', '.join(bank.splits)}")
    for task, parts in bank.splits.items():
        if tasks and task not in tasks:
            continue
        for split in splits:
            low, high = parts[split]
            order = np.random.default_rng(np.random.SeedSequence((seed, *f"{task}/{split}".encode()))).permutation(
                high - low
            )
            for number in order[:per_split]:
                yield f"{task}/{low + int(number)}"


if __name__ == "__main__":
    sys.exit(main())
