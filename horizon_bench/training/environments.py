"""The puzzles as environments of other trainers: TRL's `environment_factory`, with the prompts and rules of this suite.

Torch-free. An environment here plays one episode; the model calls `act` as a tool, once for each decision.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.envs.settings import Settings
from horizon_bench.rollout import Playable


@dataclass(frozen=True)
class Start:
    """An instance as a data set's row holds it."""

    puzzle: str
    size: int | None
    start: str


class Episode:
    """One episode in the making, for trainers that call one decision after another."""

    def __init__(self, instance: Playable | Start, settings: Settings, seed: int = 0) -> None:
        """Begin an episode.

        Args:
            instance: the start.
            settings: the environment's settings, `observation="text"`.
            seed: of failing actions.
        """
        self.env = PuzzleEnv(
            puzzle=instance.puzzle, size=instance.size or None, instance=instance.start, **asdict(settings)
        )
        self.observation, self.info = self.env.reset(seed=seed)
        self.over, self.reward = False, 0.0

    @property
    def solved(self) -> bool:
        """Whether the goal is reached."""
        return bool(self.info["goal"])

    def act(self, reply: str) -> str:
        """Take one decision and return what the policy sees next; after the end nothing changes."""
        if self.over:
            return f"The episode is over: {self.info['end_reason']}."
        self.observation, reward, terminated, truncated, self.info = self.env.step(reply)
        self.over, self.reward = terminated or truncated, self.reward + float(reward)
        return f"The episode is over: {self.info['end_reason']}." if self.over else str(self.observation)


def first_prompt(instance: Playable, settings: Settings) -> str:
    """Return the prompt that an episode begins with."""
    return str(Episode(instance, settings).observation)


class TrlEnvironment:
    """An environment of TRL's `GRPOTrainer(environment_factory=...)`; its tool is `act`, its reward the task's.

    Rows of the data set carry `puzzle`, `size` and `start`, as `horizon-bench export bank` writes them.
    """

    def __init__(self, settings: Settings) -> None:
        """Fix the rules; `reset` begins an episode."""
        self._settings = settings
        self._episode: Episode | None = None

    def reset(self, **row: Any) -> str:
        """Begin the episode of a data set's row and return the first prompt.

        Raises:
            ValueError: if the row does not say what to start from.
        """
        missing = [name for name in ("puzzle", "start") if name not in row]
        if missing:
            raise ValueError(f"the row lacks {', '.join(missing)}; make rows with `horizon-bench export bank`")
        self._episode = Episode(Start(row["puzzle"], row.get("size"), row["start"]), self._settings)
        return str(self._episode.observation)

    def act(self, action: str) -> str:
        """Carry out one reply in the puzzle and see the board after it.

        Args:
            action: the action or actions, written as the prompt says.

        Returns:
            The next prompt, or how the episode ended.
        """
        return self._running().act(action)

    def get_reward(self) -> float:
        """Return the task reward of the episode so far."""
        return self._running().reward

    def _running(self) -> Episode:
        if self._episode is None:
            raise RuntimeError("there is no episode yet; call reset first")
        return self._episode


def environment_factory(settings: Settings) -> Callable[[], TrlEnvironment]:
    """Return what `GRPOTrainer(environment_factory=...)` takes: a maker of environments with these rules.

    >>> from horizon_bench.envs import Settings
    >>> environment = environment_factory(Settings())()
    >>> print(environment.reset(puzzle="sudoku", size=4, start="1234341221434.2.")[-20:].strip()[:4])
    4 .

    Args:
        settings: the environment's settings, `observation="text"`.

    Raises:
        ValueError: for another form of observation.
    """
    if settings.observation != "text":
        raise ValueError(f"observation is {settings.observation!r}, but TRL's environments speak in text")
    return lambda: TrlEnvironment(settings)
