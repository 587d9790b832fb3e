"""Which single environments have a batched twin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from horizon_bench.envs.puzzle_env import PuzzleEnv


def batched_class(env: PuzzleEnv) -> Callable[..., Any] | None:
    """Return the batched class that gives what lanes of `env` would give, or None if there is none."""
    return None
