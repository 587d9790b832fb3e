"""The failure-driven curriculum: the next instances are drawn near the last failures, where success is in reach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from horizon_bench.credit.batch import FloatArray


class Graded(Protocol):
    """What the curriculum needs of an instance; `curricula.Instance` has it."""

    @property
    def level(self) -> str:
        """Level."""

    @property
    def grade(self) -> str:
        """Hardest technique that it needs, or `-`."""


Kind = tuple[str, str]
"""Level and technique: instances of one kind are near each other."""


def kind_of(instance: Graded) -> Kind:
    """Return the kind of an instance."""
    return instance.level, getattr(instance, "grade", "-")


def near_failures(
    pool: Sequence[Graded], failed: Iterable[Kind], chances: FloatArray, *, low: float = 0.05, high: float = 0.75
) -> FloatArray:
    """Return the weight of each instance of a pool: kinds in proportion to their failures, within a kind all alike.

    Args:
        pool: training instances.
        failed: kind of each failed episode.
        chances: the value critic's estimate of success at each instance's start, shape [pool].
        low: least chance of an instance that is drawn.
        high: most chance.

    Returns:
        Weights that sum to 1, shape [pool]; all 0 where no instance of a failed kind has such a chance.
    """
    kinds = [kind_of(instance) for instance in pool]
    inside = (chances >= low) & (chances <= high)
    failures = Counter(failed)
    candidates = Counter(kind for kind, chosen in zip(kinds, inside, strict=True) if chosen)
    weights = np.array(
        [
            failures[kind] / candidates[kind] if chosen and failures[kind] else 0.0
            for kind, chosen in zip(kinds, inside, strict=True)
        ]
    )
    total = weights.sum()
    return weights / total if total else weights


def draw_near_failures(weights: FloatArray, count: int, rng: np.random.Generator) -> list[int]:
    """Return up to `count` different indices, drawn by weight; fewer where fewer have one."""
    able = int(np.count_nonzero(weights))
    if not able or not count:
        return []
    return [int(index) for index in rng.choice(len(weights), min(count, able), replace=False, p=weights)]
