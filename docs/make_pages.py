"""Writes every page of the documentation that is made from the code.

python docs/make_pages.py            writes them
python docs/make_pages.py --check    writes nothing; exit status 1 if a page is not what the code says
"""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
if str(DOCS) not in sys.path:
    sys.path.insert(0, str(DOCS))


def pages() -> dict[str, str]:
    """Return the text of every made page, by its path in `docs`."""
    from making import environments, estimators, figures, imports, interfaces, studies

    parts = (environments, interfaces, estimators, studies, figures, imports)
    return {path: text for part in parts for path, text in part.pages().items()}


def stale(made: dict[str, str]) -> list[str]:
    """Return the pages whose files are missing or hold something else."""
    return [
        path
        for path, text in made.items()
        if not (DOCS / path).is_file() or (DOCS / path).read_text(encoding="utf8") != text
    ]


def main() -> int:
    """Write or check the pages."""
    made = pages()
    old = stale(made)
    for path in old:
        print(path)
        if "--check" not in sys.argv:
            (DOCS / path).parent.mkdir(exist_ok=True)
            (DOCS / path).write_text(made[path], encoding="utf8")
    if "--check" in sys.argv:
        return 1 if old else 0
    from making import environments

    environments.write_pictures(DOCS)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
