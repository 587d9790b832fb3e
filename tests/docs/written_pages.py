"""The pages of the documentation as the tests see them: their code blocks, commands, links and anchors.

A block that is not to run says so in a comment of Markdown on the line above its fence:

    <!-- slow: trains a model for a minute -->     runs in `tox -e docs-slow`
    <!-- needs trl: a trainer of that package -->  runs where the package is installed
    <!-- sketch: bodies are left out -->           must compile, and is never run

One that the reader saves says `<!-- file: hanoi.py -->`: it is saved, and the blocks below may import it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = tuple(
    path.relative_to(ROOT).as_posix()
    for path in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "CHANGELOG.md",
        *sorted((ROOT / "docs").rglob("*.md")),
    )
)
PYTHON, SHELL = ("python", "pycon"), ("sh", "console", "bash", "")

_MARK = re.compile(r"<!-- (slow|sketch|file|needs ([\w.]+)): (.+?) -->")


@dataclass(frozen=True)
class Block:
    """A fenced block of code."""

    page: str
    line: int
    """Number of the line after the opening fence, from 1."""
    language: str
    code: str
    mark: str = ""
    """`slow`, `sketch`, `needs`, `file`, or nothing: it runs."""
    package: str = ""
    reason: str = ""
    """Why it does not run; the name of the file that it is saved as."""


def read(page: str) -> str:
    """Return the text of a page."""
    return (ROOT / page).read_text(encoding="utf8")


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    found: list[Block] = []
    lines = read(page).split("\n")
    first, language = 0, ""
    for number, line in enumerate(lines, start=1):
        fence = re.fullmatch(r"```(\w*)(?: .*)?", line)
        if fence and not first:
            first, language = number + 1, fence[1]
        elif line == "```":
            mark = _MARK.fullmatch(lines[first - 3].strip()) if first > 2 else None
            kind, package, reason = mark.groups() if mark else ("", "", "")
            code = "\n".join(lines[first - 1 : number - 1]) + "\n"
            found.append(Block(page, first, language, code, kind.split(" ")[0], package or "", reason))
            first = 0
    if first:
        raise ValueError(f"{page}:{first - 1}: the block is never closed")
    return found


def without_blocks(text: str) -> str:
    """Return a page's text with its fenced blocks blanked out, line by line."""
    inside, kept = False, []
    for line in text.split("\n"):
        fence = line.startswith("```")
        kept.append("" if fence or inside else line)
        inside ^= fence
    return "\n".join(kept)


def commands(page: str) -> Iterator[tuple[int, str]]:
    """Yield line number and text of each shell command of a page: those in blocks, and those in the text."""
    for block in blocks(page):
        if block.language in SHELL:
            yield from _commands_of(block)
    for number, line in enumerate(without_blocks(read(page)).split("\n"), start=1):
        for found in re.findall(r"`((?:horizon-bench|tox -e|python|pip install) [^`]+)`", line):
            yield number, found


def _commands_of(block: Block) -> Iterator[tuple[int, str]]:
    lines = block.code.rstrip("\n").split("\n")
    prompted = any(line.startswith("$ ") for line in lines)
    number = 0
    while number < len(lines):
        start, line = number, lines[number]
        while line.endswith("\\"):
            number += 1
            line = f"{line[:-1].rstrip()} {lines[number].strip()}"
        number += 1
        if (line.startswith("$ ") or not prompted) and line.strip() and not line.startswith("#"):
            yield block.line + start, line.removeprefix("$ ")


def anchors(page: str) -> set[str]:
    """Return the anchors of a page's headings, as the site makes them, and those that are written out."""
    text = without_blocks(read(page))
    found: set[str] = set(re.findall(r"""(?:id=["']|\{#)([\w.-]+)""", text))
    for heading in re.findall(r"^#{1,6} +(.+?)(?: *\{#[\w.-]+\})? *$", text, re.M):
        slug = base = slugify(heading)
        count = 0
        while slug in found:
            count += 1
            slug = f"{base}_{count}"
        found.add(slug)
    return found


def slugify(heading: str) -> str:
    """Return the anchor that Python-Markdown gives a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.replace("`", "").replace("**", ""))
    letters = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", letters).strip().lower())


def links(page: str) -> Iterator[tuple[int, str]]:
    """Yield line number and target of every link and picture of a page."""
    for number, line in enumerate(without_blocks(read(page)).split("\n"), start=1):
        text = re.sub(r"`[^`]*`", "", line)
        for target in re.findall(r"\]\(([^()\s]+(?:\([^()\s]*\)[^()\s]*)?)(?: \"[^\"]*\")?\)", text):
            yield number, target
        for target in re.findall(r"""(?:href|src)=["']([^"']+)["']""", text):
            yield number, target
