"""The tokens of the milestone field that a small model's vocabulary holds, see `horizon_bench.milestones.field`."""

from __future__ import annotations

import re
from typing import Any

from puzzles.base import Puzzle

DONE, OPEN, NONE = "<done>", "<open>", "<none>"
_BOX = re.compile(r"b\d+")


def box_words(puzzle: Puzzle[Any, Any]) -> tuple[str, ...]:
    """Return the words of a puzzle's vocabulary that name boxes, in order."""
    return tuple(word for word in puzzle.vocabulary() if _BOX.fullmatch(word))


def slot_words(puzzle: Puzzle[Any, Any], slots: int) -> tuple[str, ...]:
    """Return the token that names each slot."""
    boxes = box_words(puzzle)
    return boxes if len(boxes) == slots else tuple(f"<m{number}>" for number in range(1, slots + 1))


def field_words(puzzle: Puzzle[Any, Any], slots: int) -> tuple[str, ...]:
    """Return every token of the field, to be added to a vocabulary."""
    return (DONE, OPEN, NONE, *slot_words(puzzle, slots)) if slots else ()
