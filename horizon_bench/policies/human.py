"""The policy `human`: a person at the terminal reads the observation and writes the reply."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TextIO

import numpy as np

from horizon_bench.policies.base import Reply, Seat, Tokenless


class HumanPolicy(Tokenless):
    """Asks a person for each reply, one lane after the other; works with piped input as well."""

    observation = "text"
    """The form of observations that it reads."""

    def __init__(self, source: TextIO | None = None, screen: TextIO | None = None) -> None:
        """Choose where to read and write.

        Args:
            source: replies, one a line; the standard input by default.
            screen: where observations are shown; the standard output by default.
        """
        self.source = source
        self.screen = screen
        self._shown = ""

    def reply(
        self, observations: Sequence[str], seats: Sequence[Seat], generators: Sequence[np.random.Generator]
    ) -> list[Reply]:
        """Return one reply for each lane."""
        return [
            Reply(self._ask(observation, place, len(observations))) for place, observation in enumerate(observations, 1)
        ]

    def _ask(self, observation: str, place: int, boards: int) -> str:
        """Show one observation and return the line that is written.

        Raises:
            ValueError: if the input has ended.
        """
        screen = self.screen or sys.stdout
        head, separator, rest = observation.partition("\n\n")
        if separator and head == self._shown:
            observation = rest
        self._shown = head if separator else ""
        counted = f" {place} of {boards}" if boards > 1 else ""
        screen.write(f"\n--- board{counted} ---\n{observation}\n> ")
        screen.flush()
        line = (self.source or sys.stdin).readline()
        if not line:
            raise ValueError("the input has ended before the game; play fewer puzzles or write more replies")
        return line.rstrip("\n")
