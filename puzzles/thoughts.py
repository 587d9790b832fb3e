"""Compact thoughts for Sudoku: a policy scans boxes and names the digits each one misses.

`b1 2 3 b4 7` claims that box 1 misses exactly 2 and 3, and box 4 exactly 7. A thought is checked against the board
alone, never against a solution. The functions take plain digits and the cells of each box, so they know no state class.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def missing_digits(values: Sequence[int], cells: Sequence[int]) -> tuple[int, ...]:
    """Return the digits that a box still misses, in rising order.

    Args:
        values: the digit of every cell, 0 for blank, shape [cells].
        cells: indices of the box's cells; their number is the largest digit.

    Returns:
        Digits from 1 to `len(cells)` that stand in none of the box's cells.
    """
    present = {values[cell] for cell in cells}
    return tuple(digit for digit in range(1, len(cells) + 1) if digit not in present)


def write_thought(values: Sequence[int], boxes: Sequence[Sequence[int]], scans: Iterable[int]) -> tuple[str, ...]:
    """Return the true thought that scans the given boxes in the given order, as tokens.

    Args:
        values: the digit of every cell, 0 for blank, shape [cells].
        boxes: indices of the cells of each box.
        scans: 0-based indices of the boxes to scan.

    Returns:
        Tokens such as `("b1", "2", "3", "b4", "7")`; box names count from 1.
    """
    tokens: list[str] = []
    for box in scans:
        tokens.append(f"b{box + 1}")
        tokens.extend(str(digit) for digit in missing_digits(values, boxes[box]))
    return tuple(tokens)


def check_thought(values: Sequence[int], boxes: Sequence[Sequence[int]], thought: str) -> bool | None:
    """Return whether every scan of a thought is exactly right, or None if the thought scans no box.

    A thought that scans a box must follow the grammar to its end: an unknown box, a digit before the first box, a
    repeated or impossible digit or a stray word makes it false.

    Args:
        values: the digit of every cell, 0 for blank, shape [cells].
        boxes: indices of the cells of each box.
        thought: any text.

    Returns:
        True, False, or None for text without one box name.
    """
    names = {f"b{index + 1}": index for index in range(len(boxes))}
    words = thought.split()
    if not any(word in names for word in words):
        return None
    box: int | None = None
    claimed: list[str] = []
    for word in words:
        if word in names:
            if not _claim_holds(values, boxes, box, claimed):
                return False
            box, claimed = names[word], []
        else:
            claimed.append(word)
    return _claim_holds(values, boxes, box, claimed)


def _claim_holds(
    values: Sequence[int], boxes: Sequence[Sequence[int]], box: int | None, claimed: Sequence[str]
) -> bool:
    """Return whether the claimed words are the missing digits of the box, in any order; before a box, no words."""
    if box is None:
        return not claimed
    return sorted(claimed) == sorted(map(str, missing_digits(values, boxes[box])))
