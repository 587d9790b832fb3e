"""What every estimator sees: one rollout batch as flat arrays over decisions, episodes marked by offsets.

No environment, model or configuration enters here, so that an estimator is a pure function of numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class CreditBatch:
    """A ragged batch of episodes; `turns` is the number of decisions of all episodes together.

    Episode e owns the decisions `offsets[e]` .. `offsets[e + 1] - 1`, in time order.
    """

    offsets: IntArray
    """Shape [episodes + 1]; first entry 0, last entry `turns`, never decreasing."""
    group: IntArray
    """Shape [episodes]; episodes of one group start from the same instance."""
    rewards: FloatArray
    """Task reward of each decision (outcome: 1 at the solving decision), shape [turns]."""
    step_rewards: FloatArray
    """Format and legality reward of each decision, shape [turns]."""
    subgoals_reached: IntArray
    """How many subgoals each decision completed for the first time, shape [turns]."""
    own_subgoal_turn: IntArray
    """Index within the episode of the decision that completed the subgoal this decision worked on; -1 if never, shape [turns]."""
    states: IntArray
    """Hash of the state each decision saw, shape [turns]."""
    actions: IntArray
    """Hash of each decision's carried-out moves, shape [turns]."""
    terminated: BoolArray
    """Whether the episode ended by the rules (solved or dead), not by a budget, shape [episodes]."""
    values: FloatArray | None = None
    """Critic's value of the state each decision saw, shape [turns]; only for estimators that need one."""
    final_values: FloatArray | None = None
    """Critic's value of the state after the last decision, shape [episodes]; 0 counts for terminated ones."""
