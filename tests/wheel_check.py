"""Use the installed wheel as a stranger would: no checkout on the path, no torch, the real command.

Run by `tox -e wheel` with the checkout's folder as its one argument.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import pathlib
import subprocess
import sys

import gymnasium

BOARD = "..B.CC..B...AAB...DDD..E.....E.....E"


def main(checkout: pathlib.Path) -> None:
    """Fail with a message at the first thing that the wheel does not do."""
    environment = gymnasium.make("horizon_bench:horizon_bench/Sudoku-v0", level="L3", interface="macro")
    environment.reset(seed=1)
    import curricula
    import horizon_bench
    import puzzles
    import reports
    import solvers
    import studies

    for package in (puzzles, solvers, curricula, horizon_bench, reports, studies):
        folder = pathlib.Path(str(package.__file__)).resolve()
        if checkout.resolve() in folder.parents and ".tox" not in folder.parts:
            raise SystemExit(f"{package.__name__} comes from the checkout ({folder}), not from the wheel")
        if not (folder.parent / "py.typed").exists():
            raise SystemExit(f"{package.__name__} lacks py.typed")
    if importlib.util.find_spec("torch") is not None:
        raise SystemExit("torch is installed; this check is about the wheel without it")
    for level in curricula.LEVELS:
        if not curricula.load_bank(level, split="test"):
            raise SystemExit(f"the wheel ships no test bank for {level}")
    answer = subprocess.run(
        ["horizon-bench", "solve", "rush-hour"], input=BOARD + "\n", capture_output=True, text=True, check=True
    ).stdout
    if f"{BOARD}\t21\t" not in answer:
        raise SystemExit(f"horizon-bench solve rush-hour answered {answer!r}")
    print(f"horizon-bench {importlib.metadata.version('horizon-bench')}: the wheel works away from the checkout")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
