"""What one decision did, and what an episode goes on from: plain records that the game fills in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from horizon_bench.envs.parsing import ParsedReply


@dataclass(slots=True)
class Decision:
    """What one reply asked for and what came of it."""

    parsed: ParsedReply
    format_ok: bool
    """The reply follows the grammar of its interface, its thought included."""
    problem: str
    """Why nothing was read; empty if the reply was read."""
    written: tuple[Any, ...]
    """Atomic moves the reply asked for."""
    void: bool = False
    """A false claim in the thought voided the reply."""
    carried: list[Any] = field(default_factory=list)
    """Atomic moves that were carried out."""
    refused: list[Any] = field(default_factory=list)
    """Atomic moves that the rules refused."""
    reasons: list[str] = field(default_factory=list)
    """Why, one for each refused move."""
    failed: int = 0
    """Legal moves that had no effect by chance."""
    subgoals_at: list[int] = field(default_factory=list)
    """Index among `carried` of the move that reached each new subgoal."""
    subgoals_reached: list[int] = field(default_factory=list)
    """Subgoals reached for the first time, in order."""
    own_subgoal: int | None = None
    """Subgoal that the first carried-out move worked on."""
    reward: float = 0.0
    step_reward: float = 0.0

    @property
    def tried(self) -> int:
        """Atomic moves that were put to the rules."""
        return len(self.carried) + self.failed + len(self.refused)

    @property
    def legal(self) -> bool:
        """Whether the reply was read and the rules refused nothing of what was tried."""
        return self.format_ok and not self.void and not self.refused


@dataclass(frozen=True)
class Snapshot:
    """Everything an episode goes on from; picklable, and equal for equal episodes."""

    start: str
    """Text of the instance's start."""
    key: str
    level: str
    state: Any
    counters: tuple[int, int, int]
    paid: frozenset[int]
    pending: str | None
    memory: tuple[tuple[str, str], ...]
    feedback: str
    feedback_token: str
    end_reason: str
    generator: dict[str, Any]
    last_move: Any
