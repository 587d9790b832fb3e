"""Use the installed wheel as a stranger would: no checkout on the path, no torch, the real command; and the sdist.

Run by `tox -e wheel` with the checkout's folder as its one argument.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import gymnasium

PACKAGES = ("puzzles", "solvers", "curricula", "horizon_bench", "reports", "studies")
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
    check_errors()
    check_intruder(pathlib.Path(str(reports.__file__)))
    check_sdist(checkout)
    print(f"horizon-bench {importlib.metadata.version('horizon-bench')}: wheel and sdist work away from the checkout")


def check_errors() -> None:
    """Fail unless what needs an extra names it."""
    lesson = "python -m pip install"
    for words in (
        ["-c", "import horizon_bench.training.rl"],
        ["-m", "horizon_bench", "eval", "hf:none", "--level", "T1"],
    ):
        run = subprocess.run([sys.executable, *words], capture_output=True, text=True)
        if run.returncode != 1 or "[train]" not in run.stderr or lesson not in run.stderr:
            raise SystemExit(f"{words} ends with {run.returncode} and names no extra: {run.stderr[-500:]}")


def check_intruder(place: pathlib.Path) -> None:
    """Fail unless a file that another distribution wrote over ours is told on import, by the command too."""
    ours = place.read_bytes()
    try:
        place.write_bytes(ours + b"# from another distribution\n")
        for words in (["-c", "import horizon_bench"], ["-m", "horizon_bench", "--version"]):
            run = subprocess.run([sys.executable, *words], capture_output=True, text=True)
            if run.returncode != 1 or "reports/__init__.py" not in run.stderr:
                raise SystemExit(f"{words} does not tell that reports was written over: {run.stderr[-500:]}")
    finally:
        place.write_bytes(ours)


def check_sdist(checkout: pathlib.Path) -> None:
    """Fail unless the wheel that is built from the sdist holds the files of the installed one."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        build("sdist", checkout, folder)
        with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
            archive.extractall(folder, filter="data")
        unpacked = next(path for path in folder.iterdir() if path.is_dir())
        build("wheel", unpacked, folder)
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            record = next(line for line in wheel.namelist() if line.endswith("RECORD"))
            built = {tuple(line.split(",")[:2]) for line in wheel.read(record).decode("utf8").splitlines()}
    files = importlib.metadata.files("horizon-bench") or []
    installed = {(str(file), f"{file.hash.mode}={file.hash.value}") for file in files if file.hash is not None}
    ours = {each for each in installed if each[0].split("/")[0] in PACKAGES}
    theirs = {each for each in built if each[0].split("/")[0] in PACKAGES}
    if ours != theirs:
        raise SystemExit(f"the wheel from the sdist differs from that from the checkout: {sorted(ours ^ theirs)[:10]}")


def build(kind: str, source: pathlib.Path, folder: pathlib.Path) -> None:
    """Build an archive of the sources in `source` into `folder`."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(command, cwd=source, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
