"""The share of each package's lines that the tests run: the end of `tox -e coverage`.

Reads what pytest-cov left in `.coverage` and fails where a package lies under 95 %. Functions that numba compiles are
left out, as `pyproject.toml` says.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

import coverage

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("puzzles", "solvers", "curricula", "horizon_bench", "reports", "studies")
TARGET = 95.0
WORST = 12


def main() -> int:
    """Print the shares by package and the files with most lines left; returns 1 where a package lies too low."""
    measured = coverage.Coverage(data_file=ROOT / ".coverage", config_file=ROOT / "pyproject.toml")
    measured.load()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "coverage.json"
        measured.json_report(outfile=str(report))
        files = json.loads(report.read_text(encoding="utf8"))["files"]
    lines, run = Counter[str](), Counter[str]()
    left = {}
    for name, file in files.items():
        package = Path(name).parts[0]
        lines[package] += file["summary"]["num_statements"]
        run[package] += file["summary"]["covered_lines"]
        left[name] = file["summary"]["missing_lines"]
    shares = {package: 100 * run[package] / max(1, lines[package]) for package in PACKAGES}
    for package, share in shares.items():
        print(f"{share:6.1f} %  {run[package]:5d} of {lines[package]:5d} lines  {package}")
    print("most lines left:", *(f"  {count:4d}  {name}" for name, count in Counter(left).most_common(WORST)), sep="\n")
    low = [package for package, share in shares.items() if share < TARGET]
    if low:
        print(f"under {TARGET:.0f} %: {', '.join(low)}")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
