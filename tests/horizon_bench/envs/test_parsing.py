"""The parser reads what it documents, refuses what could be meant otherwise, and never raises."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon_bench.envs.parsing import ReplyParser
from horizon_bench.testing import garbage
from puzzles import PUZZLES

SUDOKU = ReplyParser(PUZZLES["sudoku"](size=4))
RUSH_HOUR = ReplyParser(PUZZLES["rush-hour"]())


def fills(parsed):
    return [tuple(move) for action in parsed.actions for move in action]


@pytest.mark.parametrize(
    "reply",
    [
        "value(3, r1c1)",
        "  value(3,r1c1)\n",
        "VALUE( 3 , R1C1 )",
        "value (3, r1c1)",
        "r1c1 3",
        "r1c1=3",
        "```\nvalue(3, r1c1)\n```",
        "```text\nr1c1 3\n```",
        "```\n```\nvalue(3, r1c1)\n```\n```",
        "<think>value(1, r1c1) no</think>value(3, r1c1)",
        "<THINKING>\nfoo(\n</THINKING>\nr1c1 3",
        "</think> value(3, r1c1)",
        "The row lacks only 3. Action: value(3, r1c1)",
        "Not value(1, r1c1).\nAction: value(3, r1c1).",
        "Row 1 lacks 3, so value(3, r1c1)",
        "1. value(3, r1c1)",
        '["value(3, r1c1)"]',
    ],
)
def test_tolerated_forms_of_one_action(reply):
    parsed = SUDOKU.parse(reply)
    assert (parsed.problem, fills(parsed)) == ("", [(0, 3)])


@pytest.mark.parametrize(
    "reply",
    [
        "value(3, r1c1) value(4, r1c2)",
        "value(3, r1c1), value(4, r1c2).",
        "value(3, r1c1) and then value(4, r1c2)",
        "1. value(3, r1c1)\n2. value(4, r1c2)\n",
        "- value(3, r1c1);\n- value(4, r1c2);",
        "r1c1 3 r1c2 4",
        "r1c1=3, r1c2=4",
        "r1c1 3\nr1c2 = 4",
        "<think> b1 3 4 </think> r1c1 3 r1c2 4",
    ],
)
def test_tolerated_forms_of_two_actions(reply):
    parsed = SUDOKU.parse(reply)
    assert (parsed.problem, fills(parsed)) == ("", [(0, 3), (1, 4)])


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   \n",
        "I do not know.",
        "value(9, r1c1)",
        "value(3, r9c9)",
        "value(3, r1c1",
        "value 3 r1c1",
        "value(3, r1c1) because of the row",
        "value(3, r1c1) would clash, so value(4, r1c1)",
        "r1c1 3 is right",
        "<think>value(3, r1c1)",
        "Action:",
        "erase(r1c1)",
    ],
)
def test_what_could_be_meant_otherwise_is_unreadable(reply):
    parsed = SUDOKU.parse(reply)
    assert parsed.actions == ()
    assert parsed.problem


def test_thought_rationale_and_actions_are_kept_apart():
    parsed = SUDOKU.parse("<think>long\nthought</think> Row 1 lacks 3.\nAction: value(3, r1c1)")
    assert parsed.thought == "long\nthought"
    assert parsed.rationale == "Row 1 lacks 3."


@pytest.mark.parametrize(
    ("reply", "count"), [("move(B, up, 3)", 3), ("B up 2 A down", 3), ("MOVE(b, UP, 1)", 1), ("B up B up", 2)]
)
def test_rush_hour_replies(reply, count):
    parsed = RUSH_HOUR.parse(reply)
    assert sum(len(action) for action in parsed.actions) == count


@pytest.mark.parametrize("parser", [SUDOKU, RUSH_HOUR])
@given(text=garbage(), action=st.sampled_from(["", "value(3, r1c1)", "B up 2"]))
@settings(max_examples=100)
def test_any_text_is_read_without_exception(parser, text, action):
    parsed = parser.parse(text + action)
    assert bool(parsed.actions) != bool(parsed.problem)


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "(",
        "value(",
        "<think>",
        "</think>",
        "```\n",
        "`",
        " ",
        "1.",
        "r1c1 ",
        "value(1, r1c1) ",
        "é🧩",
        "<",
        "Action:",
    ],
)
def test_long_replies_are_read(piece):
    """Each would take minutes with a parser whose time grows with the square of the length."""
    parsed = SUDOKU.parse((piece * 100_000)[:100_000])
    assert bool(parsed.actions) != bool(parsed.problem)


def test_memory_of_the_parser_is_bounded():
    parser = ReplyParser(PUZZLES["sudoku"](size=4))
    for number in range(6000):
        parser.parse(f"garbage {number}")
    assert len(parser._known) <= 4096
