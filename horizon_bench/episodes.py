"""What a rollout leaves behind: decisions and episodes as plain, immutable records of facts.

Torch-free: token ids and log-probabilities are numpy arrays, kept exactly as they were sampled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Turn:
    """One decision: what the policy saw and wrote, and what came of it."""

    observation: str
    """The prompt."""
    reply: str
    """The reply, whole."""
    prompt_ids: NDArray[np.int64]
    """Token ids of the prompt; empty for a policy without tokens."""
    reply_ids: NDArray[np.int64]
    """Token ids as sampled, shape [tokens]; never re-encoded from text."""
    sampling_logprobs: NDArray[np.float32]
    """Log-probability of each reply token under the distribution it was sampled from, shape [tokens]."""
    entropy: float
    """Mean entropy of the sampling distribution over the reply's tokens, in nats; 0 without tokens."""
    capped: bool
    """The reply hit the token cap before its end token."""
    format_ok: bool
    """The reply followed the grammar of its interface."""
    legal: bool
    """Every action that was tried was legal by the rules."""
    actions_written: int
    """Atomic actions the reply asked for."""
    moves: tuple[str, ...]
    """Canonical text of the atomic moves that were carried out."""
    illegal_actions: int
    """Atomic actions that the rules refused."""
    reward: float
    """Task reward (outcome, subgoal or potential, as the environment was made)."""
    step_reward: float
    """Format and legality reward."""
    subgoals_reached: tuple[int, ...]
    """Indices of subgoals completed for the first time."""
    own_subgoal: int | None
    """Subgoal that the first carried-out move worked on."""
    state_hash: int
    """Hash of the state the policy saw (stable across processes)."""
    distance_before: int | None
    """Goal distance of that state, in atomic actions; None if out of reach."""
    distance_after: int | None
    """Goal distance after the decision."""
    extra_tokens: int = 0
    """Tokens generated for the decision besides `reply_ids`, as `Reply` tells."""

    @property
    def tokens(self) -> int:
        """Number of tokens generated for the decision."""
        return len(self.reply_ids) + self.extra_tokens

    @property
    def lost(self) -> bool:
        """Whether the reply was unreadable or voided by a false thought, so that nothing of it was tried."""
        return not self.format_ok or (self.step_reward == -1.0 and not self.illegal_actions)


@dataclass(frozen=True)
class Episode:
    """One attempt at one instance."""

    instance_key: str
    """Content key of the instance."""
    start: str
    """The instance's start, as `Puzzle.format` writes it."""
    level: str
    """Level of the instance, or `-`."""
    distance: int
    """Goal distance at the start, in atomic actions."""
    group: int
    """Episodes of one group share the instance."""
    attempt: int
    """Index within the group."""
    turns: tuple[Turn, ...]
    solved: bool
    terminated: bool
    """Ended by the rules."""
    truncated: bool
    """Ended by a budget."""
    end_reason: str
    """`solved`, `wrong`, `illegal`, `format`, `dead`, `max_decisions`, `max_atomic_steps`, `max_tokens`."""
    final_observation: str = ""
    """What the policy would have seen next, where a budget cut the episode off; empty where the rules ended it."""

    @property
    def decisions(self) -> int:
        """Number of decisions."""
        return len(self.turns)

    @property
    def atomic_steps(self) -> int:
        """Number of atomic moves carried out."""
        return sum(len(turn.moves) for turn in self.turns)

    @property
    def tokens(self) -> int:
        """Number of generated tokens."""
        return sum(turn.tokens for turn in self.turns)
