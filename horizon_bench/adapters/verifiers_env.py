"""The puzzles as an environment of `verifiers` (its v1 interface): the puzzle is the user of a conversation.

Each turn of the user is the prompt after the model's last reply; the trace carries the task's return as its reward, and
whether the puzzle was solved. The package finds plugins by the name of a module at the top level, so it wants a module
of two lines, such as `horizon_puzzles.py`: import `PuzzleConversation` and `PuzzleTaskset`, and name both in `__all__`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from curricula import load_bank
from horizon_bench.envs.settings import Settings
from horizon_bench.extras import install
from horizon_bench.training.environments import Episode, Start

try:
    import verifiers.v1 as vf
except ImportError as error:
    raise ImportError(f"this environment needs verifiers: {install('verifiers')}") from error


class PuzzleData(vf.TaskData):
    """One start."""

    puzzle: str
    size: int | None = None
    start: str
    distance: int
    """Goal distance, in atomic actions."""


class PuzzleTask(vf.Task[PuzzleData]):
    """One start to be played; the environment scores it."""


class PuzzleTasksetConfig(vf.TasksetConfig):
    """Which starts there are."""

    level: str = "T1"
    """Level of the bank."""
    split: str = "train"
    """Part of the bank: train, validation or test."""


class PuzzleTaskset(vf.Taskset[PuzzleTask, PuzzleTasksetConfig]):
    """The puzzles of a level."""

    def load(self) -> Iterator[PuzzleTask]:
        """Yield one task for each puzzle; the conversation is opened by the puzzle."""
        for one in load_bank(self.config.level, self.config.split):
            data = PuzzleData(id=one.key, puzzle=one.puzzle, size=one.size, start=one.start, distance=one.distance)
            yield PuzzleTask(data, self.config.task)


class PuzzleEnvConfig(vf.EnvConfig):
    """Who plays by which rules."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"})
    """The model; a plain chat loop by default."""
    interface: str = "atomic"
    """How a reply maps to moves."""
    on_error: str = "semi"
    """What follows an error."""


class PuzzleConversation(vf.Env[PuzzleEnvConfig]):
    """An episode as a conversation with the puzzle."""

    async def run(self, task: Any, agents: Any) -> None:
        """Play one episode and record its rewards on the player's trace."""
        settings = Settings(interface=self.config.interface, on_error=self.config.on_error)
        episode = Episode(Start(task.data.puzzle, task.data.size, task.data.start), settings)
        async with agents.player.interaction(task) as player:
            while not episode.over:
                segment = await player.turn(str(episode.observation))
                if segment.terminated:
                    break
                episode.act(segment.last_reply)
            player.trace.record_reward("return", episode.reward)
            player.trace.record_metric("solved", float(episode.solved))
            player.trace.record_metric("decisions", float(episode.info["decisions"]))


__all__ = ["PuzzleConversation", "PuzzleTaskset"]
