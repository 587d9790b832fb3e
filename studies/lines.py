"""Commands that answer one puzzle a line: reading, tab-separated answers, and errors with their line number."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

BOARD_HEADERS = ("givens", "board", "start", "puzzle", "list")
"""First fields of a header line, as the project's own tables have them; such a first line is no puzzle."""


def answer_lines(
    file: Path | None,
    header: Sequence[str],
    answer: Callable[[str], Sequence[str]],
    failures: tuple[type[Exception], ...] = (ValueError,),
) -> int:
    """Answer every line of a file or of standard input, and return the exit status.

    The puzzle is the first tab-separated field of a line. Lines that begin with `#` are skipped, a header as first line
    too; an empty line is an error like any other bad puzzle.

    Args:
        file: input; None: standard input.
        header: names of the answer's columns.
        answer: the columns for a puzzle; one of `failures` becomes an error of that line.
        failures: exceptions that mean a bad line.

    Returns:
        0, or 1 if any line was bad.

    Raises:
        OSError: if the file cannot be read; nothing is printed then.
        ValueError: if standard input is closed.
    """
    status = 0
    with _opened(file) as source:
        print("\t".join(header))
        for number, puzzle in _puzzles(source):
            try:
                print("\t".join(answer(puzzle)))
            except failures as problem:
                status = 1
                sys.stdout.flush()
                print(f"line {number}: {' '.join(str(problem).split())}", file=sys.stderr)
    return status


@contextlib.contextmanager
def _opened(file: Path | None) -> Iterator[TextIO]:
    if file is not None:
        with file.open(encoding="utf8", errors="replace") as source:
            yield source
    elif sys.stdin is None:
        raise ValueError("standard input is closed; name a file or pipe puzzles in")
    else:
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")
        yield sys.stdin


def _puzzles(source: TextIO) -> Iterator[tuple[int, str]]:
    """Yield line number and puzzle of each line that should hold one."""
    first = True
    for number, text in enumerate(source, start=1):
        # Editors on Windows begin UTF-8 files with a byte order mark.
        line = text.removeprefix("\ufeff") if number == 1 else text
        if line.startswith("#"):
            continue
        puzzle = line.rstrip("\r\n").split("\t")[0].strip()
        if not (first and puzzle in BOARD_HEADERS):
            yield number, puzzle
        first = False
