"""Many lanes at once: `gymnasium.make_vec` for every puzzle and form.

`make_vector` picks the batched, array-based environments for the structured atomic form of Sudoku and Rush Hour, and
lanes of single environments for everything else. All of them give each lane exactly what a single environment with that
lane's seed gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from horizon_bench.envs.puzzle_env import PuzzleEnv
from puzzles.names import check_name

_OBJECTS = frozenset(
    (
        "distance_to_go",
        "subgoals_done",
        "subgoals_reached",
        "own_subgoal",
        "instance_key",
        "level",
        "moves",
        "end_reason",
    )
)
"""Info entries that differ in length or kind between lanes."""


def make_vector(num_envs: int = 1, autoreset_mode: str | AutoresetMode = "NextStep", **arguments: Any) -> Any:
    """Return a vector environment.

    Args:
        num_envs: lanes.
        autoreset_mode: `NextStep`, `SameStep` or `Disabled`.
        arguments: those of `PuzzleEnv`.

    Raises:
        ValueError: if a name or number is unknown.
    """
    from horizon_bench.envs.batched import batched_class

    mode = find_mode(autoreset_mode)
    if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
        raise ValueError(f"num_envs is {num_envs!r}, must be a whole number of at least 1")
    single = PuzzleEnv(**arguments)
    batched = batched_class(single)
    if batched is not None:
        return batched(single, num_envs, mode)
    return PuzzleVectorEnv([single, *(PuzzleEnv(**arguments) for _ in range(num_envs - 1))], mode)


def find_mode(name: str | AutoresetMode) -> AutoresetMode:
    """Return the autoreset mode called `name`.

    Raises:
        ValueError: if there is no such mode.
    """
    if isinstance(name, AutoresetMode):
        return name
    return AutoresetMode(check_name("autoreset_mode", name, [mode.value for mode in AutoresetMode]))


def lane_seeds(seed: int, lanes: int) -> list[int]:
    """Return an independent seed for each lane.

    Args:
        seed: the seed of the whole.
        lanes: how many.

    Returns:
        Seeds that no other seed shares shifted, as `seed + lane` would.
    """
    return [
        int(child.generate_state(2, np.uint32).view(np.uint64)[0])
        for child in np.random.SeedSequence(seed).spawn(lanes)
    ]


def split_options(options: Mapping[str, Any] | None, lanes: int) -> tuple[NDArray[np.bool_], list[dict[str, Any]]]:
    """Return which lanes to reset and each lane's options.

    Args:
        options: those of `PuzzleEnv.reset`, `instances` (one for each lane) or `reset_mask` (true where to reset).
        lanes: number of lanes.

    Raises:
        ValueError: if `instances` or `reset_mask` have the wrong length.
    """
    shared = dict(options or {})
    mask = np.asarray(shared.pop("reset_mask", np.ones(lanes, dtype=np.bool_)))
    if mask.shape != (lanes,) or mask.dtype != np.bool_:
        raise ValueError(f"reset_mask has shape {mask.shape} and type {mask.dtype}, must be ({lanes},) and bool")
    instances = shared.pop("instances", None)
    if instances is None:
        return mask, [shared] * lanes
    if len(instances) != lanes:
        raise ValueError(f"options['instances'] has {len(instances)} entries for {lanes} lanes; give one for each")
    return mask, [{**shared, "instance": instance} for instance in instances]


def find_seeds(seed: int | Sequence[int | None] | None, lanes: int) -> list[int | None]:
    """Return one seed for each lane: given ones, or ones that spring from a single seed.

    Raises:
        ValueError: if the number of given seeds is wrong.
    """
    if seed is None:
        return [None] * lanes
    if isinstance(seed, (int, np.integer)):
        return list(lane_seeds(int(seed), lanes))
    seeds = list(seed)
    if len(seeds) != lanes:
        raise ValueError(f"{len(seeds)} seeds for {lanes} lanes; give one for each, or a single number")
    return seeds


class PuzzleVectorEnv(VectorEnv[Any, Any, Any]):
    """Lanes of single environments, any puzzle and form."""

    def __init__(self, envs: Sequence[PuzzleEnv], mode: AutoresetMode) -> None:
        """Hold the lanes.

        Args:
            envs: one environment for each lane, all of the same arguments.
            mode: what happens to a lane whose episode is over.
        """
        self.envs = list(envs)
        self.num_envs = len(self.envs)
        self.metadata = {**self.envs[0].metadata, "autoreset_mode": mode}
        self.autoreset_mode = mode
        self.render_mode = self.envs[0].render_mode
        self.single_observation_space = self.envs[0].observation_space
        self.single_action_space = self.envs[0].action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._arrays = isinstance(self.single_observation_space, gymnasium.spaces.Box)
        self._over: NDArray[np.bool_] = np.zeros(self.num_envs, dtype=np.bool_)
        self._observations: list[Any] = [None] * self.num_envs

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in each lane.

        Args:
            seed: one number, from which each lane's seed springs (`lane_seeds`), or a seed for each lane.
            options: those of `PuzzleEnv.reset`, `instances` (one for each lane), `reset_mask`.
        """
        mask, choices = split_options(options, self.num_envs)
        seeds = find_seeds(seed, self.num_envs)
        infos: list[dict[str, Any] | None] = [None] * self.num_envs
        for lane in np.flatnonzero(mask).tolist():
            self._observations[lane], infos[lane] = self.envs[lane].reset(seed=seeds[lane], options=choices[lane])
        self._over[mask] = False
        return self._batch(self._observations), batch_infos(infos)

    def step(
        self, actions: Any
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Take one decision in each lane; a lane whose episode is over begins a new one, as the mode says.

        Raises:
            ValueError: if the number of actions is not that of lanes.
        """
        if len(actions) != self.num_envs:
            raise ValueError(f"{len(actions)} actions for {self.num_envs} lanes; give one for each")
        rewards = np.zeros(self.num_envs)
        ended = np.zeros((2, self.num_envs), dtype=np.bool_)
        infos: list[dict[str, Any] | None] = [None] * self.num_envs
        finals: list[tuple[Any, dict[str, Any]] | None] = [None] * self.num_envs
        for lane, (env, action) in enumerate(zip(self.envs, actions, strict=True)):
            if self._over[lane] and self.autoreset_mode is AutoresetMode.NEXT_STEP:
                self._observations[lane], infos[lane] = env.reset()
                continue
            observation, rewards[lane], ended[0, lane], ended[1, lane], info = env.step(action)
            if self.autoreset_mode is AutoresetMode.SAME_STEP and ended[:, lane].any():
                finals[lane] = (observation, info)
                observation, info = env.reset()
            self._observations[lane], infos[lane] = observation, info
        self._over = np.asarray(ended.any(axis=0))
        together = batch_infos(infos)
        add_finals(together, finals)
        return self._batch(self._observations), rewards, ended[0], ended[1], together

    def _batch(self, observations: list[Any]) -> Any:
        return np.stack(observations) if self._arrays else tuple(observations)

    def render(self) -> tuple[Any, ...]:
        """Return each lane's picture or text."""
        return tuple(env.render() for env in self.envs)

    def close_extras(self, **arguments: Any) -> None:
        """Close each lane."""
        for env in self.envs:
            env.close()

    def count_tokens(self, tokens: Sequence[int]) -> None:
        """Say how many tokens each lane's next reply cost."""
        for env, count in zip(self.envs, tokens, strict=True):
            env.count_tokens(count)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of each lane."""
        return tuple(getattr(env, name) for env in self.envs)

    def call(self, name: str, *arguments: Any, **options: Any) -> tuple[Any, ...]:
        """Return what a method gives in each lane, or the attribute of that name."""
        found = self.get_attr(name)
        return tuple(each(*arguments, **options) if callable(each) else each for each in found)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which structured actions are legal in each lane, shape [lanes, actions]."""
        return np.stack([env.action_masks() for env in self.envs])

    def get_state(self) -> tuple[Any, ...]:
        """Return a snapshot of each lane."""
        return tuple(env.get_state() for env in self.envs)

    def set_state(self, snapshots: Sequence[Any]) -> tuple[Any, dict[str, Any]]:
        """Go on from a snapshot in each lane; returns observations and infos as `reset` does."""
        infos: list[dict[str, Any] | None] = [None] * self.num_envs
        for lane, (env, snapshot) in enumerate(zip(self.envs, snapshots, strict=True)):
            self._observations[lane], infos[lane] = env.set_state(snapshot)
        self._over[:] = [bool(snapshot.end_reason) for snapshot in snapshots]
        return self._batch(self._observations), batch_infos(infos)


def batch_infos(infos: Sequence[dict[str, Any] | None]) -> dict[str, Any]:
    """Return Gymnasium's form of infos: an array for each key, and beside it `_key`, true where a lane has it."""
    present = np.array([info is not None for info in infos])
    together: dict[str, Any] = {}
    given = [info for info in infos if info is not None]
    if not given:
        return together
    for key, first in given[0].items():
        if key in _OBJECTS or isinstance(first, tuple):
            column: NDArray[Any] = np.full(len(infos), None, dtype=object)
            for lane, info in enumerate(infos):
                if info is not None:
                    column[lane] = info[key]
        else:
            blank = np.zeros_like(np.asarray(first))
            column = np.stack([blank if info is None else np.asarray(info[key]) for info in infos])
        together[key], together[f"_{key}"] = column, present.copy()
    return together


def add_finals(together: dict[str, Any], finals: Sequence[tuple[Any, dict[str, Any]] | None]) -> None:
    """Add `final_obs` and `final_info` of the lanes whose episode ended in this step."""
    if not any(finals):
        return
    observations: NDArray[Any] = np.full(len(finals), None, dtype=object)
    for lane, final in enumerate(finals):
        if final is not None:
            observations[lane] = final[0]
    present = np.array([final is not None for final in finals])
    together["final_obs"], together["_final_obs"] = observations, present
    together["final_info"] = batch_infos([None if final is None else final[1] for final in finals])
    together["_final_info"] = present.copy()
