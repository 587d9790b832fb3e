"""Facts about a start, proven by the exact solvers: nothing enters a bank on somebody's word."""

from __future__ import annotations

from typing import Any

from curricula.instances import Instance, split_of
from curricula.levels import SHOP_SIZE, level_of
from puzzles.base import Puzzle
from puzzles.rush_hour import RushHour
from puzzles.shop import Shop
from puzzles.sudoku import Sudoku, sudoku_size
from solvers import rush_hour, sudoku
from solvers.shop import ShopOracle
from solvers.sudoku_canonical import keys

LARGEST_GRADED = 81
"""Most cells of a board that the technique checker grades."""


def prove(puzzle: str, text: str, level: str | None = None, seed: str = "-") -> Instance:
    """Return the instance that a board's text describes.

    Args:
        puzzle: `sudoku` (any size), `rush-hour` (6x6) or `shop` (the levels' shop).
        text: the board.
        level: name to enter; by default the level that holds the proven distance.
        seed: where the board came from.

    Raises:
        ValueError: with the reason, if the board is malformed, solved already, or has not exactly one solution
            (Sudoku) or no way to the goal (Rush Hour, Shop).
    """
    if puzzle == "sudoku":
        return _prove_sudoku(text, level, seed)
    if puzzle == "rush-hour":
        return _prove_rush_hour(text, level, seed)
    if puzzle == "shop":
        return _prove_shop(text, level, seed)
    raise ValueError(f"unknown puzzle {puzzle!r}; banks hold sudoku, rush-hour or shop")


def hardest_technique(start: str) -> str:
    """Return the hardest technique that the technique checker needs for a Sudoku; `-` for boards it does not grade."""
    if len(start) > LARGEST_GRADED:
        return "-"
    from solvers import techniques

    return str(techniques.grade(start).hardest)


def _prove_sudoku(text: str, level: str | None, seed: str) -> Instance:
    size = sudoku_size(text)
    puzzle = Sudoku(size)
    state = puzzle.parse(text)
    start, blanks = puzzle.format(state), state.blanks
    count = sudoku.count_solutions(state, limit=2)
    solution = sudoku.solve(state)
    if count != 1 or solution is None:
        raise ValueError(f"must have exactly one solution, has {count}")
    if blanks == 0:
        raise ValueError("solved already: there is no blank")
    (key,) = keys([state])
    level = level_of("sudoku", size, blanks) if level is None else level
    grade = hardest_technique(start)
    return Instance("sudoku", size, level, split_of(key), start, blanks, -1, grade, solution, key, seed)


def plan_steps(start: str, plan: str, puzzle: Puzzle[Any, Any] | None = None) -> int | None:
    """Return how many atomic actions a plan takes; None if it is not legal or does not lead to the goal.

    Args:
        start: text of a start.
        plan: actions joined by `;`, each of one atomic action or several.
        puzzle: the rules; 6x6 Rush Hour by default.
    """
    puzzle = puzzle or RushHour()
    state = puzzle.parse(start)
    steps = 0
    for text in plan.split(";"):
        for move in puzzle.parse_action(text) or ():
            if puzzle.refusal(state, move) is not None:
                return None
            state = puzzle.apply(state, move)
            steps += 1
    return steps if puzzle.solved(state) else None


def _prove_rush_hour(text: str, level: str | None, seed: str) -> Instance:
    puzzle = RushHour()
    state = puzzle.parse(text)
    best = rush_hour.solve(state)
    slides = rush_hour.distance(state, "slides")
    if best.distance is None or slides is None:
        raise ValueError(f"cannot be solved: none of its {best.states} reachable states is a goal")
    if best.distance == 0:
        raise ValueError("solved already: the primary car stands at the exit")
    key = puzzle.key(state)
    level = level_of("rush-hour", puzzle.rows, best.distance) if level is None else level
    start = puzzle.format(state)
    return Instance(
        "rush-hour", puzzle.rows, level, split_of(key), start, best.distance, slides, "-", best.path, key, seed
    )


def _prove_shop(text: str, level: str | None, seed: str) -> Instance:
    puzzle = Shop(SHOP_SIZE)
    state = puzzle.parse(text)
    oracle = ShopOracle(puzzle, state)
    key, start = puzzle.key(state), puzzle.format(state)
    plan = ";".join(puzzle.format_action(move) for move in oracle.plan(state) or ())
    level = level_of("shop", SHOP_SIZE, oracle.distance) if level is None else level
    return Instance("shop", SHOP_SIZE, level, split_of(key), start, oracle.distance, -1, "-", plan, key, seed)
