"""The `split` interface: one atomic action in two decisions, what and then where.

The halves come from the action's own text, for any puzzle: of `value(5, r1c1)` the first argument, `5`, is what, the
others, `r1c1`, are where; of an action with one argument, as `erase(r1c1)`, the name is what and the argument is where.
Replies are `what(5)` and `where(r1c1)`, or the bare halves.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from horizon_bench.envs.parsing import ReplyParser, split_thought
from puzzles.base import Puzzle

_CALL = re.compile(r"([A-Za-z_]+)\(([^()\n]*)\)")
_HALF = re.compile(r"(?<![A-Za-z])(what|where)[ \t]{0,4}\(([^()\n]{0,100})\)", re.IGNORECASE)
_LONGEST_BARE = 64


@dataclass(frozen=True, slots=True)
class Half:
    """One half of an action, as a reply gave it."""

    thought: str | None
    rationale: str
    problem: str = ""
    """Why the reply is unreadable; empty if it is readable."""
    pending: str | None = None
    """What the next reply goes on from."""
    refused: str = ""
    """Why no legal action begins so; empty if one does."""
    text: str = ""
    """The half as the reply gave it."""
    move: Any = None
    """The whole move, at the second half."""


def halves(puzzle: Puzzle[Any, Any], move: Any) -> tuple[str, str]:
    """Return what and where of a move.

    Args:
        puzzle: writes the move.
        move: an atomic move.
    """
    text = puzzle.format_action(move)
    call = _CALL.fullmatch(text)
    if call is None:
        what, _, where = text.partition(" ")
        return what, where
    first, _, rest = call[2].partition(",")
    return (first.strip(), rest.strip()) if rest else (call[1], call[2].strip())


class SplitReader:
    """Reads the halves of one puzzle's actions."""

    def __init__(self, puzzle: Puzzle[Any, Any], parser: ReplyParser) -> None:
        """Learn the halves of every move that the puzzle names in advance."""
        self._puzzle = puzzle
        self._parser = parser
        both = {move: halves(puzzle, move) for move in parser.texts}
        # Folded once: a state of the shop has thousands of moves.
        self._what_of = {move: (what, _fold(what, "")[0]) for move, (what, _) in both.items()}
        self._moves = {_fold(*each): move for move, each in both.items()}
        self._seen: tuple[Any, ...] | None = None
        self._table: dict[str, str] = {}
        self._whats = {what for what, _ in self._moves}
        self._names = sorted({call[1] for text in parser.texts.values() if (call := _CALL.fullmatch(text))})

    def read(self, state: Any, pending: str | None, reply: str) -> Half:
        """Return the half that a reply gives.

        Args:
            state: the state it acts on.
            pending: what was chosen before, or None at the first half.
            reply: any text.
        """
        thought, before, body = split_thought(reply)
        wanted = "what" if pending is None else "where"
        found = [match for match in _HALF.finditer(body) if match[1].casefold() == wanted]
        if len(found) > 1 or (not found and len(body.strip()) > _LONGEST_BARE):
            return Half(thought, before, f"write {wanted}(...) once", pending)
        text = found[0][2].strip() if found else body.strip()
        if not text and pending is None:
            return Half(thought, before, f"no {wanted}(...) found", pending)
        rationale = f"{before}{body[: found[0].start()]}".strip() if found else before
        if pending is None:
            return self._first(state, text, Half(thought, rationale, text=text))
        return self._second(state, pending, text, Half(thought, rationale, text=text))

    def _first(self, state: Any, text: str, half: Half) -> Half:
        """Return the first half, refused where no legal action begins so."""
        folded = _fold(text, "")[0]
        what = self._legal_what(self._puzzle.moves(state), folded)
        if what is not None:
            return replace(half, pending=what)
        if folded in self._whats or not self._moves:
            return replace(half, refused=f"no legal action begins with {text[:40]}")
        return replace(half, problem=f"unknown first half {text[:40]!r}")

    def _legal_what(self, moves: tuple[Any, ...], folded: str) -> str | None:
        """Return the first half that reads so once folded, None if no move has it.

        Pages of the shop share one tuple of thousands of moves: what comes again is put in a table.
        """
        both = (self._what_of.get(move) or self._folded(move) for move in moves)
        if moves is not self._seen:
            self._seen, self._table = moves, {}
            return next((what for what, each in both if each == folded), None)
        if not self._table:
            for what, each in both:
                self._table.setdefault(each, what)
        return self._table.get(folded)

    def _folded(self, move: Any) -> tuple[str, str]:
        what = halves(self._puzzle, move)[0]
        return what, _fold(what, "")[0]

    def _second(self, state: Any, pending: str, text: str, half: Half) -> Half:
        """Return the second half with its move, legal or not."""
        table = self._moves or {_fold(*halves(self._puzzle, move)): move for move in self._puzzle.moves(state)}
        move = table.get(_fold(pending, text))
        if move is None:
            move = self._read_whole(pending, text)
        if move is None:
            return replace(half, problem=f"unknown second half {text[:40]!r}", pending=pending)
        return replace(half, move=move)

    def _read_whole(self, pending: str, text: str) -> Any | None:
        """Return the one move that both halves are the text of, in any form that the puzzle reads, or None."""
        one_argument = [f"{pending}({text})"] if pending in self._names else []
        for written in one_argument or [f"{name}({pending}, {text})" for name in self._names]:
            moves = self._parser.read_action(written)
            if moves is not None and len(moves) == 1:
                return moves[0]
        return None


def _fold(what: str, where: str) -> tuple[str, str]:
    """Return both halves without blanks and case."""
    return "".join(what.split()).casefold(), "".join(where.split()).casefold()
