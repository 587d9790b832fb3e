"""What batched environments share: lanes as arrays, budgets, rewards, infos and autoreset.

A batched environment gives each lane what a single one with the same seed gives: observation, reward, ends and the info
entries it carries. In its infos `distance_to_go`, `own_subgoal` and `subgoals_reached` are -1, their `_` masks false,
where a single environment has none; `subgoals_done` has one column for each subgoal, further columns are false. The
entries `moves` and `state_hash`, which cost more than the step itself, are left to `state_hashes()`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from sys import getrefcount
from typing import Any

import numpy as np
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from horizon_bench.envs.batched_settling import REASONS, REWARD_NUMBERS, Settled, blank_settled, rows_apart, settle
from horizon_bench.envs.core import hash_text
from horizon_bench.envs.instances import Prepared
from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.envs.vector import find_seeds, split_options

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

_MOST_BUFFERS, _MOST_OPENED = 4, 4096


def batched_class(env: PuzzleEnv) -> Callable[..., Any] | None:
    """Return the batched class that gives what lanes of `env` would give, or None if there is none."""
    settings, name = env.settings, env.puzzle.name
    if settings.observation != "array" or settings.interface != "atomic" or settings.failure_probability:
        return None
    if settings.thought == "checked" or settings.max_tokens is not None or env.render_mode is not None:
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
        self._buffers: list[NDArray[np.int8]] = [np.zeros(0, dtype=np.int8)]
        # How many references the interpreter counts to a buffer that only the list and the loop hold.
        self._unused = next(self._references())[1]
        self._buffers.clear()

    def _references(self) -> Iterator[tuple[NDArray[np.int8], int]]:
        """Yield each buffer and the references to it."""
        for buffer in self._buffers:
            yield buffer, getrefcount(buffer)

    def copy(self, array: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return a copy that shares memory with no array in use."""
        for buffer, references in self._references():
            if references == self._unused:
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
    changed: BoolArray
    """Whether the last move may have changed the lane's `done`, shape [lanes]."""

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
        self._present: tuple[str, ...] = ()
        self._opened: dict[str, tuple[Any, ...]] = {}
        self.prepared: list[Prepared | None] = [None] * num_envs
        self._generators: list[np.random.Generator | None] = [None] * num_envs
        numbers = rows_apart(7, num_envs, np.int64)
        numbers[:] = 0
        (
            self.togo,
            self.distance,
            self._decisions,
            self._steps,
            self._most_decisions,
            self._most_steps,
            self._subgoals,
        ) = numbers
        self.done = np.zeros((num_envs, self.most_subgoals()), dtype=np.bool_)
        self._paid = self.done.copy()
        self._keys: NDArray[Any] = np.full(num_envs, None, dtype=object)
        self._levels = self._keys.copy()
        self._over, self.changed = np.zeros((2, num_envs), dtype=np.bool_)

    # ---------------------------------------------------------------- what a subclass gives

    def most_subgoals(self) -> int:
        """Return the number of columns of `done`."""
        raise NotImplementedError

    def open_start(self, prepared: Prepared) -> tuple[Any, ...]:
        """Return what `load` sets a lane to at an instance's start; kept for the next lane with that start."""
        raise NotImplementedError

    def load(self, lane: int, opened: tuple[Any, ...]) -> None:
        """Set the lane's board and mask to a start."""
        raise NotImplementedError

    def move(self, actions: IntArray, active: BoolArray) -> tuple[BoolArray, IntArray]:
        """Carry out the legal ones of the active lanes' actions; bring `togo`, `done` and `changed` up to date.

        Returns:
            Which actions were legal, and each move's own subgoal (-1 if none), both of shape [lanes].
        """
        raise NotImplementedError

    def texts(self) -> Iterable[str]:
        """Return each lane's state as the puzzle writes it."""
        raise NotImplementedError

    # ---------------------------------------------------------------- Gymnasium

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Begin an episode in each lane; see `PuzzleVectorEnv.reset`."""
        lanes, choices = split_options(options, self.num_envs)
        for lane, (lane_seed, choice) in enumerate(zip(find_seeds(seed, self.num_envs), choices, strict=True)):
            if lanes[lane]:
                if lane_seed is not None or self._generators[lane] is None:
                    self._generators[lane] = np_random(lane_seed)[0]
                self._start(lane, choice)
        self._over[lanes] = False
        infos = self._infos(self._settle_nothing())
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
        settled = self._settle(active, legal, own, before)
        infos = self._infos(settled)
        self._over = settled.reason > 0
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._over.any():
            infos = self._restart_over(infos)
        return self.boards.copy(), settled.rewards, settled.terminated, settled.truncated, infos

    def _restart_over(self, finals: dict[str, Any]) -> dict[str, Any]:
        """Begin a new episode in each lane that is over; return infos with the final ones inside."""
        over, lanes = self._over.copy(), np.flatnonzero(self._over).tolist()
        observations: NDArray[Any] = np.full(self.num_envs, None, dtype=object)
        for lane in lanes:
            observations[lane] = self.boards[lane].copy()
            self._start(lane, {})
        fresh = self._infos(self._settle_nothing())
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

    def state_hashes(self) -> IntArray:
        """Return what `state_hash` is in each lane of single environments, shape [lanes]."""
        return np.array([hash_text(text) for text in self.texts()], dtype=np.int64)

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
        if prepared.text not in self._opened:
            if len(self._opened) > _MOST_OPENED:
                self._opened.clear()
            self._opened[prepared.text] = self.open_start(prepared)
        self.load(lane, self._opened[prepared.text])
        self.togo[lane] = self.distance[lane] = prepared.distance
        self._decisions[lane] = self._steps[lane] = 0
        self._most_decisions[lane], self._most_steps[lane] = single.game.budgets(prepared)
        truths = prepared.subgoals_done
        self._subgoals[lane] = len(truths)
        self.done[lane] = False
        self.done[lane, : len(truths)] = truths
        self._paid[lane] = self.done[lane]
        self._keys[lane], self._levels[lane] = prepared.key, prepared.level

    def _settle(self, active: BoolArray, legal: BoolArray, own: IntArray, before: IntArray) -> Settled:
        """Return what the step came to; counters and paid subgoals are brought up to date."""
        settings, settled = self.single.settings, blank_settled(self.num_envs)
        settle(
            settled,
            active,
            legal,
            own,
            before,
            self.togo,
            self.distance,
            self._decisions,
            self._steps,
            self._most_decisions,
            self._most_steps,
            self.done,
            self.changed,
            self._paid,
            self._subgoals,
            self.mask,
            settings.on_error == "strict",
            settings.wrong_ends,
            settings.on_error == "dead",
            REWARD_NUMBERS[settings.reward],
            settings.gamma,
        )
        return settled

    def _settle_nothing(self) -> Settled:
        """Return what a reset comes to: no lane moved."""
        none, nowhere = np.zeros(self.num_envs, dtype=np.bool_), np.full(self.num_envs, -1, dtype=np.int64)
        return self._settle(none, none, nowhere, self.togo)

    def _infos(self, settled: Settled) -> dict[str, Any]:
        """Return fresh infos: an array for each key and beside it the mask of lanes that have it."""
        infos: dict[str, Any] = {
            "decisions": settled.decisions,
            "atomic_steps": settled.steps,
            "tokens": settled.nothing,
            "distance": settled.distance,
            "distance_to_go": settled.togo,
            "subgoals_done": self.done.copy(),
            "subgoals_reached": settled.reached,
            "own_subgoal": settled.own,
            "goal": settled.goal,
            "instance_key": self._keys.copy(),
            "level": self._levels.copy(),
            "format_ok": np.ones(self.num_envs, dtype=np.bool_),
            "legal": settled.legal,
            "void": np.zeros(self.num_envs, dtype=np.bool_),
            "actions_written": settled.written,
            "illegal_actions": settled.refused,
            "failed_actions": settled.zeros,
            "step_reward": settled.step_rewards,
            "end_reason": REASONS[settled.reason],
            "action_mask": self._copies.copy(self.mask),
        }
        if not self._present:
            self._present = tuple(f"_{key}" for key in infos)
        infos.update(zip(self._present, np.ones((len(infos), self.num_envs), dtype=np.bool_), strict=True))
        infos["_distance_to_go"] = settled.reachable
        infos["_subgoals_reached"] = settled.has_reached
        infos["_own_subgoal"] = settled.has_own
        return infos
