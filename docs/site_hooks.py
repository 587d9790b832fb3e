"""What MkDocs does beside rendering: fills the reference, folders of the navigation, and findings of studies.

It runs where the package is not installed, so it reads the code and the pages as text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from making import reference

DOCS = Path(__file__).resolve().parent


def on_config(config: Any) -> Any:
    """Put the pages of a folder where the navigation names it as `folder/*`, its index first."""
    config.nav = _expanded(config.nav)
    return config


def _expanded(entries: list[Any]) -> list[Any]:
    found: list[Any] = []
    for entry in entries:
        if isinstance(entry, str) and entry.endswith("/*"):
            found += [page for page in pages_of(entry.removesuffix("/*")) if page not in entries]
        elif isinstance(entry, dict):
            found.append({title: _expanded(part) if isinstance(part, list) else part for title, part in entry.items()})
        else:
            found.append(entry)
    return found


def pages_of(folder: str) -> list[str]:
    """Return the pages of a folder, its index first."""
    names = (
        list(reference.pages())
        if folder == "reference"
        else [f"{folder}/{path.name}" for path in (DOCS / folder).glob("*.md")]
    )
    return sorted(names, key=lambda name: (not name.endswith("/index.md"), folder != "reference" and name))


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the reference, which are in no folder: they hold nothing that the code does not."""
    from mkdocs.structure.files import File

    for path, text in reference.pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put what `findings.md` claims about a study where the study's page asks for it."""
    findings = (DOCS / "findings.md").read_text(encoding="utf8")
    return re.sub(r"<!-- findings: ([\w-]+) -->", lambda match: claims(findings, match[1]), markdown)


def claims(findings: str, study: str) -> str:
    """Return the sections of the findings that name a study, each with what it claims in bold.

    Args:
        findings: text of `findings.md`.
        study: name of the study.
    """
    parts = []
    for section in re.split(r"^## ", findings, flags=re.M)[1:]:
        title, _, text = section.partition("\n")
        if f"*Study `{study}`" in text:
            anchor = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower())
            bold = re.findall(r"^(?:- )?\*\*(.+?)\*\*", text, flags=re.M | re.S)
            parts.append(f"[{title}](../findings.md#{anchor})\n")
            parts += [f"- {' '.join(claim.split()).rstrip('.:,')}." for claim in bold]
    return "\n".join(parts) or "Not run with several seeds yet."
