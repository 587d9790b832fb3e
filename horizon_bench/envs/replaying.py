"""Recorded episodes board by board: frames, and from them text, an animated GIF or a strip of pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from horizon_bench.envs.instances import PuzzleName, workshop
from horizon_bench.envs.rendering import draw
from puzzles.base import Puzzle

if TYPE_CHECKING:
    from PIL.Image import Image

STRIP_COLUMNS = 6
"""Pictures in a row of a strip."""


class RecordedTurn(Protocol):
    """What a replay reads of a decision; `horizon_bench.episodes.Turn` fulfils it."""

    @property
    def reply(self) -> str:
        """The reply."""

    @property
    def moves(self) -> tuple[str, ...]:
        """Canonical text of the moves that were carried out."""


@dataclass(frozen=True)
class Frame:
    """One board of a replay."""

    state: Any
    move: Any
    """The move that led here; None at the start and where a decision moved nothing."""
    decision: int
    """Number of the decision, 0 for the start."""
    caption: str


def find_puzzle(name: PuzzleName, size: int | None) -> Puzzle[Any, Any]:
    """Return the rules that a replay follows: those that refuse least.

    Args:
        name: of the puzzle.
        size: rows of the board; None or 0 for puzzles that take no size.

    Raises:
        ValueError: if there is no such puzzle, or it refuses the size.
    """
    return workshop(name, size or None, True).puzzle


def frames(puzzle: Puzzle[Any, Any], start: str, turns: Sequence[RecordedTurn]) -> list[Frame]:
    """Return the boards of an episode, the start first.

    Args:
        puzzle: the rules.
        start: text of the start.
        turns: its decisions, in order.

    Raises:
        ValueError: if the start or a move does not fit the puzzle, naming the decision.
    """
    state = puzzle.parse(start)
    boards = [Frame(state, None, 0, "start")]
    for number, turn in enumerate(turns, start=1):
        if not turn.moves:
            boards.append(Frame(state, None, number, f"decision {number}: nothing carried out"))
        for text in turn.moves:
            moves = puzzle.parse_action(text)
            if not moves:
                raise ValueError(f"decision {number}: {text!r} is no action of {puzzle.name}")
            for move in moves:
                try:
                    state = puzzle.apply(state, move)
                except ValueError as error:
                    raise ValueError(f"decision {number}: {error}; is this the episode's puzzle?") from error
                boards.append(Frame(state, move, number, f"decision {number}: {puzzle.format_action(move)}"))
    return boards


def write_gif(path: Path, puzzle: Puzzle[Any, Any], boards: Sequence[Frame], milliseconds: int = 500) -> Path:
    """Write an animated GIF that rests on the last board.

    Args:
        path: file to write.
        puzzle: whose boards they are.
        boards: from `frames`.
        milliseconds: time of each board.
    """
    pictures = _pictures(puzzle, boards)
    path.parent.mkdir(parents=True, exist_ok=True)
    durations = [milliseconds] * (len(pictures) - 1) + [4 * milliseconds]
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=durations, loop=0)
    return path


def write_strip(path: Path, puzzle: Puzzle[Any, Any], boards: Sequence[Frame]) -> Path:
    """Write one PNG with all boards in rows, each with its caption."""
    from PIL import Image, ImageDraw

    pictures, caption = _pictures(puzzle, boards), 20
    width, height = pictures[0].width, pictures[0].height + caption
    columns = min(STRIP_COLUMNS, len(pictures))
    rows = -(-len(pictures) // columns)
    strip = Image.new("RGB", (columns * width, rows * height), "white")
    pen = ImageDraw.Draw(strip)
    for number, (picture, board) in enumerate(zip(pictures, boards, strict=True)):
        left, top = number % columns * width, number // columns * height
        strip.paste(picture, (left, top + caption))
        pen.text((left + 12, top + 6), board.caption, fill="black")
    path.parent.mkdir(parents=True, exist_ok=True)
    strip.save(path)
    return path


def _pictures(puzzle: Puzzle[Any, Any], boards: Sequence[Frame]) -> list[Image]:
    """Return a picture of each board, all as large as the largest: boards drawn as text differ in size."""
    from PIL import Image

    start = boards[0].state
    drawn = [Image.fromarray(draw(puzzle, start, board.state, board.move)) for board in boards]
    size = max(picture.width for picture in drawn), max(picture.height for picture in drawn)
    padded = []
    for picture in drawn:
        sheet = Image.new("RGB", size, "white")
        sheet.paste(picture)
        padded.append(sheet)
    return padded
