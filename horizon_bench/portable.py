"""What operating systems do differently: file locks, places within a file, syncing folders, the death of a process.

Everything else in the packages uses what Python offers everywhere. The functions of one system are looked up here, so
that a module that one of them lacks is no reason not to start.
"""

from __future__ import annotations

import errno
import importlib
import os
import signal
import time
from pathlib import Path
from typing import Any


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


_fcntl, _msvcrt = _module("fcntl"), _module("msvcrt")

BINARY = getattr(os, "O_BINARY", 0)
"""Flag of `os.open` without which Windows writes two characters for a line end."""
KILLED = -int(getattr(signal, "SIGKILL", 9))
"""Exit status of a process that was killed, by the system too when memory ran out."""
_LOCKED_BYTE = 2**30
"""Byte that stands for the file where only parts can be locked; far behind what is written, which stays readable."""
_PATIENCE = 0.5
"""Seconds between two tries for a lock where the system cannot wait for it."""


def lock(handle: int, *, wait: bool) -> None:
    """Lock an open file for this process, until it is closed or the process ends.

    Args:
        handle: number of the open file.
        wait: wait for whoever has it.

    Raises:
        BlockingIOError: if another process has it and `wait` is false.
        OSError: if the file system has no locks.
    """
    if _fcntl is not None:
        _fcntl.flock(handle, _fcntl.LOCK_EX | (0 if wait else _fcntl.LOCK_NB))
        return
    if _msvcrt is None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    while True:
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        try:
            _msvcrt.locking(handle, _msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EDEADLK):
                raise
            if not wait:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from error
            time.sleep(_PATIENCE)
        else:
            return


def read_at(handle: int, count: int, offset: int) -> bytes:
    """Return up to `count` bytes of an open file from a place on."""
    if hasattr(os, "pread"):
        return os.pread(handle, count, offset)
    os.lseek(handle, offset, os.SEEK_SET)
    return os.read(handle, count)


def write_at(handle: int, content: bytes, offset: int) -> int:
    """Write into an open file at a place; returns how many bytes it took."""
    if hasattr(os, "pwrite"):
        return os.pwrite(handle, content, offset)
    os.lseek(handle, offset, os.SEEK_SET)
    return os.write(handle, content)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on disk; where the system opens no folders, only files."""
    try:
        # Windows syncs only what was opened for writing.
        handle = os.open(path, os.O_RDONLY if _fcntl is not None else os.O_RDWR | BINARY)
    except PermissionError:
        if path.is_dir() and _fcntl is None:
            return
        raise
    try:
        os.fsync(handle)
    except OSError as error:
        # Some shared file systems cannot sync folders; that is no reason to stop.
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(handle)
