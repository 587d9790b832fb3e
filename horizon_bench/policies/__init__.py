"""Policies by name: experts, their noisy and random counterparts, and a small model trained from scratch.

Importing this package does not import torch; naming `tiny` does.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from horizon_bench.policies.base import Policy, Reply, Seat
from horizon_bench.policies.expert import ExpertPolicy, NoisyExpertPolicy, RandomPolicy


def load_tiny(folder: str | Path, temperature: float = 0.8) -> Policy:
    """Return the small model saved in a folder; imports torch.

    Args:
        folder: where `TinyPolicy.save` or `save_pretrained` wrote model and tokenizer.
        temperature: sampling temperature, above 0.
    """
    from horizon_bench.policies.tiny import TinyPolicy

    return TinyPolicy.load(folder).at_temperature(temperature)


POLICIES: dict[str, Callable[..., Policy]] = {
    "expert": ExpertPolicy,
    "noisy-expert": NoisyExpertPolicy,
    "random": RandomPolicy,
    "tiny": load_tiny,
}


def make_policy(name: str, **options: Any) -> Policy:
    """Return the policy of that name.

    >>> make_policy("noisy-expert", error_rate=0.1)
    NoisyExpertPolicy(error_rate=0.1, actions=1)

    Args:
        name: a name in `POLICIES`.
        options: arguments of that policy.

    Raises:
        ValueError: for an unknown name or option, with the nearest match.
    """
    if name not in POLICIES:
        near = difflib.get_close_matches(name, POLICIES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ";"
        raise ValueError(f"unknown policy {name!r}{hint} known: {', '.join(POLICIES)}")
    known = inspect.signature(POLICIES[name]).parameters
    for option in options:
        if option not in known:
            raise ValueError(f"policy {name!r} has no option {option!r}; known: {', '.join(known) or 'none'}")
    return POLICIES[name](**options)


__all__ = [
    "POLICIES",
    "ExpertPolicy",
    "NoisyExpertPolicy",
    "Policy",
    "RandomPolicy",
    "Reply",
    "Seat",
    "load_tiny",
    "make_policy",
]
