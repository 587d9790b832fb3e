"""Files written whole or not at all, folders removed at once, and what to do where a disk refuses.

A file is written beside its place, synced and renamed, so that neither a kill nor a power cut leaves half of it. Errors
of the operating system get the name of their file here; `way_out` says what to do about them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from horizon_bench.portable import sync

DROPPED = ".dropped-"
"""Beginning of the name of a folder that is being removed."""

PART = ".part"
"""End of the name of a file that is not whole yet."""

_FULL = "free some space there and give the same command again; what was finished is kept"
_CLOSED = "allow it for your user, or choose another folder"
_WAYS_OUT = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: _FULL,
    errno.EROFS: _CLOSED,
    errno.EACCES: _CLOSED,
    errno.EPERM: _CLOSED,
    errno.EISDIR: "a folder stands where a file belongs; move it away",
    errno.ENOTDIR: "a file stands where a folder belongs; move it away, or choose another folder",
    errno.EEXIST: "something else stands where this belongs; move it away, or choose another folder",
    errno.ENOLCK: "that file system has no locks; choose a results folder on another one",
    errno.EIO: "the disk fails; copy what can be read to another one",
    errno.EMFILE: "too many open files; raise the limit (ulimit -n)",
    errno.ENAMETOOLONG: "choose a shorter name",
}


def way_out(error: OSError) -> str:
    """Return what to do about an error of the operating system, "" where it says so itself.

    >>> way_out(OSError(errno.EISDIR, "Is a directory", "records.jsonl"))
    'a folder stands where a file belongs; move it away'
    """
    return _WAYS_OUT.get(error.errno or 0, "")


def in_words(error: BaseException) -> str:
    """Return an error as one line; one of the operating system as file, reason, way out.

    >>> in_words(OSError(errno.ENOSPC, "No space left on device", "results"))
    'results: No space left on device; free some space there and give the same command again; what was finished is kept'
    """
    text = " ".join(str(error).split()) or type(error).__name__
    if not isinstance(error, OSError):
        return text
    text = error.strerror or text
    text = text if error.filename is None else f"{error.filename}: {text}"
    return f"{text}; {way_out(error)}" if way_out(error) else text


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Give an error of the operating system that names no file the name of `path`.

    Libraries in other languages report a full disk by errors of their own; these become errors of the system too.
    """
    try:
        yield
    except OSError as error:
        number = error.errno or _number_in(str(error))
        if error.filename is not None or not number:
            raise
        raise OSError(number, os.strerror(number), str(path)) from error
    except Exception as error:
        if not (number := _number_in(str(error))):
            raise
        raise OSError(number, os.strerror(number), str(path)) from error


def _number_in(text: str) -> int:
    """Return the number of the system error that a library's message speaks of, 0 for none."""
    known = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EIO)
    return next((number for number in known if os.strerror(number).lower() in text.lower()), 0)


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write a file, whole or not at all, and on disk when this returns; returns its path."""
    draft = path.with_name(path.name + PART)
    with naming(path):
        draft.write_bytes(content if isinstance(content, bytes) else content.encode("utf8"))
        put_in_place(draft, path)
    return path


def put_in_place(draft: Path, path: Path) -> None:
    """Sync a file, or a folder of files, and rename it; a folder that stands there is removed first."""
    for part in [*sorted(draft.rglob("*")), draft] if draft.is_dir() else [draft]:
        sync(part)
    if draft.is_dir() and path.is_dir():
        drop_folder(path)
    draft.replace(path)
    sync(path.parent)


def drop_folder(path: Path) -> None:
    """Remove a folder and all in it; a kill in between never leaves half of it under its name."""
    if not path.exists():
        return
    doomed = path.with_name(f"{DROPPED}{path.name}")
    shutil.rmtree(doomed, ignore_errors=True)
    path.replace(doomed)
    shutil.rmtree(doomed)


def sweep(folder: Path, *beginnings: str) -> None:
    """Remove what killed runs left in a folder: half written, half removed, and everything whose name begins so."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.name.startswith((DROPPED, *beginnings)) or path.name.endswith(PART):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
