from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from horizon_bench import portable


class ByteLocks(SimpleNamespace):
    """Locks of single bytes as Windows has them, kept in a table."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        super().__init__(held={}, refusals=0)

    def locking(self, handle: int, mode: int, count: int) -> None:
        assert (mode, count) == (self.LK_NBLCK, 1)
        place = (os.fstat(handle).st_ino, os.lseek(handle, 0, os.SEEK_CUR))
        if self.held.get(place, handle) != handle:
            self.refusals += 1
            if self.refusals > 3:
                self.held.clear()
            raise PermissionError(errno.EACCES, "Permission denied")
        self.held[place] = handle


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> ByteLocks:
    """Take away what Windows does not have, and give what it has."""
    locks = ByteLocks()
    monkeypatch.setattr(portable, "_fcntl", None)
    monkeypatch.setattr(portable, "_msvcrt", locks)
    monkeypatch.setattr(portable, "_PATIENCE", 0.0)
    monkeypatch.delattr(os, "pread")
    monkeypatch.delattr(os, "pwrite")
    return locks


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[int, int]]:
    """Return two open handles on one file."""
    handles = [os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT) for _ in range(2)]
    yield handles[0], handles[1]
    for handle in handles:
        os.close(handle)


def refuses_the_second_and_stays_readable(one: int, two: int) -> None:
    portable.lock(one, wait=False)
    with pytest.raises(BlockingIOError):
        portable.lock(two, wait=False)
    assert portable.write_at(one, b"4711 here", 0) == 9
    assert portable.read_at(two, 300, 0) == b"4711 here"
    assert portable.read_at(two, 2, 7) == b"re"


def test_the_systems_own_lock_refuses_a_second_holder(two: tuple[int, int]) -> None:
    refuses_the_second_and_stays_readable(*two)


def test_locks_of_bytes_do_the_same(two: tuple[int, int], windows: ByteLocks) -> None:
    refuses_the_second_and_stays_readable(*two)
    portable.lock(two[1], wait=True)
    assert windows.refusals == 4
    assert set(windows.held.values()) == {two[1]}


def test_an_error_of_the_disk_is_not_taken_for_another_holder(
    two: tuple[int, int], windows: ByteLocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(windows, "locking", broken)
    with pytest.raises(OSError, match="Input/output"):
        portable.lock(two[0], wait=True)


def test_a_system_without_locks_says_so(two: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portable, "_fcntl", None)
    monkeypatch.setattr(portable, "_msvcrt", None)
    with pytest.raises(OSError, match="ocks") as told:
        portable.lock(two[0], wait=False)
    assert told.value.errno == errno.ENOLCK


def test_a_folder_that_cannot_be_opened_is_left_to_the_system(
    tmp_path: Path, windows: ByteLocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not windows.held
    (tmp_path / "file").write_text("x", encoding="utf8")
    synced, really = [], os.open

    def refusing(path: Path, flags: int) -> int:
        if path.is_dir():
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        synced.append((path.name, flags & os.O_RDWR))
        return really(path, flags)

    monkeypatch.setattr(os, "open", refusing)
    portable.sync(tmp_path)
    portable.sync(tmp_path / "file")
    assert synced == [("file", os.O_RDWR)]


def test_the_packages_start_and_keep_records_where_one_systems_modules_are_missing(tmp_path: Path) -> None:
    program = f"""
import multiprocessing, os, signal, subprocess, sys
# These packages are the builds for this system and need what it has.
import gymnasium, jinja2, matplotlib.figure, numba, numpy, pyarrow.parquet, rich.console, scipy.stats, tyro
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
for module, names in (
    (os, ("fork", "pread", "pwrite", "sched_getaffinity", "getuid", "geteuid", "getloadavg", "sysconf", "uname")),
    (signal, ("SIGKILL", "SIGHUP", "SIGUSR1", "SIGALRM", "alarm")),
):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
from pathlib import Path
import horizon_bench
from studies.cli import main
import studies.locks, studies.pool, studies.runner, reports.records
from horizon_bench.evaluation import evaluate
assert main(["solve", "sudoku", "--help"]) == 0
assert main(["bank", "list"]) == 0
arguments = ["eval", "expert", "--level", "T1", "--puzzles", "2", "--attempts", "1"]
assert main(arguments) == 0
path = Path({str(tmp_path)!r}) / "records.jsonl"
from reports.records import append, read
assert append(path, []) == 0 and read(path) == []
try:
    studies.locks.locked(path.parent).__enter__()
except OSError as error:
    print("no locks:", error.errno)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert f"no locks: {errno.ENOLCK}" in run.stdout
