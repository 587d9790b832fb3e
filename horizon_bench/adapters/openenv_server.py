"""An OpenEnv server: one puzzle episode a session, over HTTP and WebSocket.

`python -m horizon_bench.adapters.openenv_server --level L3 --interface macro` serves it; `make_app` gives the
application to a server of your own.
"""

from __future__ import annotations

import argparse
from typing import Any
from uuid import uuid4

import numpy as np

from curricula import load_bank
from horizon_bench.envs.settings import Settings
from horizon_bench.extras import install
from horizon_bench.training.environments import Episode, Start

try:
    from openenv.core.env_server.http_server import create_fastapi_app
    from openenv.core.env_server.interfaces import Environment
    from openenv.core.env_server.types import Action, Observation, State
except ImportError as error:
    raise ImportError(f"this server needs openenv: {install('openenv')}") from error


class PuzzleAction(Action):
    """One reply of the policy."""

    reply: str
    """What the policy wrote."""


class PuzzleObservation(Observation):
    """What the policy sees next."""

    prompt: str = ""
    """The whole prompt; empty at the end."""
    solved: bool = False
    format_ok: bool = True
    """The reply followed the grammar."""
    legal: bool = True
    """Every action that was tried was legal."""
    distance_to_go: int | None = None
    """Goal distance in atomic actions; None if out of reach."""
    end_reason: str = ""


class PuzzleEnvironment(Environment):
    """Episodes on the puzzles of a level, drawn by the seed of `reset`."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, level: str = "T1", split: str = "train", settings: Settings | None = None) -> None:
        """Fix puzzles and rules.

        Args:
            level: level of the bank.
            split: part of the bank.
            settings: the environment's settings, `observation="text"`.
        """
        super().__init__()
        self._instances = load_bank(level, split)
        self._settings = settings or Settings()
        self._episode: Episode | None = None
        self._state = State(episode_id=str(uuid4()), step_count=0)

    def reset(self, seed: int | None = None, episode_id: str | None = None, **options: Any) -> PuzzleObservation:
        """Begin an episode.

        Args:
            seed: draws the puzzle.
            episode_id: name of the episode.
            options: `puzzle`, `size` and `start` to play a start of one's own.
        """
        index = int(np.random.default_rng(seed).integers(len(self._instances)))
        chosen: Any = self._instances[index]
        if "start" in options:
            chosen = Start(options.get("puzzle", chosen.puzzle), options.get("size", chosen.size), options["start"])
        self._episode = Episode(chosen, self._settings, seed or 0)
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        return _observation(self._episode, None)

    def step(self, action: PuzzleAction, timeout_s: float | None = None, **options: Any) -> PuzzleObservation:
        """Take one decision."""
        episode = self._episode
        if episode is None:
            raise RuntimeError("there is no episode yet; call reset first")
        before = episode.reward
        episode.act(action.reply)
        self._state.step_count += 1
        return _observation(episode, episode.reward - before)

    @property
    def state(self) -> State:
        """Name of the episode and number of decisions."""
        return self._state


def _observation(episode: Episode, reward: float | None) -> PuzzleObservation:
    info, togo = episode.info, episode.info["distance_to_go"]
    return PuzzleObservation(
        prompt="" if episode.over else str(episode.observation),
        done=episode.over,
        reward=reward,
        solved=episode.solved,
        format_ok=info["format_ok"],
        legal=info["legal"],
        distance_to_go=None if togo is None else int(togo),
        end_reason=info["end_reason"],
    )


def make_app(level: str = "T1", split: str = "train", settings: Settings | None = None) -> Any:
    """Return the FastAPI application that serves episodes on the puzzles of a level."""
    return create_fastapi_app(lambda: PuzzleEnvironment(level, split, settings), PuzzleAction, PuzzleObservation)


def main() -> None:
    """Serve from the command line."""
    import uvicorn

    parser = argparse.ArgumentParser(description="Serve puzzles as an OpenEnv environment.")
    parser.add_argument("--level", default="T1", help="level of the bank")
    parser.add_argument("--split", default="train", help="part of the bank")
    parser.add_argument("--interface", default="atomic", help="how a reply maps to moves")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on")
    chosen = parser.parse_args()
    app = make_app(chosen.level, chosen.split, Settings(interface=chosen.interface))
    uvicorn.run(app, host=chosen.host, port=chosen.port)


if __name__ == "__main__":
    main()
