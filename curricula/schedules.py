"""Curricula as data: which levels are trained on for which share of the updates."""

from __future__ import annotations

from dataclasses import dataclass

from curricula.levels import find_level
from puzzles.names import did_you_mean


@dataclass(frozen=True)
class Phase:
    """One stretch of training."""

    levels: tuple[str, ...]
    """Levels whose training instances are drawn from, in equal shares."""
    share: float
    """Share of all updates, in (0, 1]."""


@dataclass(frozen=True)
class Schedule:
    """Phases one after another; their shares sum to 1."""

    name: str
    phases: tuple[Phase, ...]

    def __post_init__(self) -> None:
        if not self.phases:
            raise ValueError(f"schedule {self.name!r} has no phases")
        for phase in self.phases:
            if not phase.levels:
                raise ValueError(f"schedule {self.name!r} has a phase without levels")
            for level in phase.levels:
                find_level(level)
            if not 0 < phase.share <= 1:
                raise ValueError(f"schedule {self.name!r}: share {phase.share} of a phase is not in (0, 1]")
        total = sum(phase.share for phase in self.phases)
        if abs(total - 1) > 1e-9:
            raise ValueError(f"schedule {self.name!r}: the shares of the phases sum to {total}, must be 1")

    def ends(self, updates: int) -> tuple[int, ...]:
        """Return the update before which each phase ends, shape [phases]; the last is `updates`.

        Raises:
            ValueError: if there are fewer updates than phases.
        """
        if updates < len(self.phases):
            raise ValueError(f"{updates} updates cannot hold the {len(self.phases)} phases of schedule {self.name!r}")
        ends: list[int] = []
        sum_of_shares = 0.0
        for index, phase in enumerate(self.phases):
            sum_of_shares += phase.share
            earliest = (ends[-1] if ends else 0) + 1
            latest = updates - (len(self.phases) - index - 1)
            ends.append(min(max(round(sum_of_shares * updates), earliest), latest))
        return tuple(ends)

    def levels_at(self, update: int, updates: int) -> tuple[str, ...]:
        """Return the levels that update number `update` (from 0) of `updates` trains on.

        Raises:
            ValueError: if there is no such update.
        """
        if not 0 <= update < updates:
            raise ValueError(f"update is {update}, must be 0 to {updates - 1}")
        for phase, end in zip(self.phases, self.ends(updates), strict=True):
            if update < end:
                return phase.levels
        raise AssertionError("the last phase ends with the last update")


def single(*levels: str) -> Schedule:
    """Return the schedule that trains on the same levels throughout."""
    return Schedule("+".join(levels), (Phase(levels, 1.0),))


def short_then_long(short: tuple[str, ...], long: tuple[str, ...], share: float = 0.5) -> Schedule:
    """Return the schedule that trains on short ways first.

    Args:
        short: levels of the first phase.
        long: levels of the second.
        share: share of the updates that the first phase takes, in (0, 1).
    """
    return Schedule(f"{'+'.join(short)}>{'+'.join(long)}", (Phase(short, share), Phase(long, 1 - share)))


SCHEDULES: dict[str, Schedule] = {
    schedule.name: schedule
    for schedule in (
        single("L1", "L2"),
        single("L3", "L4"),
        short_then_long(("L1", "L2"), ("L3", "L4")),
        single("T3"),
        short_then_long(("T3",), ("T4",)),
        short_then_long(("M2",), ("M3",)),
        single("R1"),
        single("R2"),
        short_then_long(("R1",), ("R2",)),
    )
}
"""Schedules by name: `L1+L2` throughout, or `R1>R2` for one after the other."""


def find_schedule(name: str) -> Schedule:
    """Return the schedule called `name`; any levels joined by `+` and phases joined by `>` are one, in equal shares.

    Raises:
        ValueError: if a level is unknown.
    """
    if name in SCHEDULES:
        return SCHEDULES[name]
    parts = [tuple(part.split("+")) for part in name.split(">")]
    try:
        return Schedule(name, tuple(Phase(part, 1 / len(parts)) for part in parts))
    except ValueError as problem:
        raise ValueError(f"unknown schedule {name!r} ({problem}){did_you_mean(name, SCHEDULES)}") from None
