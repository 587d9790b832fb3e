"""Facts about a start, proven by the exact solvers: nothing enters a bank on somebody's word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from curricula.instances import Instance, split_of
from curricula.levels import SHOP_SIZE, level_of
from puzzles.base import Puzzle
from puzzles.names import check_name
from puzzles.rush_hour import RushHour
from puzzles.shop import Shop
from puzzles.sudoku import Sudoku, sudoku_size
from solvers import rush_hour, sudoku
from solvers.shop import ShopOracle
from solvers.sudoku_canonical import keys

LARGEST_GRADED = 81
"""Most cells of a board that the technique checker grades."""


class Facts(NamedTuple):
    """What the solvers establish about a start; fields as in `Instance`."""

    size: int
    start: str
    distance: int
    solution: str
    key: str
    slides: int = -1
    grade: str = "-"


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
    facts = PROVERS[check_name("puzzle", puzzle, PROVERS)](text)
    level = level_of(puzzle, facts.size, facts.distance) if level is None else level
    return Instance(puzzle=puzzle, level=level, split=split_of(facts.key), seed=seed, **facts._asdict())


def plan_steps(start: str, plan: str, puzzle: Puzzle[Any, Any]) -> int | None:
    """Return how many atomic actions a plan takes; None if it is not legal or does not lead to the goal.

    Args:
        start: text of a start.
        plan: actions joined by `;`, each of one atomic action or several.
        puzzle: the rules.
    """
    state = puzzle.parse(start)
    steps = 0
    for text in plan.split(";"):
        moves = puzzle.parse_action(text)
        if moves is None:
            return None
        for move in moves:
            if puzzle.refusal(state, move) is not None:
                return None
            state = puzzle.apply(state, move)
            steps += 1
    return steps if puzzle.solved(state) else None


def _prove_sudoku(text: str) -> Facts:
    size = sudoku_size(text)
    puzzle = Sudoku(size)
    state = puzzle.parse(text)
    count = sudoku.count_solutions(state, limit=2)
    solution = sudoku.solve(state)
    if count != 1 or solution is None:
        raise ValueError(f"must have exactly one solution, has {count}")
    if state.blanks == 0:
        raise ValueError("solved already: there is no blank")
    (key,) = keys([state])
    start = puzzle.format(state)
    return Facts(size, start, state.blanks, solution, key, grade=_hardest_technique(start))


def _hardest_technique(start: str) -> str:
    """Return the hardest technique that the technique checker needs for a Sudoku; `-` for boards it does not grade."""
    if len(start) > LARGEST_GRADED:
        return "-"
    from solvers import techniques

    return str(techniques.grade(start).hardest)


def _prove_rush_hour(text: str) -> Facts:
    puzzle = RushHour()
    state = puzzle.parse(text)
    best = rush_hour.solve(state)
    slides = rush_hour.distance(state, "slides")
    if best.distance is None or slides is None:
        raise ValueError(f"cannot be solved: none of its {best.states} reachable states is a goal")
    if best.distance == 0:
        raise ValueError("solved already: the primary car stands at the exit")
    return Facts(puzzle.rows, puzzle.format(state), best.distance, best.path, puzzle.key(state), slides)


def _prove_shop(text: str) -> Facts:
    puzzle = Shop(SHOP_SIZE)
    state = puzzle.parse(text)
    oracle = ShopOracle(puzzle, state)
    plan = ";".join(puzzle.format_action(move) for move in oracle.plan(state) or ())
    return Facts(SHOP_SIZE, puzzle.format(state), oracle.distance, plan, puzzle.key(state))


PROVERS: dict[str, Callable[[str], Facts]] = {
    "sudoku": _prove_sudoku,
    "rush-hour": _prove_rush_hour,
    "shop": _prove_shop,
}
"""What establishes the facts about a text, by the puzzle's name: the puzzles that banks hold."""
