"""Command modules of `horizon-bench`, one file each."""

from __future__ import annotations

import sys
from pathlib import Path


def import_from_here() -> None:
    """Let puzzles of one's own be imported from the working directory, as `python -m` would."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
