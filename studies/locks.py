"""One run per folder: a lock that the operating system drops when its holder dies, however it dies."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

LOCK_NAME = "lock"


@contextlib.contextmanager
def locked(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold `folder` for this process while the block runs; the folder is created if need be.

    Args:
        folder: what to hold.
        wait: wait for another holder instead of refusing.

    Raises:
        ValueError: if another process holds the folder and `wait` is false; the message names its process id.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / LOCK_NAME
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _acquire(handle, folder, wait)
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        yield
    finally:
        # Closing drops the lock; the file stays, because removing it would let two others lock two different files.
        os.close(handle)


def _acquire(handle: int, folder: Path, wait: bool) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        holder = os.pread(handle, 32, 0).decode(errors="replace").strip() or "unknown"
        raise ValueError(
            f"{folder} is in use by process {holder}; wait until it has finished, or choose another results folder"
        ) from None
