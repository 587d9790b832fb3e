"""What a milestone can say about a board, in words that a program can check.

Each puzzle has a small language, so that a plan written by a model can be verified: `box 3` (Sudoku), `clear B` (Rush
Hour). A puzzle without one knows its oracle's own subgoals by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from puzzles.base import Puzzle
from solvers.base import Oracle

Knowledge = Literal["solver", "rules"]
"""What a check may use: the solver's knowledge, as the subgoals of rewards do, or only what the board shows."""

Holds = Callable[[Any, Knowledge], bool]
"""Whether a condition holds in a state."""


@dataclass(frozen=True, eq=False)
class Condition:
    """One checkable statement about boards of one instance."""

    text: str
    """The statement in its one spelling."""
    meaning: str
    """As a prompt says it."""
    holds: Holds


@dataclass(frozen=True)
class Language:
    """The statements of one puzzle."""

    grammar: str
    """For prompts: every form, with its meaning."""
    read: Callable[[Any, Any, str], Condition | None]
    """Return the condition that a text states about an instance (puzzle, oracle, text), None if it states none."""
    units: Callable[[Any, Any], tuple[str, ...]]
    """Return the statements about whole units of an instance (puzzle, oracle), for random plans."""


def read_condition(puzzle: Puzzle[Any, Any], oracle: Oracle[Any, Any], text: str) -> Condition:
    """Return the condition that a text states about the oracle's instance.

    Args:
        puzzle: the rules.
        oracle: bound to the instance.
        text: a form of the puzzle's language, or the name of one of the oracle's subgoals.

    Raises:
        ValueError: if it states none, naming the forms that do.
    """
    squeezed = " ".join(text.split())
    if squeezed in oracle.subgoals:
        return subgoal_condition(oracle, oracle.subgoals.index(squeezed))
    language = CONDITIONS.get(puzzle.name)
    found = language.read(puzzle, oracle, squeezed) if language else None
    if found is None:
        forms = language.grammar if language else f"the names {', '.join(oracle.subgoals) or '(none)'}"
        raise ValueError(f"{text!r} is no milestone of {puzzle.name}; use {forms}")
    return found


def subgoal_condition(oracle: Oracle[Any, Any], index: int) -> Condition:
    """Return one of the oracle's own subgoals as a condition; it asks the solver whatever the knowledge."""
    name = oracle.subgoals[index]
    return Condition(name, _words(name), lambda state, knowledge: oracle.subgoals_done(state)[index])


def _words(name: str) -> str:
    """Return a subgoal's name as a prompt says it."""
    if match := re.fullmatch(r"b(\d+)", name):
        return f"box {match[1]} is complete"
    if match := re.fullmatch(r"distance<=(\d+)", name):
        return f"at most {match[1]} steps from the goal" if match[1] != "0" else "the goal is reached"
    if match := re.fullmatch(r"cleared (\w+)", name):
        return f"vehicle {match[1]} is out of the primary car's way for good"
    return {"exit": "the primary car is at the exit"}.get(name, name)


# ---------------------------------------------------------------- Sudoku

_UNIT = re.compile(r"(box|row|column|digit) (\d{1,2})", re.ASCII)
_CELLS = re.compile(r"cells?((?: r\d{1,2}c\d{1,2})+)", re.ASCII)


def _read_sudoku(puzzle: Any, oracle: Any, text: str) -> Condition | None:
    if match := _UNIT.fullmatch(text):
        kind, number = match[1], int(match[2])
        text = f"{kind} {number}"
        if not 1 <= number <= puzzle.size:
            return None
        if kind == "digit":
            return Condition(text, f"every {number} is placed", _digit_placed(oracle, puzzle.size, number))
        of_cell = {"box": puzzle.layout.box_of, "row": puzzle.layout.row_of, "column": puzzle.layout.column_of}[kind]
        cells = tuple(cell for cell, unit in enumerate(of_cell) if unit == number - 1)
        return Condition(text, f"{kind} {number} is complete", _filled(oracle, cells))
    if match := _CELLS.fullmatch(text):
        known = {name: cell for cell, name in enumerate(puzzle.layout.cell_names)}
        if not all(name in known for name in match[1].split()):
            return None
        cells = tuple(sorted({known[name] for name in match[1].split()}))
        listed = " ".join(puzzle.layout.cell_names[cell] for cell in cells)
        return Condition(f"cells {listed}", f"{listed} filled", _filled(oracle, cells))
    return None


