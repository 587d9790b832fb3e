"""Time every estimator on 10,000 episodes of 50 decisions against the same formula as a plain Python loop.

Run `python benchmarks/credit.py`; set OMP_NUM_THREADS=1 to hold it to one core. The loops of
`horizon_bench.credit.reference` run on a share of the episodes and are scaled up, since each is linear in them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from horizon_bench.credit import ESTIMATORS, CreditBatch
from horizon_bench.credit.reference import REFERENCES

ATTEMPTS = 8
STATES = 2_000


def sample(episodes: int, decisions: int, seed: int) -> CreditBatch:
    rng = np.random.default_rng(seed)
    turns = episodes * decisions
    return CreditBatch(
        offsets=np.arange(episodes + 1) * decisions,
        group=np.arange(episodes) // ATTEMPTS,
        rewards=rng.normal(size=turns),
        step_rewards=-rng.integers(0, 2, turns).astype(np.float64),
        subgoals_reached=(rng.random(turns) < 0.1).astype(np.int64),
        own_subgoal_turn=np.full(turns, decisions - 1),
        states=rng.integers(0, STATES, turns),
        actions=rng.integers(0, 20, turns),
        terminated=rng.random(episodes) < 0.5,
        values=rng.normal(size=turns),
        final_values=rng.normal(size=episodes),
    )


def seconds(function: Callable[[CreditBatch], object], batch: CreditBatch, repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        function(batch)
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--decisions", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3, help="the fastest of so many runs counts")
    parser.add_argument("--loop-share", type=float, default=0.02, help="share of the episodes that the loops see")
    settings = parser.parse_args()
    whole = sample(settings.episodes, settings.decisions, 0)
    part = sample(max(int(settings.episodes * settings.loop_share), ATTEMPTS), settings.decisions, 0)
    print(f"{settings.episodes} episodes x {settings.decisions} decisions; fastest of {settings.repeats} runs, in ms")
    print(f"{'estimator':22} {'arrays':>8} {'loop':>9} {'ratio':>7}")
    for name, estimator in ESTIMATORS.items():
        fast = seconds(estimator, whole, settings.repeats)
        if name in REFERENCES:
            slow = seconds(REFERENCES[name], part, 1) * whole.episodes / part.episodes
            print(f"{name:22} {1e3 * fast:8.1f} {1e3 * slow:9.0f} {slow / fast:7.0f}")
        else:
            print(f"{name:22} {1e3 * fast:8.1f} {'-':>9} {'-':>7}")


if __name__ == "__main__":
    main()
