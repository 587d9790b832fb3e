"""Subgoals by distance: thresholds on the way down to the goal."""

from __future__ import annotations


def thresholds(distance: int, parts: int = 4) -> tuple[int, ...]:
    """Return distances to go that split a way into equal parts, largest first, the goal (0) last.

    Args:
        distance: goal distance of the start.
        parts: how many segments; ways shorter than that get one threshold per step.

    >>> thresholds(10)
    (7, 5, 2, 0)
    >>> thresholds(2)
    (1, 0)
    """
    return tuple(sorted({distance * part // parts for part in range(parts)}, reverse=True))


def threshold_names(levels: tuple[int, ...]) -> tuple[str, ...]:
    """Return the subgoal names `distance<=N`."""
    return tuple(f"distance<={level}" for level in levels)
