"""What a puzzle has that states its abstract methods only."""

from __future__ import annotations

from typing import ClassVar

import pytest

from puzzles.base import EXACT_DISTANCE, SNAPSHOTS, Puzzle


class Countdown(Puzzle[int, int]):
    """Take one or two

    until nothing is left.
    """

    name: ClassVar[str] = "countdown"
    lacks: ClassVar[dict[str, str]] = {SNAPSHOTS: "it only falls"}

    def parse(self, text: str) -> int:
        return int(text)

    def format(self, state: int) -> str:
        return str(state)

    def moves(self, state: int) -> tuple[int, ...]:
        return tuple(range(1, 1 + min(2, state)))

    def apply(self, state: int, move: int) -> int:
        return state - move

    def solved(self, state: int) -> bool:
        return state == 0

    def parse_action(self, text: str) -> tuple[int, ...] | None:
        return (int(text),) if text.isdigit() else None

    def format_action(self, move: int) -> str:
        return f"take {move}"


PUZZLE = Countdown()


def test_what_is_no_move_is_refused() -> None:
    assert PUZZLE.refusal(3, 2) is None
    assert PUZZLE.refusal(1, 2) == "not a legal move here"


def test_the_goal_alone_scores() -> None:
    assert [PUZZLE.score(state) for state in (0, 1)] == [1.0, 0.0]
    assert isinstance(PUZZLE.score(0), float)


def test_the_rules_are_the_docstring_without_its_indent_or_the_name() -> None:
    assert PUZZLE.rules() == "Take one or two\n\nuntil nothing is left."

    class Silent(Countdown):
        __doc__ = None

    assert Silent().rules() == "countdown"


def test_texts_serve_as_key_picture_and_tokens() -> None:
    assert PUZZLE.key(12) == PUZZLE.key_of("012") == PUZZLE.render(12) == "12"
    assert PUZZLE.compact(12) == ("1", "2")
    assert PUZZLE.compact_action(2) == ("take", "2")


def test_nothing_else_is_offered() -> None:
    assert PUZZLE.reveals(2, 1) is False
    assert PUZZLE.failure(2) == ""
    assert PUZZLE.check_thought(2, "b1") is None
    assert PUZZLE.close() is None
    empty = (PUZZLE.examples(), PUZZLE.levels(), PUZZLE.starts("a", "train"), PUZZLE.subgoals(2), PUZZLE.all_moves())
    assert empty == ((), (), (), (), ())
    assert PUZZLE.subgoals_done(2, 1) == PUZZLE.vocabulary() == ()
    assert PUZZLE.compact_features() == ((), {})
    for ask in (lambda: PUZZLE.encode(2), PUZZLE.array_high):
        with pytest.raises(ValueError, match=r"^puzzle 'countdown' offers no array form; use observation='text'$"):
            ask()


def test_what_a_puzzle_lacks_is_refused_with_who_needs_it_and_why() -> None:
    assert PUZZLE.require(EXACT_DISTANCE, "a level") is None
    with pytest.raises(ValueError, match=r"^vineppo needs snapshots, which countdown lacks: it only falls$"):
        PUZZLE.require(SNAPSHOTS, "vineppo")


def test_actions_are_found_as_calls() -> None:
    found = PUZZLE.action_pattern.findall("say(1) and 2go(b, c) _x() 3(4) open( (d)")
    assert found == ["say(1)", "go(b, c)", "_x()"]
