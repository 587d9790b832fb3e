"""What a policy is: observations in, replies out, many environments at a time. Torch-free.

A policy that reads text needs nothing but the observation. Expert policies also look at the true state and at the
oracle, through the `Seat` of each environment; nothing else gives them away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from puzzles.base import Puzzle
from solvers.base import Oracle


def _no_ids() -> NDArray[np.int64]:
    return np.zeros(0, dtype=np.int64)


def _no_logprobs() -> NDArray[np.float32]:
    return np.zeros(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply of a policy; policies without tokens fill in the text alone."""

    text: str
    """What the environment reads."""
    prompt_ids: NDArray[np.int64] = field(default_factory=_no_ids)
    """Token ids of the prompt, shape [prompt tokens]."""
    reply_ids: NDArray[np.int64] = field(default_factory=_no_ids)
    """Token ids as sampled, the end token included, shape [tokens]."""
    logprobs: NDArray[np.float32] = field(default_factory=_no_logprobs)
    """Log-probability of each token under the distribution it was drawn from, shape [tokens]."""
    entropy: float = 0.0
    """Mean entropy of that distribution over the tokens, in nats."""
    capped: bool = False
    """The reply was truncated: the token cap came before its end."""
    extra_tokens: int = 0
    """Tokens generated besides `reply_ids`: for an agent's plans, or by an endpoint, which hides their ids."""

    @property
    def tokens(self) -> int:
        """Number of tokens generated for the reply."""
        return len(self.reply_ids) + self.extra_tokens


@runtime_checkable
class Seat(Protocol):
    """What an expert may look at: the base environment of one lane fulfils it."""

    @property
    def puzzle(self) -> Puzzle[Any, Any]:
        """The rules."""

    @property
    def state(self) -> Any:
        """The state the next reply acts on."""

    @property
    def oracle(self) -> Oracle[Any, Any]:
        """Exact knowledge about the lane's instance."""


@runtime_checkable
class Policy(Protocol):
    """Writes one reply for each observation."""

    def reply(
        self, observations: Sequence[str], seats: Sequence[Seat], generators: Sequence[np.random.Generator]
    ) -> list[Reply]:
        """Return one reply for each lane, in order.

        Args:
            observations: what each lane's environment shows, shape [lanes].
            seats: each lane's puzzle, state and oracle, for policies that are experts.
            generators: each lane's own generator, the only source of chance: a reply never depends on which other
                lanes are in the call.
        """

    def at_temperature(self, temperature: float) -> Policy:
        """Return the policy that samples at this temperature; a policy without tokens returns itself."""


class Tokenless:
    """What policies that sample no tokens have in common: there is nothing that a temperature could change."""

    def at_temperature(self, temperature: float) -> Self:
        """Return itself."""
        return self
