"""Reference-policy filter: train only on what a given policy can already solve sometimes.

The policy itself is run by `horizon_bench.rollout`; this module sees only which attempts succeeded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from curricula.instances import Instance

Attempt = Callable[[Sequence[Instance], int], Mapping[str, Sequence[bool]]]
"""Runs a policy on instances, so many attempts each, and returns by start whether each attempt solved it."""


@dataclass(frozen=True)
class LevelCount:
    """How many instances of one level the filter saw and kept."""

    level: str
    before: int
    after: int

    @property
    def share(self) -> float:
        """Share kept; 0 where there was none."""
        return self.after / self.before if self.before else 0.0


@dataclass(frozen=True)
class Filtered:
    """What is left, and the report."""

    kept: tuple[Instance, ...]
    """Instances kept, in the order they came."""
    levels: tuple[LevelCount, ...]
    """Before and after for each level, in the order the levels came."""


def filter_solved(
    instances: Iterable[Instance],
    successes: Mapping[str, Sequence[bool]],
    attempts: int,
    at_least: int = 1,
    at_most: int | None = None,
) -> Filtered:
    """Return the instances that a reference policy solved often enough, and how many are left of each level.

    Args:
        instances: candidates.
        successes: by start, whether each attempt solved it, shape [attempts].
        attempts: number of attempts that every instance must have had.
        at_least: fewest successes to keep an instance.
        at_most: most successes, to leave out what is solved always; None: no limit.

    Raises:
        ValueError: if an instance has another number of attempts, or the limits are out of range.
    """
    most = attempts if at_most is None else at_most
    if not 0 <= at_least <= most <= attempts or attempts < 1:
        raise ValueError(f"must hold: 0 <= at_least {at_least} <= at_most {most} <= attempts {attempts}, attempts >= 1")
    candidates = tuple(instances)
    kept = []
    for instance in candidates:
        results = successes.get(instance.start, ())
        if len(results) != attempts:
            raise ValueError(
                f"{len(results)} attempts at {instance.start} (level {instance.level}), expected {attempts}"
            )
        if at_least <= sum(results) <= most:
            kept.append(instance)
    levels = dict.fromkeys(instance.level for instance in candidates)
    counts = (
        LevelCount(level, *(sum(each.level == level for each in group) for group in (candidates, kept)))
        for level in levels
    )
    return Filtered(tuple(kept), tuple(counts))


def filter_by_policy(
    instances: Sequence[Instance], attempt: Attempt, attempts: int = 4, at_least: int = 1, at_most: int | None = None
) -> Filtered:
    """Run a reference policy on instances and return those it solved often enough; see `filter_solved`."""
    return filter_solved(instances, attempt(instances, attempts), attempts, at_least, at_most)


def report(filtered: Filtered) -> str:
    """Return the counts as a tab-separated table with a header."""
    lines = ["level\tbefore\tafter\tshare"]
    lines += [f"{count.level}\t{count.before}\t{count.after}\t{count.share:.3f}" for count in filtered.levels]
    return "\n".join(lines)
