"""The estimators by name, and how a user's own one joins them."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable

from horizon_bench.credit.batch import FloatArray
from horizon_bench.credit.returns import reinforce, subgoal_next, subgoal_own

Estimator = Callable[..., FloatArray]
"""`f(batch: CreditBatch, **options)` returns advantages of shape [turns]."""

ESTIMATORS: dict[str, Estimator] = {
    "reinforce": reinforce,
    "subgoal": subgoal_next,
    "subgoal-next": subgoal_next,
    "subgoal-own": subgoal_own,
}


def register_estimator(name: str, estimator: Estimator) -> None:
    """Add a user's estimator under a name, so that training, studies and figures find it.

    Raises:
        ValueError: if the name is taken by another estimator or holds a colon.
    """
    if ":" in name:
        raise ValueError(f"estimator name {name!r} holds a colon, which is kept for `module:function`")
    if ESTIMATORS.get(name, estimator) is not estimator:
        raise ValueError(f"estimator {name!r} exists already; register yours under another name")
    ESTIMATORS[name] = estimator


def find_estimator(name: str) -> Estimator:
    """Return an estimator by name, or by `module:function` for one that nobody registered in this process.

    Raises:
        ValueError: if the name is unknown, naming the nearest known one.
    """
    if ":" in name:
        return _import_estimator(name)
    if name not in ESTIMATORS:
        near = difflib.get_close_matches(name, ESTIMATORS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(f"unknown estimator {name!r}{hint} known: {', '.join(ESTIMATORS)}, or `module:function`")
    return ESTIMATORS[name]


def _import_estimator(name: str) -> Estimator:
    module, _, function = name.partition(":")
    try:
        estimator = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"estimator {name!r} is read as `module:function`, but: {error}") from error
    if not callable(estimator):
        raise ValueError(f"estimator {name!r} is no function")
    return estimator  # type: ignore[no-any-return]
