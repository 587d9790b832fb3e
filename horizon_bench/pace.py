"""How fast policies play: decisions and tokens a second of all rollouts within a block.

Wall-clock figures differ from run to run, so nothing here may enter a record of what was played; `timings.jsonl` holds
them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from horizon_bench.episodes import Episode


@dataclass
class Pace:
    """What was played, and how long it took."""

    decisions: int = 0
    """Replies of the policy."""
    tokens: int = 0
    """Tokens that the policy generated."""
    seconds: float = 0.0
    """Wall-clock seconds."""

    @property
    def decisions_per_second(self) -> float:
        """Decisions a second; 0 if nothing was played."""
        return self.decisions / self.seconds if self.seconds > 0 else 0.0

    @property
    def tokens_per_second(self) -> float:
        """Tokens a second; 0 if nothing was played, or by a policy without tokens."""
        return self.tokens / self.seconds if self.seconds > 0 else 0.0

    def add(self, episodes: Iterable[Episode], seconds: float) -> None:
        """Add episodes that took these seconds together."""
        for episode in episodes:
            self.decisions += episode.decisions
            self.tokens += episode.tokens
        self.seconds += seconds

    def __str__(self) -> str:
        """Return both figures as people read them.

        >>> print(Pace(decisions=3000, tokens=12000, seconds=2.0))
        1,500 decisions/s, 6,000 tokens/s
        """
        figures = f"{_short(self.decisions_per_second)} decisions/s"
        return f"{figures}, {_short(self.tokens_per_second)} tokens/s" if self.tokens else figures


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


_PACES: ContextVar[tuple[Pace, ...]] = ContextVar("paces", default=())


@contextmanager
def measured_pace() -> Iterator[Pace]:
    """Yield a pace that grows with every rollout played within the block by this process."""
    pace = Pace()
    token = _PACES.set((*_PACES.get(), pace))
    try:
        yield pace
    finally:
        _PACES.reset(token)


@contextmanager
def clocked(episodes: list[Episode]) -> Iterator[None]:
    """Count what the block appends to `episodes`, and its time, in every pace that is being measured."""
    began = time.perf_counter()
    yield
    seconds = time.perf_counter() - began
    for pace in _PACES.get():
        pace.add(episodes, seconds)
