"""`horizon-bench replay EPISODES`: a recorded episode as text, animated GIF or strip of pictures."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tyro

STORED = "episodes.parquet"
SHOWN = 3
"""Folders that an error names."""


@dataclass(frozen=True)
class Recording:
    """What a replay needs of an episode."""

    puzzle: str
    size: int | None
    start: str
    turns: tuple[Any, ...]
    title: str


@dataclass(frozen=True)
class RecordedDecision:
    """A decision read from JSON."""

    reply: str
    moves: tuple[str, ...]


@dataclass(frozen=True)
class Replay:
    """Watch a recorded episode board by board."""

    episodes: tyro.conf.Positional[Path]
    """The folder of a run, such as results/smoke/CELL/0, or its `episodes.parquet`; or JSON: one object (or a list)
    with `puzzle`, `start` and `turns`."""
    index: int = 0
    """Which episode of the file, from 0; negative ones count from the end."""
    form: Literal["text", "gif", "strip"] = "text"
    """Text on the screen, an animated GIF, or one PNG of all boards."""
    out: Path | None = None
    """File to write; by default `replay.gif` or `replay.png` here."""
    puzzle: str | None = None
    """Puzzle to read it as, such as `my_package.lights_out:LightsOut`; by default as recorded."""
    milliseconds: int = 500
    """Time of each board in the GIF."""

    def run(self) -> int:
        """Show or write the episode."""
        from horizon_bench.envs.replaying import find_puzzle, frames, write_gif, write_strip
        from studies.own_modules import import_from_here

        if self.milliseconds < 20:
            raise ValueError(f"milliseconds is {self.milliseconds}, must be at least 20")
        recordings = read_recordings(self.episodes)
        if not -len(recordings) <= self.index < len(recordings):
            raise ValueError(f"index is {self.index}, but {self.episodes} holds {len(recordings)} episodes")
        recording = recordings[self.index]
        import_from_here()
        puzzle = find_puzzle(self.puzzle or recording.puzzle, recording.size)
        boards = frames(puzzle, recording.start, recording.turns)
        if self.form == "text":
            print(recording.title)
            for board in boards:
                print(f"\n{board.caption}\n{puzzle.render(board.state)}")
            return 0
        path = self.out or Path("replay.gif" if self.form == "gif" else "replay.png")
        if self.form == "gif":
            write_gif(path, puzzle, boards, self.milliseconds)
        else:
            write_strip(path, puzzle, boards)
        print(path)
        return 0


def read_recordings(path: Path) -> list[Recording]:
    """Return the episodes of a Parquet or JSON file.

    Raises:
        ValueError: naming the file and what is wrong with it.
        FileNotFoundError: if there is no such file.
    """
    asked = path
    if path.is_dir():
        path /= STORED
    if not path.exists():
        raise FileNotFoundError(f"no episodes at {path}; {_way_out(asked)}")
    if path.suffix != ".json":
        from reports.episode_store import read_episodes

        found = [
            Recording(
                stored.puzzle,
                stored.size,
                stored.episode.start,
                stored.episode.turns,
                f"{stored.puzzle} {stored.episode.level}, {stored.interface}, attempt {stored.episode.attempt}: "
                f"{stored.episode.end_reason} after {stored.episode.decisions} decisions, "
                f"{stored.episode.atomic_steps} atomic steps",
            )
            for stored in read_episodes(path)
        ]
    else:
        try:
            data = json.loads(path.read_text(encoding="utf8"))
            found = [_recording(entry) for entry in (data if isinstance(data, list) else [data])]
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"{path} is no recorded episode ({error!r}); expected an object with puzzle, start and turns, "
                "each turn with reply and moves"
            ) from error
    if not found:
        raise ValueError(f"{path} holds no episodes")
    return found


def _way_out(asked: Path) -> str:
    """Return what a good path looks like: some that there are below the folder asked for, else below `results`."""
    below = asked if asked.is_dir() else Path("results")
    found = sorted(path.parent for depth in (1, 2, 3) for path in below.glob("*/" * depth + STORED))
    if not found:
        return "give the folder of a run, such as results/smoke/CELL/0"
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return f"give the folder of a run, such as {', '.join(map(str, found[:SHOWN]))}{more}"


def _texts(moves: object) -> tuple[str, ...]:
    """Return the moves of a turn."""
    if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
        raise TypeError(f"moves are {moves!r}, must be a list of texts")
    return tuple(moves)


def _recording(entry: dict[str, Any]) -> Recording:
    turns = tuple(RecordedDecision(str(turn.get("reply", "")), _texts(turn["moves"])) for turn in entry["turns"])
    size = entry.get("size")
    if size is None and entry["puzzle"] == "sudoku":
        from puzzles.sudoku import sudoku_size

        size = sudoku_size(entry["start"])
    return Recording(entry["puzzle"], size, entry["start"], turns, f"{entry['puzzle']}: {len(turns)} decisions")
