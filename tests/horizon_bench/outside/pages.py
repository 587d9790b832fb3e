"""Reads the pages of `docs/outside`, so that tests can hold their transcripts against the worlds."""

from __future__ import annotations

import re
from pathlib import Path

_DOCS = Path(__file__).parents[3] / "docs" / "outside"
_BLOCK = re.compile(r"^```text\n(.*?)^```", re.MULTILINE | re.DOTALL)


def first_block(page: str) -> list[str]:
    """Return the lines of the first block of plain text on a page."""
    match = _BLOCK.search((_DOCS / page).read_text(encoding="utf8"))
    assert match is not None
    return match[1].splitlines()


def replies_and_answers(lines: list[str], mark: str) -> list[tuple[str, list[str]]]:
    """Return each reply of a transcript, which a mark begins, with the lines told after it; what comes first is ''."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in lines:
        if line.startswith(mark):
            found.append((line.removeprefix(mark), []))
        elif line:
            found[-1][1].append(line)
    return found
