"""MiRA: training in phases with milestones. Progress labels, two critics, an off-policy objective, a replay buffer.

`labels`, `configs`, `objective`, `calibration`, `replay` and `curriculum` are torch-free; `critics`, `losses` and
`phases` train.
"""

from horizon_bench.mira.labels import (
    episode_labels,
    milestone_vectors,
    partial_labels,
    progress_labels,
    subgoal_times,
)

__all__ = ["episode_labels", "milestone_vectors", "partial_labels", "progress_labels", "subgoal_times"]
