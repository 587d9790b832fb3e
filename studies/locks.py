"""One run per folder: a lock that the operating system drops when its holder dies, however it dies.

Who holds it stands in the file, for the message only: the number of a process may belong to another one by now. The
system's own lock decides. Some shared disks do not pass that lock on between machines; there a holder shows that it
lives by touching the file, and a process of another machine waits for such a sign before it goes on.
"""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from horizon_bench import portable
from horizon_bench.files import naming

logger = logging.getLogger(__name__)
LOCK_NAME = "lock"
BEAT = 5.0
"""Seconds between two signs of life of a holder."""
SILENCE = 60.0
"""Seconds without a sign after which a holder on another machine counts as dead."""


@contextlib.contextmanager
def locked(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold `folder` for this process while the block runs; the folder is created if need be.

    Args:
        folder: what to hold.
        wait: wait for another holder instead of refusing.

    Raises:
        ValueError: if another process holds the folder and `wait` is false; the message names process and machine.
        OSError: if the folder cannot be written or its disk has no locks.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / LOCK_NAME
    with naming(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | portable.BINARY, 0o644)
    try:
        with naming(path):
            _acquire(handle, folder, wait)
            _await_silence(handle, folder, wait)
            _write(handle, f"{os.getpid()} {platform.node()}")
        try:
            with _beating(path):
                yield
        finally:
            with contextlib.suppress(OSError):
                _write(handle, "")
    finally:
        # Closing drops the lock; the file stays, because removing it would let two others lock two different files.
        os.close(handle)


def _acquire(handle: int, folder: Path, wait: bool) -> None:
    try:
        portable.lock(handle, wait=wait)
    except BlockingIOError:
        raise _in_use(handle, folder) from None


def _await_silence(handle: int, folder: Path, wait: bool) -> None:
    """Return once no other machine shows signs of holding the folder; a holder of this one is dead, or has let go."""
    seen, since, said = os.fstat(handle).st_mtime_ns, time.monotonic(), False
    while (holder := _holder(handle)) and holder[1] not in ("", platform.node()):
        if time.monotonic() - since > SILENCE:
            return
        if not said:
            logger.warning("%s was held by process %s on %s: waiting %.0f s for a sign of it", folder, *holder, SILENCE)
            said = True
        time.sleep(min(BEAT, SILENCE) / 10)
        # Only whether the time changes counts, not what it says: clocks of machines differ.
        if (now := os.fstat(handle).st_mtime_ns) != seen:
            if not wait:
                raise _in_use(handle, folder)
            seen, since = now, time.monotonic()


def _holder(handle: int) -> tuple[str, str] | None:
    """Return process and machine of the last holder that did not let go, None if there is none."""
    process, _, machine = portable.read_at(handle, 300, 0).decode(errors="replace").strip("\0 \n").partition(" ")
    return (process, machine) if process.isdigit() else None


def _in_use(handle: int, folder: Path) -> ValueError:
    process, machine = _holder(handle) or ("unknown", "")
    where = "" if machine in ("", platform.node()) else f" on {machine}"
    return ValueError(
        f"{folder} is in use by process {process}{where}; wait until it has finished, or choose another results folder"
    )


def _write(handle: int, text: str) -> None:
    os.ftruncate(handle, 0)
    portable.write_at(handle, text.encode(), 0)


@contextlib.contextmanager
def _beating(path: Path) -> Iterator[None]:
    """Touch the file every few seconds while the block runs."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(BEAT):
            with contextlib.suppress(OSError):
                os.utime(path)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
