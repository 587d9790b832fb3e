"""A controlled horizon-study suite for language-model agents: environments, credit, policies, training, evaluation.

`import horizon_bench` registers the environments with Gymnasium and costs no torch; every public name is imported on
first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from horizon_bench.siblings import check_siblings

if TYPE_CHECKING:
    from horizon_bench.credit import CORRECTIONS, ESTIMATORS
    from horizon_bench.envs import INTERFACES, ON_ERROR, REWARDS, ActionInterface, PuzzleEnv, Settings, ready_id
    from horizon_bench.episodes import Episode, Turn
    from horizon_bench.policies import POLICIES

__version__ = "0.1.0"

_HOMES = {
    "INTERFACES": "horizon_bench.envs",
    "ON_ERROR": "horizon_bench.envs",
    "REWARDS": "horizon_bench.envs",
    "ActionInterface": "horizon_bench.envs",
    "PuzzleEnv": "horizon_bench.envs",
    "Settings": "horizon_bench.envs",
    "ready_id": "horizon_bench.envs",
    "CORRECTIONS": "horizon_bench.credit",
    "ESTIMATORS": "horizon_bench.credit",
    "POLICIES": "horizon_bench.policies",
    "Episode": "horizon_bench.episodes",
    "Turn": "horizon_bench.episodes",
}

__all__ = [
    "CORRECTIONS",
    "ESTIMATORS",
    "INTERFACES",
    "ON_ERROR",
    "POLICIES",
    "REWARDS",
    "ActionInterface",
    "Episode",
    "PuzzleEnv",
    "Settings",
    "Turn",
    "ready_id",
    "register_puzzle",
]


check_siblings()

from horizon_bench.envs.registration import register_all, register_puzzle  # noqa: E402

register_all()


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names."""
    return sorted({*globals(), *__all__})
