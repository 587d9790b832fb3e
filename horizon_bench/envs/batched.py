"""What batched environments share: lanes as arrays, budgets, rewards, infos and autoreset.

A batched environment gives each lane what a single one with the same seed gives: observation, reward, ends and the info
entries it carries. In its infos `distance_to_go`, `own_subgoal` and `subgoals_reached` are -1, their `_` masks false,
where a single environment has none; `subgoals_done` has one column for each subgoal, further columns are false. The
entries `moves` and `state_hash`, which cost more than the step itself, are left to `state_hashes()`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from sys import getrefcount
from typing import Any

import numpy as np
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from horizon_bench.envs.instances import Prepared
from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.envs.rewards import DEAD_POTENTIAL

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

REASONS = np.array(["", "solved", "wrong", "illegal", "dead", "max_decisions", "max_atomic_steps"], dtype=object)
"""End reasons by number; those from 5 are budgets."""
_UNUSED = 3
"""References to a buffer that only `Copies` holds: its list, the loop and the count itself."""
_MOST_BUFFERS = 4
_SOLVED, _WRONG, _ILLEGAL, _DEAD, _MAX_DECISIONS, _MAX_ATOMIC_STEPS = range(1, 7)


def batched_class(env: PuzzleEnv) -> Callable[..., Any] | None:
    """Return the batched class that gives what lanes of `env` would give, or None if there is none."""
    settings, name = env.settings, env.puzzle.name
    if settings.observation != "array" or settings.interface != "atomic" or settings.failure_probability:
        return None
    if settings.thought == "checked" or env.render_mode is not None:
        return None
    if name == "sudoku" and settings.on_error in ("strict", "end", "semi"):
        from horizon_bench.envs.batched_sudoku import BatchedSudoku

        return BatchedSudoku
    if name == "rush-hour":
        from horizon_bench.envs.batched_rush_hour import BatchedRushHour

        return BatchedRushHour
    return None


class Copies:
    """Copies large arrays into memory that nobody looks at any more.

    Fresh memory of this size comes page by page from the operating system, which costs more than the copy itself.
    """

    def __init__(self) -> None:
        self._buffers: list[NDArray[np.int8]] = []

    def copy(self, array: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return a copy that shares memory with no array in use."""
        for buffer in self._buffers:
            if getrefcount(buffer) == _UNUSED:
                np.copyto(buffer, array)
                return buffer
        fresh = array.copy()
        if len(self._buffers) < _MOST_BUFFERS:
            self._buffers.append(fresh)
        return fresh


