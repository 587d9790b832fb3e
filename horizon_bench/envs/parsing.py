"""Reads a reply: thought, rationale and actions. Never raises on text, takes time linear in its length.

The strict grammar of a reply is `[<think> THOUGHT </think>] [RATIONALE] ACTION [ACTION ...]`, each action as the puzzle
writes it (`value(5, r1c1)`) or, without any rationale, in the puzzle's compact tokens (`r1c1 5 r2c3 4`). Tolerated:

* letter case and blanks within an action (`VALUE( 5,r1c1 )`),
* any of the tags think, thinking, thought, reasoning in any case; text after the last closing tag counts,
* code fences (the last block that holds text counts) and the word `Action:` (the last one counts),
* blanks, commas, semicolons, full stops, colons, quotes, brackets, bullets, numbers, `and`, `then` between actions.

Anything else between or after the actions makes the reply unreadable, and so does an action name with arguments that
the puzzle does not know: nothing is carried out that the policy may not have meant.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from puzzles.base import Puzzle

MOST_ACTIONS = 1000
"""Actions a reply may hold; a longer one is unreadable."""

_TAG = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^\n`]*$", re.MULTILINE)
_MARKER = re.compile(r"(?<![A-Za-z])actions?[ \t*]{0,4}:", re.IGNORECASE)
_BETWEEN = re.compile(r"(?:[\s,;.:`'\"*•\[\]>-]|and\b|then\b|\d{1,3}[.):])*+", re.IGNORECASE)
_CALL = re.compile(r"([A-Za-z_]+)\([^()\n]*\)")
_LONGEST_CACHED, _MOST_CACHED = 64, 4096


class ParsedReply(NamedTuple):
    """What a reply says, before any rule is asked."""

    actions: tuple[tuple[Any, ...], ...]
    """Atomic moves of each action, in order; empty if the reply is unreadable."""
    thought: str | None
    """What stood in thinking tags, or None."""
    rationale: str
    """Text outside thinking tags, before the actions."""
    problem: str
    """Why the reply is unreadable; empty if it is readable."""


class ReplyParser:
    """Reads replies for one puzzle."""

    def __init__(self, puzzle: Puzzle[Any, Any]) -> None:
        """Learn the puzzle's action names and token widths.

        Args:
            puzzle: its `all_moves` name every action; a puzzle without them is read by its `action_pattern`.
        """
        self._parse_action = puzzle.parse_action
        self._known: dict[str, tuple[Any, ...] | None] = {}
        self._written: dict[str, tuple[Any, ...] | None] = {}
        self._folded: dict[str, tuple[Any, ...]] = {}
        moves = puzzle.all_moves()
        self.texts: dict[Any, str] = {move: puzzle.format_action(move) for move in moves}
        """Canonical text of each move that the puzzle lists."""
        texts = [self.texts[move] for move in moves]
        calls = [_CALL.fullmatch(text) for text in texts]
        names = sorted({call[1] for call in calls if call}, key=len, reverse=True)
        self._pattern = puzzle.action_pattern
        if moves and all(calls):
            self._pattern = re.compile(
                rf"(?<![A-Za-z_])(?:{'|'.join(names)})[ \t]{{0,4}}\([^()\n]{{0,200}}\)", re.IGNORECASE
            )
        for text, move in zip(texts, moves, strict=True):
            if len(text) <= _LONGEST_CACHED:
                self._written[text] = (move,)
            self._folded[_squeeze(text).casefold()] = (move,)
        widths = {len(puzzle.compact_action(move)) for move in moves} or {1, 2, 3}
        self._widths = sorted(widths | {max(widths) + 1} | {1}, reverse=True)

    def parse(self, reply: str) -> ParsedReply:
        """Return what `reply` says; unreadable text gives a `problem`, never an exception."""
        thought, before, body = (None, "", reply) if "<" not in reply else split_thought(reply)
        moves = self.read_action(body) if len(body) <= _LONGEST_CACHED else None
        if moves is not None:
            return ParsedReply((moves,), thought, before, "")
        found = list(_MARKER.finditer(body))
        if found:
            before, body = f"{before}{body[: found[-1].start()]}", body[found[-1].end() :]
        if "```" in body or "~~~" in body:
            fore, body = _last_block(body)
            before += fore
        actions, rationale, problem = self._actions(body)
        rationale = f"{before}{rationale}".strip()
        return ParsedReply(actions, thought, "" if _BETWEEN.fullmatch(rationale) else rationale, problem)

    def _actions(self, body: str) -> tuple[tuple[tuple[Any, ...], ...], str, str]:
        """Return actions, the text before them, and the problem if there is one."""
        actions: list[tuple[Any, ...]] = []
        first, end = -1, 0
        for match in self._pattern.finditer(body):
            if first < 0:
                first = match.start()
            elif not _BETWEEN.fullmatch(body, end, match.start()):
                return (), body[:first], "text between actions"
            moves = self.read_action(match[0])
            if moves is None:
                return (), body[:first], f"unknown action {match[0][:60]!r}"
            actions.append(moves)
            if len(actions) > MOST_ACTIONS:
                return (), body[:first], f"more than {MOST_ACTIONS} actions"
            end = match.end()
        if first < 0:
            return self._compact_actions(body)
        if not _BETWEEN.fullmatch(body, end):
            return (), body[:first], "text after the actions"
        return tuple(actions), body[:first], ""

    def _compact_actions(self, body: str) -> tuple[tuple[tuple[Any, ...], ...], str, str]:
        """Return the actions of compact tokens, each the longest run of tokens that is one."""
        tokens = body.replace(",", " ").replace(";", " ").split()
        actions: list[tuple[Any, ...]] = []
        index = 0
        while index < len(tokens) and len(actions) <= MOST_ACTIONS:
            for width in self._widths:
                run = tokens[index : index + width]
                moves = self.read_action(" ".join(run)) if len(run) == width and len(run[0]) < _LONGEST_CACHED else None
                if moves is not None:
                    actions.append(moves)
                    index += width
                    break
            else:
                return (), body, "no action found" if not actions else "text between actions"
        if len(actions) > MOST_ACTIONS:
            return (), body, f"more than {MOST_ACTIONS} actions"
        return tuple(actions), "" if actions else body, "" if actions else "no action found"

    def read_action(self, text: str) -> tuple[Any, ...] | None:
        """Return the atomic moves of one action's text, or None."""
        if len(text) > _LONGEST_CACHED:
            return self._parse_tolerantly(text) if len(text) <= 4 * _LONGEST_CACHED else None
        if text in self._written:
            return self._written[text]
        known = self._known
        if text in known:
            return known[text]
        if len(known) >= _MOST_CACHED:
            known.clear()
        known[text] = moves = self._parse_tolerantly(text)
        return moves

    def _parse_tolerantly(self, text: str) -> tuple[Any, ...] | None:
        """Return the moves of an action's text under any spacing and case that leave its meaning clear."""
        stripped = text.strip()
        moves = self._parse_action(stripped)
        if moves:
            return moves
        squeezed = _squeeze(stripped)
        if "(" not in squeezed and squeezed != stripped:
            return None
        folded = self._folded.get(squeezed.casefold())
        if folded:
            return folded
        lower = stripped.casefold()
        for form in (squeezed, lower, re.sub(r"\b[a-z]\b", lambda letter: letter[0].upper(), lower)):
            moves = self._parse_action(form)
            if moves:
                return moves
        return None


def _squeeze(text: str) -> str:
    """Return the text without blanks."""
    return "".join(text.split())


def split_thought(reply: str) -> tuple[str | None, str, str]:
    """Return thought, text before it, and what follows the last closing tag."""
    tags = list(_TAG.finditer(reply))
    if not tags:
        return None, "", reply
    closing = [tag for tag in tags if tag[1]]
    opening = next((tag for tag in tags if not tag[1]), None)
    start = opening.start() if opening else 0
    if not closing:
        return _TAG.sub("", reply[start:]).strip(), "", reply[:start]
    end = closing[-1]
    start = min(start, end.start())
    return _TAG.sub("", reply[start : end.start()]).strip(), reply[:start], _TAG.sub("", reply[end.end() :])


def _last_block(body: str) -> tuple[str, str]:
    """Return the text before the first fence and the last fenced block that holds text; all of it without fences."""
    fences = list(_FENCE.finditer(body))
    if not fences:
        return "", body
    ends = [fence.start() for fence in fences[1:]]
    if len(fences) % 2:
        ends.append(len(body))
    for fence, end in reversed(list(zip(fences, ends, strict=False))):
        block = body[fence.end() : end]
        if block.strip():
            return body[: fences[0].start()], block
    return body[: fences[0].start()], ""
