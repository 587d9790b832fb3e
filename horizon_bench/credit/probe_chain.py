"""A chain small enough to know its policy gradient exactly, and fast enough to sample it many thousand times.

The agent stands at place 0 and wants to reach the last place. At every decision it goes forward, waits, or quits; each
decision costs something, the last place pays 1, quitting ends the episode, and so does a budget of decisions. Since
waiting and quitting change how long the agent acts, estimators that are only unbiased for a fixed length show it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from horizon_bench.credit.batch import BoolArray, CreditBatch, FloatArray, IntArray

FORWARD, WAIT, QUIT = 0, 1, 2
ACTIONS = 3


@dataclass(frozen=True)
class Chain:
    """The chain and a softmax policy with one row of logits for each place."""

    places: int = 4
    """Steps from the start to the goal."""
    budget: int = 8
    """Decisions after which an episode is cut off."""
    cost: float = 0.2
    """Subtracted at every decision."""
    slip: float = 0.2
    """Probability that going forward fails."""
    subgoals: tuple[int, ...] = (2, 4)
    """Places whose first arrival is a subgoal."""
    logits: FloatArray = field(default_factory=lambda: np.array([[0.8, 0.3, -0.9]] * 4))
    """Shape [places, 3]: forward, wait, quit."""

    def __post_init__(self) -> None:
        """Check that the logits fit the places."""
        if self.logits.shape != (self.places, ACTIONS):
            raise ValueError(f"logits have shape {self.logits.shape}, but {self.places} places need ({self.places}, 3)")

    @property
    def probabilities(self) -> FloatArray:
        """Probability of each action at each place, shape [places, 3]."""
        weights = np.exp(self.logits - self.logits.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)

    def action_values(self) -> FloatArray:
        """Return the expected undiscounted return of each action, shape [budget, places, 3]."""
        values = np.zeros((self.budget + 1, self.places + 1))
        of_action = np.zeros((self.budget, self.places, ACTIONS))
        for time in range(self.budget - 1, -1, -1):
            ahead, here = values[time + 1, 1:], values[time + 1, :-1]
            arrival = np.zeros(self.places)
            arrival[-1] = 1.0
            of_action[time, :, FORWARD] = (1 - self.slip) * (arrival + ahead) + self.slip * here - self.cost
            of_action[time, :, WAIT] = here - self.cost
            of_action[time, :, QUIT] = -self.cost
            values[time, :-1] = (self.probabilities * of_action[time]).sum(axis=1)
        return of_action

    def state_values(self) -> FloatArray:
        """Return the expected undiscounted return of each place at each time, shape [budget + 1, places + 1]."""
        values = np.zeros((self.budget + 1, self.places + 1))
        values[:-1, :-1] = (self.probabilities * self.action_values()).sum(axis=2)
        return values

    def visits(self) -> FloatArray:
        """Return the probability of standing at each place at each time, shape [budget, places]."""
        visits = np.zeros((self.budget, self.places))
        visits[0, 0] = 1.0
        moves = self.probabilities[:, FORWARD] * (1 - self.slip)
        stays = self.probabilities[:, WAIT] + self.probabilities[:, FORWARD] * self.slip
        for time in range(1, self.budget):
            visits[time] = visits[time - 1] * stays
            visits[time, 1:] += (visits[time - 1] * moves)[:-1]
        return visits

    def exact_gradient(self) -> FloatArray:
        """Return the gradient of the expected return by the logits, shape [places, 3]."""
        advantages = self.action_values() - self.state_values()[:-1, :-1, None]
        return np.asarray(np.einsum("tp,pa,tpa->pa", self.visits(), self.probabilities, advantages), dtype=np.float64)

    def sample(self, groups: int, attempts: int, rng: np.random.Generator) -> CreditBatch:
        """Return episodes of the policy, `attempts` in each of `groups` groups, with exact values of every state.

        States are places, actions what the agent chose; step rewards are 0, so that only the task reward is measured.
        """
        episodes = groups * attempts
        place, alive = np.zeros(episodes, dtype=np.int64), np.ones(episodes, dtype=np.bool_)
        columns: list[tuple[IntArray, IntArray, FloatArray, IntArray, BoolArray]] = []
        for _ in range(self.budget):
            action, following, over = self.step(place, rng)
            reached = np.isin(following, self.subgoals) & (following != place)
            reward = (following == self.places) - self.cost
            columns.append((place, action, reward, reached.astype(np.int64), alive))
            alive, place = alive & ~over, np.minimum(following, self.places - 1)
        return self._batch(columns, ~alive, groups, attempts)

    def step(self, place: IntArray, rng: np.random.Generator) -> tuple[IntArray, IntArray, BoolArray]:
        """Return the actions chosen at some places, where they lead, and which end the episode."""
        thresholds = np.cumsum(self.probabilities, axis=1)[place, :2]
        action = (rng.random(len(place))[:, None] >= thresholds).sum(axis=1).astype(np.int64)
        moves = (action == FORWARD) & (rng.random(len(place)) >= self.slip)
        following = place + moves
        return action, following, (action == QUIT) | (following == self.places)

    def simulate(self, place: IntArray, time: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return the return of one continuation from each place and time, shape as `place`."""
        place, time = place.copy(), time.copy()
        total, alive = np.zeros(len(place)), time < self.budget
        while alive.any():
            _, following, over = self.step(place, rng)
            total += alive * ((following == self.places) - self.cost)
            time += 1
            alive = alive & ~over & (time < self.budget)
            place = np.minimum(following, self.places - 1)
        return total

    def _batch(
        self,
        columns: list[tuple[IntArray, IntArray, FloatArray, IntArray, BoolArray]],
        ended: BoolArray,
        groups: int,
        attempts: int,
    ) -> CreditBatch:
        place, action, reward, reached, alive = (np.stack(column, axis=1) for column in zip(*columns, strict=True))
        time = np.broadcast_to(np.arange(self.budget), alive.shape)
        kept = alive.astype(np.bool_)
        turns = int(kept.sum())
        return CreditBatch(
            offsets=np.append(0, np.cumsum(kept.sum(axis=1))),
            group=np.repeat(np.arange(groups), attempts),
            rewards=reward[kept],
            step_rewards=np.zeros(turns),
            subgoals_reached=reached[kept],
            own_subgoal_turn=self._own_subgoals(place, reached, kept),
            states=place[kept],
            actions=action[kept],
            terminated=ended,
            values=self.state_values()[time, place][kept] if turns else np.zeros(0),
            final_values=np.zeros(groups * attempts),
        )

    def _own_subgoals(self, place: IntArray, reached: IntArray, kept: BoolArray) -> IntArray:
        """Return when the next subgoal ahead of each decision's place was reached, -1 if never."""
        own = np.full(place.shape, -1, dtype=np.int64)
        following = np.full(len(place), -1, dtype=np.int64)
        for time in range(self.budget - 1, -1, -1):
            hit = (reached[:, time] > 0) & kept[:, time]
            following = np.where(hit, time, following)
            own[:, time] = following
        return own[kept]
