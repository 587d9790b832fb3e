"""The three forms of an environment: prompt, tokens, arrays. Each gives the game spaces and views."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import lru_cache
from typing import Any, Protocol

import gymnasium
import numpy as np
from numpy.typing import NDArray

from horizon_bench.envs import prompts
from horizon_bench.envs.core import Game
from horizon_bench.envs.decisions import Decision


class Form(Protocol):
    """How an environment shows the game and takes decisions."""

    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]

    def observe(self) -> Any:
        """Return a fresh observation."""

    def play(self, action: Any) -> Decision:
        """Take one decision."""

    def masks(self) -> NDArray[np.bool_]:
        """Return which structured actions are legal."""

    def add_to(self, info: dict[str, Any]) -> None:
        """Add what only this form tells."""


def make_form(game: Game) -> Form:
    """Return the form that the game's settings ask for."""
    forms: dict[str, Callable[[Game], Form]] = {"text": TextForm, "compact": CompactForm, "array": ArrayForm}
    return forms[game.settings.observation](game)


@lru_cache(maxsize=4)
def _text_space(longest: int, shortest: int) -> gymnasium.spaces.Text:
    """Return a space to copy: making one costs more than a short episode. Copies have generators of their own."""
    return gymnasium.spaces.Text(longest, min_length=shortest, charset=prompts.CHARACTERS)


class TextForm:
    """Prompt in, reply out."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self.observation_space: gymnasium.Space[Any] = copy(_text_space(prompts.LONGEST_PROMPT, 1))
        self.action_space: gymnasium.Space[Any] = copy(_text_space(prompts.LONGEST_REPLY, 0))
        self._head = prompts.opening(game.puzzle, game.interface.instruction(), game.settings.thought)

    def observe(self) -> str:
        """Return the prompt."""
        game = self._game
        board = game.puzzle.render(game.state)
        return prompts.prompt(self._head, board, game.memory, game.feedback, game.pending)

    def play(self, action: Any) -> Decision:
        """Take the decision that a reply stands for.

        Raises:
            ValueError: if the action is no text.
        """
        if not isinstance(action, str):
            raise ValueError(f"the action is {action!r}, must be the reply as text (observation='array' takes numbers)")
        return self._game.play(action)

    def masks(self) -> NDArray[np.bool_]:
        """Refuse: replies cannot be listed.

        Raises:
            ValueError: always.
        """
        raise ValueError(
            "action masks exist in the structured form only; make the environment with observation='array'"
        )

    def add_to(self, info: dict[str, Any]) -> None:
        """Add nothing."""


class CompactForm(TextForm):
    """Board, feedback and mode as blank-separated tokens of fixed number."""

    def observe(self) -> str:  # noqa: D102
        game = self._game
        mode = game.interface.mode_token if game.pending is None else "".join(game.pending.split())
        return f"{' '.join(game.puzzle.compact(game.state))} {game.feedback_token} {mode}"


class ArrayForm:
    """Arrays in, indices of moves out."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._moves = game.puzzle.all_moves()
        if not self._moves:
            raise ValueError(
                f"puzzle {game.puzzle.name!r} lists no all_moves(), so no array form; use observation='text'"
            )
        self._index = {move: index for index, move in enumerate(self._moves)}
        interface, count = game.interface, len(self._moves)
        self._length = interface.fixed or interface.most_carried or 1
        self._stops = interface.most_carried is not None
        choices = count + self._stops
        self.action_space: gymnasium.Space[Any] = (
            gymnasium.spaces.Discrete(count)
            if interface.single
            else gymnasium.spaces.MultiDiscrete([choices] * self._length)
        )
        shape = game.puzzle.encode(game.puzzle.parse(game.sample)).shape
        self.observation_space: gymnasium.Space[Any] = gymnasium.spaces.Box(0, game.puzzle.array_high(), shape, np.int8)

    def observe(self) -> NDArray[np.int8]:
        """Return the state as an array."""
        return self._game.puzzle.encode(self._game.state)

    def play(self, action: Any) -> Decision:
        """Take the decision that indices of moves stand for.

        Raises:
            ValueError: if an index is out of range.
        """
        space = self.action_space
        if not (space.contains(action) or (isinstance(action, (int, np.integer)) and space.contains(int(action)))):
            raise ValueError(f"action {action!r} is not in {space}")
        moves = []
        for index in np.atleast_1d(np.asarray(action)).tolist():
            if index == len(self._moves):
                break
            moves.append(self._moves[index])
        return self._game.play_moves(tuple(moves))

    def masks(self) -> NDArray[np.bool_]:
        """Return which moves are legal now, one part for each action; only the first part knows its state."""
        return np.concatenate([part.astype(np.bool_) for part in self._parts()])

    def _parts(self) -> list[NDArray[np.int8]]:
        choices = len(self._moves) + self._stops
        first = np.zeros(choices, dtype=np.int8)
        first[[self._index[move] for move in self._game.puzzle.moves(self._game.state)]] = 1
        return [first, *(np.ones(choices, dtype=np.int8) for _ in range(self._length - 1))]

    def add_to(self, info: dict[str, Any]) -> None:
        """Add `action_mask`, as the action space's `sample` takes it."""
        parts = self._parts()
        info["action_mask"] = parts[0] if self._game.interface.single else tuple(parts)
