"""Seconds that `import horizon_bench` takes in a new process, beside those of Gymnasium and of Python alone.

    python benchmarks/import_time.py
    python benchmarks/import_time.py --cold    # as root: the system forgets the files it has read before each run

The median of several runs; processor seconds say more than those that pass where a machine is busy.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

WANTED = 1.5
"""Seconds at most, cold."""
STATEMENTS = {"Python alone": "pass", "gymnasium": "import gymnasium", "horizon_bench": "import horizon_bench"}
PROGRAM = """
import os, time
began = time.perf_counter(), time.process_time()
{statement}
print(time.perf_counter() - began[0], time.process_time() - began[1])
"""
CACHES = Path("/proc/sys/vm/drop_caches")


def forget_files() -> None:
    """Make the system drop the files it keeps in memory (Linux, as root)."""
    os.sync()
    CACHES.write_text("3", encoding="ascii")


def measure(statement: str, runs: int, cold: bool) -> tuple[float, float]:
    """Return median seconds, and processor seconds, of a statement in a new process."""
    found = []
    for _ in range(runs):
        if cold:
            forget_files()
        program = PROGRAM.format(statement=statement)
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        found.append([float(word) for word in run.stdout.split()])
    return statistics.median(each[0] for each in found), statistics.median(each[1] for each in found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cold", action="store_true")
    arguments = parser.parse_args()
    if arguments.cold and not os.access(CACHES, os.W_OK):
        parser.error(f"--cold needs to write {CACHES}: Linux, as root")
    passed = processor = 0.0
    for name, statement in STATEMENTS.items():
        passed, processor = measure(statement, arguments.runs, arguments.cold)
        print(f"{name:14} {passed:6.2f} s  {processor:6.2f} s of the processor")
    verdict = "holds" if passed < WANTED else "holds for the processor's" if processor < WANTED else "missed"
    print(f"wanted: under {WANTED} s; {verdict}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