def _filled(oracle: Any, cells: tuple[int, ...]) -> Holds:
    def holds(state: Any, knowledge: Knowledge) -> bool:
        if knowledge == "rules":
            return all(state.values[cell] for cell in cells)
        return all(state.values[cell] == oracle.solution[cell] for cell in cells)

    return holds


def _digit_placed(oracle: Any, size: int, digit: int) -> Holds:
    right = tuple(cell for cell, held in enumerate(oracle.solution) if held == digit)

    def holds(state: Any, knowledge: Knowledge) -> bool:
        if knowledge == "rules":
            return bool(state.values.count(digit) == size)
        return all(state.values[cell] == digit for cell in right)

    return holds


# ---------------------------------------------------------------- Rush Hour

_CLEAR = re.compile(r"clear ([A-Z])")
_AT = re.compile(r"([A-Z]) at r(\d)c(\d)", re.ASCII)


def _read_rush_hour(puzzle: Any, oracle: Any, text: str) -> Condition | None:
    layout = oracle.start.layout
    if text == "exit":
        return Condition(text, "the primary car is at the exit", lambda state, knowledge: bool(puzzle.solved(state)))
    match = _CLEAR.fullmatch(text)
    if match and layout.vehicle(match[1]) not in (None, 0):
        return Condition(text, f"vehicle {match[1]} is out of the primary car's way", _clear(puzzle, match[1]))
    match = _AT.fullmatch(text)
    if match and (place := _place(puzzle, oracle.start, match[1], int(match[2]) - 1, int(match[3]) - 1)) is not None:
        letter = match[1]

        def holds(state: Any, knowledge: Knowledge) -> bool:
            return bool(puzzle.format(state).find(letter) == place)

        return Condition(text, f"the top left cell of {letter} is r{match[2]}c{match[3]}", holds)
    return None


def _place(puzzle: Any, start: Any, letter: str, row: int, column: int) -> int | None:
    """Return the cell of a row and column, None where the top left of that vehicle can never lie: off its line."""
    layout = start.layout
    vehicle = layout.vehicle(letter)
    if vehicle is None:
        return None
    own_row, own_column = divmod(puzzle.format(start).find(letter), layout.columns)
    along, across = (column, row - own_row) if layout.horizontal[vehicle] else (row, column - own_column)
    return row * layout.columns + column if not across and 0 <= along < layout.room(vehicle) else None


def _clear(puzzle: Any, letter: str) -> Holds:
    def holds(state: Any, knowledge: Knowledge) -> bool:
        text, width = puzzle.format(state), state.layout.columns
        row = text[puzzle.exit_row * width : (puzzle.exit_row + 1) * width]
        primary = state.layout.letters[0]
        return letter not in row[row.rfind(primary) + 1 :]

    return holds


CONDITIONS: dict[str, Language] = {
    "sudoku": Language(
        "`box N`, `row N`, `column N` (complete), `digit N` (everywhere placed) or `cells r1c1 r2c3` (filled)",
        _read_sudoku,
        lambda puzzle, oracle: tuple(
            f"{kind} {number}" for kind in ("box", "row", "column", "digit") for number in range(1, puzzle.size + 1)
        ),
    ),
    "rush-hour": Language(
        "`clear V` (vehicle V no longer stands between the primary car and the exit), `V at rRcC` (its top left cell) "
        "or `exit` (solved)",
        _read_rush_hour,
        lambda puzzle, oracle: tuple(f"clear {letter}" for letter in oracle.start.layout.letters[1:]),
    ),
}
"""Languages of milestones by the puzzle's name."""
