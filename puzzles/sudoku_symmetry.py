"""The symmetry group of Sudoku boards."""

from __future__ import annotations

from puzzles.sudoku_layout import SYMBOLS


def canonical_text(givens: bytes, size: int) -> str:
    """Return the canonical text."""
    return "".join(SYMBOLS[digit] if digit else "." for digit in givens)
