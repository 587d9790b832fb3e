"""Worlds from other packages as puzzles; each needs `pip install "horizon-bench[outside]"`.

`World` is the adapter for a world that can only be played, `View` what a `Simulator` tells of it; `ChildSimulator` and
`serve` put one into a process of its own.
"""

from horizon_bench.outside.child import ChildSimulator, serve
from horizon_bench.outside.extras import need
from horizon_bench.outside.gold import GoldOracle
from horizon_bench.outside.simulators import Simulator, Trail, View
from horizon_bench.outside.stage import CrashError, Stage
from horizon_bench.outside.world import World

__all__ = [
    "ChildSimulator",
    "CrashError",
    "GoldOracle",
    "Simulator",
    "Stage",
    "Trail",
    "View",
    "World",
    "need",
    "serve",
]
