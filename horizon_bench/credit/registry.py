"""The estimators by name, and how a user's own one joins them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Literal, get_args

from horizon_bench.credit.batch import FloatArray
from horizon_bench.credit.beacon import beacon
from horizon_bench.credit.critics import ppo, vineppo
from horizon_bench.credit.decisions import group_mean_decisions, leave_one_out_decisions, summed_centred_turns
from horizon_bench.credit.groups import grpo, reinforce_plus_plus, reinforce_plus_plus_baseline, rloo
from horizon_bench.credit.returns import reinforce, subgoal_next, subgoal_own
from horizon_bench.credit.states import gigpo, hindsight
from puzzles.names import check_name

Estimator = Callable[..., FloatArray]
"""`f(batch: CreditBatch, **options)` returns advantages of shape [turns]."""

ESTIMATORS: dict[str, Estimator] = {
    "reinforce": reinforce,
    "subgoal": subgoal_next,
    "subgoal-next": subgoal_next,
    "subgoal-own": subgoal_own,
    "grpo": grpo,
    "grpo-no-std": partial(grpo, scale="none"),
    "rloo": rloo,
    "reinforce++": reinforce_plus_plus,
    "reinforce++-baseline": reinforce_plus_plus_baseline,
    "rloo-decision": leave_one_out_decisions,
    "centred-decision": group_mean_decisions,
    "centred-turns": summed_centred_turns,
    "ppo": ppo,
    "vineppo": vineppo,
    "gigpo": gigpo,
    "hindsight": hindsight,
    "beacon": beacon,
    "beacon-released": partial(beacon, mode="released"),
    "beacon-gamma-0": partial(beacon, gamma=0.0),
    "beacon-gamma-1": partial(beacon, gamma=1.0),
    "beacon-segment": partial(beacon, part="segment"),
    "beacon-trajectory": partial(beacon, part="trajectory"),
    "beacon-random-cuts": partial(beacon, cuts="random"),
    "beacon-dropped": partial(beacon, cuts="dropped"),
}

Values = Literal["critic", "rollouts"]
"""Where the values of states come from: a learned critic, or continuations from snapshots."""

NEEDS_VALUES: dict[str, Values] = {"ppo": "critic", "vineppo": "rollouts"}
"""The estimators that read `CreditBatch.values`, and where those come from."""


def register_estimator(name: str, estimator: Estimator, *, needs: Values | None = None) -> None:
    """Add a user's estimator under a name, so that training, studies and figures find it.

    Args:
        name: any name that is free and holds no colon.
        estimator: the function.
        needs: where its `CreditBatch.values` come from, if it reads them.

    Raises:
        ValueError: if the name is taken by another estimator or holds a colon, the estimator is no function, or `needs`
            is unknown.
    """
    if not callable(estimator):
        raise ValueError(f"estimator {name!r} is no function")
    if needs is not None:
        check_name("needs", needs, get_args(Values))
    if ":" in name:
        raise ValueError(f"estimator name {name!r} holds a colon, which is kept for `module:function`")
    if ESTIMATORS.get(name, estimator) is not estimator:
        raise ValueError(f"estimator {name!r} exists already; register yours under another name")
    ESTIMATORS[name] = estimator
    if needs is not None:
        NEEDS_VALUES[name] = needs


def find_estimator(name: str) -> Estimator:
    """Return an estimator by name, or by `module:function` for one that nobody registered in this process.

    If the module registers the function with `needs`, these hold for its import path as well.

    Raises:
        ValueError: if the name is unknown, naming the nearest known one.
    """
    if ":" in name:
        return _import_estimator(name)
    return ESTIMATORS[check_name("estimator", name, (*ESTIMATORS, "module:function"))]


def _import_estimator(name: str) -> Estimator:
    module, _, function = name.partition(":")
    try:
        estimator = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"estimator {name!r} is read as `module:function`, but: {error}") from error
    if not callable(estimator):
        raise ValueError(f"estimator {name!r} is no function")
    for known, needs in tuple(NEEDS_VALUES.items()):
        if ESTIMATORS.get(known) is estimator:
            NEEDS_VALUES[name] = needs
    return estimator  # type: ignore[no-any-return]
