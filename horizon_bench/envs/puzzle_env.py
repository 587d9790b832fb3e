"""The Gymnasium environment: any puzzle, one instance an episode, as prompt, tokens or arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from horizon_bench.envs.core import Game
from horizon_bench.envs.decisions import Decision, Snapshot
from horizon_bench.envs.forms import make_form
from horizon_bench.envs.instances import Prepared, PuzzleName, workshop
from horizon_bench.envs.rendering import RENDER_MODES, draw, show
from horizon_bench.envs.settings import Settings
from horizon_bench.envs.sources import find_source
from puzzles.base import Puzzle
from puzzles.names import check_name
from solvers.base import Oracle

SETTINGS = tuple(field.name for field in fields(Settings))
"""Arguments that go into `Settings`."""

ARGUMENTS = ("puzzle", "level", "split", "bank", "size", "instance", "subgoals", "render_mode", *SETTINGS)
"""Every argument of an environment."""

_OPTIONS = ("instance", "same_instance")


class Distance(int):
    """A goal distance, or an index, in an info dict.

    Gymnasium's vector environments put plain integers into integer arrays, which cannot hold the None that another
    lane may have in the same place; they keep other types as objects.
    """

    __slots__ = ()


class PuzzleEnv(gymnasium.Env[Any, Any]):
    """One puzzle as a Gymnasium environment.

    An action is one decision: the policy's reply as text, or in the structured form (`observation="array"`) the index
    of a move. An unreadable or illegal reply never raises; it costs the decision and comes back as feedback.

    >>> import gymnasium
    >>> env = gymnasium.make("horizon_bench:horizon_bench/Sudoku-v0", instance="1234341221434.2.", interface="macro")
    >>> observation, info = env.reset(seed=0)
    >>> info["distance_to_go"]
    2
    >>> observation, reward, terminated, truncated, info = env.step("value(3, r4c2) value(1, r4c4)")
    >>> reward, terminated, info["atomic_steps"], info["end_reason"]
    (1.0, True, 2, 'solved')
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012

    def __init__(
        self,
        puzzle: PuzzleName = "sudoku",
        level: str | None = None,
        split: str = "train",
        bank: str | Path | None = None,
        size: int | None = None,
        instance: str | None = None,
        subgoals: str | None = None,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        """Fix puzzle, instances and rules.

        Args:
            puzzle: name of a puzzle, an import string `package.module:ClassName`, or a class.
            level: name of a level; by default the puzzle's first.
            split: `train`, `validation` or `test`.
            bank: path of a bank file; by default the level's own.
            size: rows of the board; by default the level's.
            instance: text of the only start, instead of a level.
            subgoals: kind of subgoals, where the puzzle's oracle has several: for Rush Hour `distance` (thresholds of
                the distance to go, the default) or `blockers` (each cleared for good).
            render_mode: `ansi`, `rgb_array`, `human` or None.
            settings: fields of `Settings`: interface, reward, observation, error rules, budgets.

        Raises:
            ValueError: naming an unknown name or a value out of range, with the nearest match.
        """
        for name in settings:
            check_name("argument", name, ARGUMENTS)
        if render_mode is not None:
            check_name("render_mode", render_mode, RENDER_MODES)
        self.render_mode = render_mode
        chosen = Settings(**settings)
        source = find_source(puzzle, level, split, bank, size, instance)
        self.instances = source.instances
        self.workshop = workshop(puzzle, source.size, chosen.on_error in ("dead", "stay"), subgoals)
        first = self.instances[0]
        if len(self.instances) == 1:
            self.workshop.prepare(first)
        self.game = Game(self.workshop, chosen, first if isinstance(first, str) else first.start)
        self._set_form()

    def _set_form(self) -> None:
        self._form = make_form(self.game)
        self.observation_space = self._form.observation_space
        self.action_space = self._form.action_space

    # ---------------------------------------------------------------- Gymnasium

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: seeds the draw of the instance and of failing actions.
            options: `instance`, a start's text or a bank's record; or `same_instance`, true to repeat the last one.

        Raises:
            ValueError: if an option is unknown or the instance cannot be played.
        """
        super().reset(seed=seed)
        self.game.start(self.choose(options or {}, self.np_random, self.game.prepared), self.np_random)
        if self.render_mode == "human":
            self.render()
        return self._form.observe(), self._info(None)

    def choose(self, options: Mapping[str, Any], generator: np.random.Generator, last: Prepared | None) -> Prepared:
        """Return the instance of the next episode.

        Args:
            options: those of `reset`.
            generator: draws the instance, where there is a choice.
            last: the instance before.
        """
        if not isinstance(options, Mapping):
            raise ValueError(f"options are {options!r}, must be a dict with any of {', '.join(_OPTIONS)}")
        for name in options:
            check_name("reset option", name, _OPTIONS)
        given, again = options.get("instance"), options.get("same_instance", False)
        if not isinstance(again, (bool, np.bool_)):
            raise ValueError(f"same_instance is {again!r}, must be True or False")
        if given is not None and again:
            raise ValueError("options give an instance and ask for the same instance as well; give one of them")
        if given is not None:
            return self.workshop.prepare(given)
        if again and last is not None:
            return last
        count = len(self.instances)
        return self.workshop.prepare(self.instances[int(generator.integers(count)) if count > 1 else 0])

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one decision.

        Args:
            action: the reply, or the index of a move (indices of moves) in the structured form.

        Raises:
            RuntimeError: if the episode is over.
            ValueError: if the action is neither text nor, in the structured form, an index in range.
        """
        decision = self._form.play(action)
        game = self.game
        if self.render_mode == "human":
            self.render()
        return self._form.observe(), decision.reward, game.terminated, game.truncated, self._info(decision)

    def close(self) -> None:
        """End what runs behind the puzzle; another environment of the same puzzle starts it again when it plays on."""
        self.puzzle.close()
        super().close()

    def render(self) -> Any:
        """Return the board as text (`ansi`) or picture (`rgb_array`), or show it (`human`).

        Raises:
            RuntimeError: before the first reset.
        """
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs a render_mode; give render_mode='ansi', 'rgb_array' or 'human'")
            return None
        start = self.start
        if self.render_mode == "rgb_array":
            return draw(self.puzzle, start, self.state, self.game.last_move)
        text = show(self.puzzle, self.state, self.game.last_move)
        if self.render_mode == "ansi":
            return text
        print(text, end="\n\n")
        return None

    # ---------------------------------------------------------------- what rollouts and experts use

    @property
    def puzzle(self) -> Puzzle[Any, Any]:
        """The rules in force."""
        return self.game.puzzle

    @property
    def oracle(self) -> Oracle[Any, Any]:
        """Exact knowledge about the instance."""
        return self.game.oracle

    @property
    def state(self) -> Any:
        """The state the next decision acts on."""
        return self.game.state

    @property
    def start(self) -> Any:
        """The start of the episode."""
        return self.instance.start

    @property
    def instance(self) -> Prepared:
        """The instance of the episode.

        Raises:
            RuntimeError: before the first reset.
        """
        if self.game.prepared is None:
            raise RuntimeError("there is no episode yet; call reset() first")
        return self.game.prepared

    @property
    def settings(self) -> Settings:
        """The rules of reading, judging and rewarding."""
        return self.game.settings

    def use_interface(self, interface: str) -> None:
        """Change the interface at once, budgets included; an episode that runs goes on.

        Raises:
            ValueError: if there is no such interface.
        """
        self.game.configure(replace(self.settings, interface=interface))
        self._set_form()

    def count_tokens(self, tokens: int) -> None:
        """Say how many tokens the next reply cost; without this its blank-separated words are counted."""
        self.game.count_tokens(tokens)

    def get_state(self) -> Snapshot:
        """Return a snapshot from which an episode goes on exactly, the generator included."""
        return self.game.snapshot()

    def set_state(self, snapshot: Snapshot, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        """Go on from a snapshot.

        Args:
            snapshot: what `get_state` returned, here or in another environment of the same arguments.
            seed: a fresh generator for what follows, instead of the snapshot's.

        Returns:
            Observation and info of the restored state, as `reset` returns them.
        """
        if self._np_random is None:
            super().reset(seed=0)
        self.game.generator = self.np_random
        self.game.restore(snapshot)
        if seed is not None:
            super().reset(seed=seed)
            self.game.generator = self.np_random
        return self._form.observe(), self._info(None)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions of the structured form are legal now, as masked PPO implementations ask for it."""
        return self._form.masks()

    def _info(self, decision: Decision | None) -> dict[str, Any]:
        """Return a fresh info dict."""
        game = self.game
        togo, instance = game.distance_to_go, self.instance
        own = None if decision is None else decision.own_subgoal
        written = () if decision is None else decision.written
        info: dict[str, Any] = {
            "decisions": game.decisions,
            "atomic_steps": game.atomic_steps,
            "tokens": game.tokens,
            "distance": instance.distance,
            "distance_to_go": None if togo is None else Distance(togo),
            "subgoals_done": game.subgoals_done,
            "subgoals_reached": () if decision is None else tuple(decision.subgoals_reached),
            "own_subgoal": None if own is None else Distance(own),
            "goal": game.end_reason == "solved",
            "state_hash": game.state_hash(),
            "instance_key": instance.key,
            "level": instance.level,
            "format_ok": decision is None or decision.format_ok,
            "legal": decision is None or decision.legal,
            "void": decision is not None and decision.void,
            "actions_written": len(written),
            "moves": () if decision is None else tuple([self.workshop.write(move) for move in decision.carried]),
            "illegal_actions": 0 if decision is None else len(decision.refused),
            "failed_actions": 0 if decision is None else decision.failed,
            "step_reward": 0.0 if decision is None else decision.step_reward,
            "end_reason": game.end_reason,
        }
        self._form.add_to(info)
        return info
