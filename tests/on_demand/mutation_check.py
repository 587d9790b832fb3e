"""Mutation testing of returns, advantages, corrections, metrics, collapse and puzzle rules: `tox -e mutation`.

For each file mutmut writes variants with one small change, and the tests named here run until one fails. The share of
variants that a test notices is printed for each file; under 90 % the command fails. What no test can notice stands in
`docs/quality.md`. What was found is kept: a variant that was noticed is tried again only after `--fresh` or where its
file changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / ".tox" / "mutation" / "found"
CREDIT = "tests/horizon_bench/credit/"
PUZZLES = "tests/puzzles/"
SHOP = (PUZZLES + "test_shop_exact.py", PUZZLES + "test_shop_text.py", PUZZLES + "test_shop.py")
RUSH_HOUR = (PUZZLES + "test_rush_hour_exact.py", PUZZLES + "test_rush_hour.py")
REDUCTIONS = CREDIT + "test_reductions.py"
LOOPS = CREDIT + "test_properties.py::test_the_vectorised_form_agrees_with_the_plain_loop"
TARGET = 0.9

FILES: dict[str, tuple[str, ...]] = {
    "horizon_bench/credit/returns.py": (CREDIT + "test_returns.py", REDUCTIONS),
    "horizon_bench/credit/arrays.py": (CREDIT + "test_arrays.py", CREDIT + "test_returns.py", REDUCTIONS),
    "horizon_bench/credit/groups.py": (CREDIT + "test_groups.py", REDUCTIONS),
    "horizon_bench/credit/beacon.py": (CREDIT + "test_beacon.py", REDUCTIONS, LOOPS),
    "horizon_bench/credit/states.py": (CREDIT + "test_states.py", REDUCTIONS),
    "horizon_bench/credit/critics.py": (CREDIT + "test_critics.py", REDUCTIONS),
    "horizon_bench/credit/decisions.py": (CREDIT + "test_decisions.py",),
    "horizon_bench/credit/multi_objective.py": (CREDIT + "test_multi_objective.py",),
    "horizon_bench/credit/archer.py": (CREDIT + "test_archer.py",),
    "horizon_bench/credit/corrections.py": (CREDIT + "test_corrections.py", REDUCTIONS),
    "horizon_bench/credit/published_corrections.py": (CREDIT + "test_published_corrections.py",),
    "reports/metrics.py": ("tests/reports/test_metrics.py",),
    "reports/collapse.py": ("tests/reports/test_collapse_exact.py", "tests/reports/test_collapse_curves.py"),
    "reports/collapse_criteria.py": ("tests/reports/test_collapse_exact.py",),
    "puzzles/base.py": (PUZZLES + "test_base.py",),
    "puzzles/sudoku.py": (PUZZLES + "test_sudoku_exact.py", PUZZLES + "test_sudoku.py"),
    "puzzles/sudoku_symmetry.py": (PUZZLES + "test_sudoku_symmetry.py",),
    "puzzles/rush_hour.py": RUSH_HOUR,
    "puzzles/rush_hour_layout.py": RUSH_HOUR,
    "puzzles/rush_hour_text.py": RUSH_HOUR,
    "puzzles/shop.py": SHOP,
    "puzzles/shop_catalogue.py": SHOP,
    "puzzles/shop_text.py": SHOP,
    "puzzles/thoughts.py": (PUZZLES + "test_thoughts.py",),
}
"""The files changed, and the tests that shall notice."""

OPTIONS = ("-p", "mutation_plugin", "-p", "no:cacheprovider", "-p", "no:xdist", "-s", "--assert=plain", "--tb=native")
"""Options of pytest that make a failing test cheap."""


def mutate(file: str, folder: Path) -> dict[str, str]:
    """Return which test noticed each variant of one file, as `mutation_plugin` writes it."""
    folder.mkdir(parents=True, exist_ok=True)
    name = file.removesuffix(".py").replace("/", ".")
    digest = hashlib.sha256((ROOT / file).read_bytes()).hexdigest()[:12]
    found, log = folder / f"{name}.{digest}.json", folder / f"{name}.log"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(Path(__file__).parent)])}
    if "PYTHONPATH" in os.environ:
        environment["PYTHONPATH"] += os.pathsep + os.environ["PYTHONPATH"]
    command = [sys.executable, "-m", "pytest", *OPTIONS, "--hypothesis-profile=mutation"]
    with log.open("w", encoding="utf8") as output:
        status = subprocess.run(
            [*command, f"--mutate={file}", f"--found={found}", *FILES[file]],
            cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT, check=False,
        ).returncode  # fmt: skip
    if status != 0:
        raise RuntimeError(f"pytest ended with status {status} on {file}; its words stand in {log}")
    return dict(json.loads(found.read_text(encoding="utf8")))


def changes(file: str, variants: list[str]) -> list[str]:
    """Return the changed lines of some variants of a file."""
    from mutation_plugin import Changed

    changed = Changed(Path(file))
    return [line for variant in variants for line in (f"    {variant}", *changed.difference(variant))]


def main() -> int:
    """Print the share of noticed variants for each file; returns 1 where one lies under the target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="files to change; all where none is named")
    parser.add_argument(
        "--folder", type=Path, default=ROOT / ".tox" / "mutation" / "found", help="keeps what was found"
    )
    parser.add_argument("--fresh", action="store_true", help="forget what was found before")
    parser.add_argument("--survivors", action="store_true", help="print the lines that no test noticed")
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.files) - set(FILES)):
        parser.error(f"unknown files {', '.join(unknown)}; known: {', '.join(FILES)}")
    if arguments.fresh:
        for old in arguments.folder.glob("*.json"):
            old.unlink()
    os.chdir(ROOT)
    low = []
    for file in arguments.files or FILES:
        start = time.monotonic()
        found = mutate(file, arguments.folder.resolve())
        survivors = [name for name, test in found.items() if not test]
        noticed = len(found) - len(survivors)
        took = time.monotonic() - start
        share = noticed / len(found)
        print(f"{share:7.1%}  {noticed:4d} of {len(found):4d} noticed  {file}  ({took:.0f} s)", flush=True)
        if arguments.survivors:
            print("\n".join(changes(file, survivors)), flush=True)
        if share < TARGET:
            low.append(file)
    if low:
        print(f"under {TARGET:.0%}: {', '.join(low)}")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
