"""Small pieces of Markdown, and what docstrings say, section by section."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from typing import Any

MADE = "*Made from the code by `python docs/make_pages.py`.*"
"""Stands at the top of every page that is made."""

_ENTRY = re.compile(r"^    (\S[^:]*): (.*)$")


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Return a table."""
    lines = [f"| {' | '.join(map(str, head))} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(_cell, row))} |" for row in rows)])


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def first_paragraph(thing: Any) -> str:
    """Return the first paragraph of a docstring as one line."""
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def prose(thing: Any) -> str:
    """Return a docstring without its sections of arguments, results and errors."""
    return re.split(r"\n\n(?:Args|Returns|Raises):\n", inspect.getdoc(thing) or "")[0]


def argument_notes(thing: Any) -> dict[str, str]:
    """Return what a docstring's `Args` say, by argument."""
    text = inspect.getdoc(thing) or ""
    if "Args:\n" not in text:
        return {}
    notes: dict[str, str] = {}
    name = ""
    for line in re.split(r"\n\n(?:Returns|Raises):", text.split("Args:\n")[1])[0].split("\n"):
        entry = _ENTRY.match(line)
        if entry:
            name = entry[1]
            notes[name] = entry[2]
        elif name and line.strip():
            notes[name] += f" {line.strip()}"
    return notes


def readable(docstring: str) -> str:
    """Return a docstring as Markdown: examples become blocks of code, brackets of shapes do not become links."""
    parts = []
    for paragraph in docstring.split("\n\n"):
        first = paragraph.lstrip("\n")
        if first.lstrip().startswith(">>> "):
            indent = first[: len(first) - len(first.lstrip())]
            parts.append(f"{indent}```python\n{paragraph}\n{indent}```")
        else:
            parts.append(_without_links(paragraph))
    return "\n\n".join(parts)


def _without_links(paragraph: str) -> str:
    """Return a paragraph whose brackets, but for those in code and before an address, stand for themselves."""
    pieces = paragraph.split("`")
    pieces[::2] = [re.sub(r"\[(?![^\[\]]*\]\()", r"\\[", piece) for piece in pieces[::2]]
    return "`".join(pieces)