class BatchedEnv(VectorEnv[Any, Any, Any]):
    """Lanes of one puzzle as arrays; a subclass keeps the boards."""

    boards: NDArray[np.int8]
    """Observation of each lane, shape [lanes, ...]."""
    mask: NDArray[np.int8]
    """Which moves are legal in each lane, shape [lanes, moves]."""
    togo: IntArray
    """Distance to go of each lane, -1 if out of reach, shape [lanes]."""
    done: BoolArray
    """Which subgoals hold in each lane, shape [lanes, most subgoals]."""

    def __init__(self, single: PuzzleEnv, num_envs: int, mode: AutoresetMode) -> None:
        """Make the lanes.

        Args:
            single: a single environment of the same arguments.
            num_envs: lanes.
            mode: what happens to a lane whose episode is over.
        """
        self.single = single
        self.num_envs = num_envs
        self.autoreset_mode = mode
        self.metadata = {**single.metadata, "autoreset_mode": mode}
        self.single_observation_space, self.single_action_space = single.observation_space, single.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.moves = single.puzzle.all_moves()
        shape = self.single_observation_space.shape or ()
        self.boards = np.zeros((num_envs, *shape), dtype=np.int8)
        self.mask = np.zeros((num_envs, len(self.moves)), dtype=np.int8)
        self._copies = Copies()
        self.prepared: list[Prepared | None] = [None] * num_envs
        self._generators: list[np.random.Generator | None] = [None] * num_envs
        self.togo, self.distance, self._decisions, self._steps, self._most_decisions, self._most_steps = np.zeros(
            (6, num_envs), dtype=np.int64
        )
        self._subgoals = np.zeros(num_envs, dtype=np.int64)
        self.done = np.zeros((num_envs, self.most_subgoals()), dtype=np.bool_)
        self._paid = self.done.copy()
        self._keys: NDArray[Any] = np.full(num_envs, None, dtype=object)
        self._levels = self._keys.copy()
        self._over = np.zeros(num_envs, dtype=np.bool_)

    # ---------------------------------------------------------------- what a subclass gives

    def most_subgoals(self) -> int:
        """Return the number of columns of `done`."""
        raise NotImplementedError

    def load(self, lane: int, prepared: Prepared) -> None:
        """Set the lane's board, mask and subgoals to the instance's start."""
        raise NotImplementedError

    def move(self, actions: IntArray, active: BoolArray) -> tuple[BoolArray, IntArray]:
        """Carry out the legal ones of the active lanes' actions.

        Returns:
            Which actions were legal, and each move's own subgoal (-1 if none), both of shape [lanes].
        """
        raise NotImplementedError

    def state_hashes(self) -> IntArray:
        """Return what `state_hash` is in each lane of single environments, shape [lanes]."""
        raise NotImplementedError

    # ---------------------------------------------------------------- Gymnasium

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Begin an episode in each lane; see `PuzzleVectorEnv.reset`."""
        from horizon_bench.envs.vector import find_seeds, split_options

        lanes, choices = split_options(options, self.num_envs)
        for lane, (lane_seed, choice) in enumerate(zip(find_seeds(seed, self.num_envs), choices, strict=True)):
            if lanes[lane]:
                if lane_seed is not None or self._generators[lane] is None:
                    self._generators[lane] = np_random(lane_seed)[0]
                self._start(lane, choice)
        self._over[lanes] = False
        infos = self._infos(np.zeros(self.num_envs, dtype=np.bool_), *self._nothing())
        present = {key: value & lanes for key, value in infos.items() if key.startswith("_")}
        return self.boards.copy(), {**infos, **present}

    def step(self, actions: Any) -> tuple[NDArray[np.int8], NDArray[np.float64], BoolArray, BoolArray, dict[str, Any]]:
        """Take one decision in each lane; see `PuzzleVectorEnv.step`.

        Raises:
            ValueError: if the actions are not one index in range for each lane.
            RuntimeError: if a lane's episode is over and lanes are not reset on their own.
        """
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_envs,) or chosen.dtype.kind not in "iu":
            raise ValueError(f"actions have shape {chosen.shape} and type {chosen.dtype}; give one index for each lane")
        if chosen.min() < 0 or chosen.max() >= len(self.moves):
            raise ValueError(f"actions range from {chosen.min()} to {chosen.max()}, must be 0 to {len(self.moves) - 1}")
        if self._over.any() and self.autoreset_mode is AutoresetMode.DISABLED:
            raise RuntimeError("the episode of a lane is over; call reset() with its reset_mask first")
        resetting = self._over.copy()
        for lane in np.flatnonzero(resetting).tolist():
            self._start(lane, {})
        active = ~resetting
        before = self.togo.copy()
        legal, own = self.move(chosen.astype(np.int64, copy=False), active)
        self._decisions += active
        self._steps += legal
        reason = self._reasons(active, legal)
        terminated, truncated = (reason > 0) & (reason < _MAX_DECISIONS), reason >= _MAX_DECISIONS
        new = self.done & ~self._paid
        self._paid |= new
        rewards = self._rewards(active, legal, before, reason, new)
        infos = self._infos(active, legal, own, new, reason)
        self._over = reason > 0
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._over.any():
            infos = self._restart_over(infos)
        return self.boards.copy(), rewards, terminated, truncated, infos

    def _restart_over(self, finals: dict[str, Any]) -> dict[str, Any]:
        """Begin a new episode in each lane that is over; return infos with the final ones inside."""
        over, lanes = self._over.copy(), np.flatnonzero(self._over).tolist()
        observations: NDArray[Any] = np.full(self.num_envs, None, dtype=object)
        for lane in lanes:
            observations[lane] = self.boards[lane].copy()
            self._start(lane, {})
        _, legal, own, new, reason = over, *self._nothing()
        fresh = self._infos(np.zeros_like(over), legal, own, new, reason)
        infos: dict[str, Any] = {}
        for key, value in finals.items():
            wide = over.reshape(-1, *(1,) * (value.ndim - 1))
            infos[key] = np.where(wide, fresh[key], value)
        final_info = {key: value & over if key.startswith("_") else value for key, value in finals.items()}
        self._over = np.zeros_like(over)
        return {
            **infos,
            "final_obs": observations,
            "_final_obs": over,
            "final_info": final_info,
            "_final_info": over.copy(),
        }

    def action_masks(self) -> BoolArray:
        """Return which actions are legal in each lane, shape [lanes, actions]."""
        return self.mask.astype(np.bool_)

    # ---------------------------------------------------------------- parts of a step

    def _start(self, lane: int, options: Mapping[str, Any]) -> None:
        """Begin an episode in one lane, drawing as the single environment draws."""
        single = self.single
        generator = self._generators[lane]
        if generator is None:
            generator = self._generators[lane] = np_random(None)[0]
        prepared = single.choose(options, generator, self.prepared[lane])
        self.prepared[lane] = prepared
        self.load(lane, prepared)
        self.togo[lane] = self.distance[lane] = prepared.distance
        self._decisions[lane] = self._steps[lane] = 0
        self._most_decisions[lane], self._most_steps[lane] = single.game.budgets(prepared)
        truths = prepared.subgoals_done
        self._subgoals[lane] = len(truths)
        self.done[lane] = False
        self.done[lane, : len(truths)] = truths
        self._paid[lane] = self.done[lane]
        self._keys[lane], self._levels[lane] = prepared.key, prepared.level

    def _nothing(self) -> tuple[BoolArray, IntArray, BoolArray, IntArray]:
        """Return what a reset gives in place of a move."""
        none = np.full(self.num_envs, -1, dtype=np.int64)
        return np.ones(self.num_envs, dtype=np.bool_), none, np.zeros_like(self.done), np.zeros_like(none)

    def _reasons(self, active: BoolArray, legal: BoolArray) -> IntArray:
        """Return the number of each lane's end reason."""
        settings = self.single.settings
        reason = np.zeros(self.num_envs, dtype=np.int64)
        reason[active & (self._steps >= self._most_steps)] = _MAX_ATOMIC_STEPS
        reason[active & (self._decisions >= self._most_decisions)] = _MAX_DECISIONS
        if settings.on_error == "dead":
            reason[legal & ~self.mask.any(axis=1)] = _DEAD
        if settings.on_error == "strict":
            reason[active & ~legal] = _ILLEGAL
        if settings.wrong_ends:
            reason[legal & (self.togo < 0)] = _WRONG
        reason[legal & (self.togo == 0)] = _SOLVED
        return reason

    def _rewards(
        self, active: BoolArray, legal: BoolArray, before: IntArray, reason: IntArray, new: BoolArray
    ) -> NDArray[np.float64]:
        """Return each lane's task reward; see `horizon_bench.envs.rewards`."""
        settings = self.single.settings
        rewards: NDArray[np.float64] = np.asarray(reason == _SOLVED, dtype=np.float64)
        if settings.reward == "subgoal":
            rewards += new.sum(axis=1) / np.maximum(self._subgoals, 1)
        elif settings.reward == "step":
            rewards -= active & ~legal
        elif settings.reward == "potential":
            after = np.where((reason > 0) & (reason < _MAX_DECISIONS), 0.0, self._potential(self.togo))
            rewards += settings.gamma * after - self._potential(before)
        rewards[~active] = 0.0
        return rewards

    def _potential(self, togo: IntArray) -> NDArray[np.float64]:
        phi: NDArray[np.float64] = -togo.astype(np.float64) / self.distance
        phi[togo < 0] = DEAD_POTENTIAL
        return phi

    def _uniform(self, count: int, value: bool) -> BoolArray:
        """Return rows of lanes that all hold `value`."""
        return np.full((count, self.num_envs), value, dtype=np.bool_)

    def _infos(
        self, active: BoolArray, legal: BoolArray, own: IntArray, new: BoolArray, reason: IntArray
    ) -> dict[str, Any]:
        """Return fresh infos: an array for each key and beside it the mask of lanes that have it."""
        refused = active & ~legal
        every, no = self._uniform(22, True), self._uniform(1, False)
        zeros = np.zeros((2, self.num_envs), dtype=np.int64)
        reached = np.where(new.any(axis=1), new.argmax(axis=1), -1)
        infos: dict[str, Any] = {
            "decisions": self._decisions.copy(),
            "atomic_steps": self._steps.copy(),
            "tokens": zeros[0],
            "distance": self.distance.copy(),
            "distance_to_go": self.togo.copy(),
            "subgoals_done": self.done.copy(),
            "subgoals_reached": reached,
            "own_subgoal": np.where(active & legal, own, -1),
            "goal": reason == _SOLVED,
            "instance_key": self._keys.copy(),
            "level": self._levels.copy(),
            "format_ok": every[-1],
            "legal": ~refused,
            "void": no[0],
            "actions_written": active.astype(np.int64),
            "illegal_actions": refused.astype(np.int64),
            "failed_actions": zeros[1],
            "step_reward": 0.0 - refused.astype(np.float64),
            "end_reason": REASONS[reason],
            "action_mask": self._copies.copy(self.mask),
        }
        masks = {f"_{key}": row for key, row in zip(infos, every, strict=False)}
        for key in ("distance_to_go", "subgoals_reached", "own_subgoal"):
            masks[f"_{key}"] = infos[key] >= 0
        return {**infos, **masks}
