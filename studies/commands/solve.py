"""`horizon-bench solve sudoku`, `solve rush-hour` and `solve shop`: one puzzle a line in, one answer a line out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro

from studies.lines import answer_lines


@dataclass(frozen=True)
class SolveSudoku:
    """Count and solve Sudoku puzzles of 4x4, 6x6, 9x9 or 16x16, one a line; blanks are `.` or `0`."""

    file: tyro.conf.Positional[Path | None] = None
    """File of puzzles; standard input by default."""
    limit: int = 2
    """Stop counting here; the answer is then `>=LIMIT`. Smaller counts are exact."""

    def run(self) -> int:
        """Print `givens solutions solution` a line; `-` where the solution is not the only one."""
        from solvers import sudoku

        def answer(puzzle: str) -> tuple[str, str, str]:
            count = sudoku.count_solutions(puzzle, limit=max(self.limit, 2))
            shown = ">=1" if self.limit == 1 and count > 1 else str(count)
            solution = sudoku.solve(puzzle) if count == 1 else None
            return puzzle, shown, solution or "-"

        if self.limit < 1:
            raise ValueError(f"limit is {self.limit}, must be at least 1")
        return answer_lines(self.file, ("givens", "solutions", "solution"), answer)


@dataclass(frozen=True)
class SolveRushHour:
    """Find shortest plans of Rush Hour boards, one a line, rows one after another; `.` is empty, `x` a wall."""

    file: tyro.conf.Positional[Path | None] = None
    """File of boards; standard input by default."""
    metric: Literal["steps", "slides"] = "steps"
    """What counts as one move: one cell (steps), or any number of cells in one direction (slides)."""
    rows: int = 6
    """Rows of the board, up to 8."""
    columns: int = 6
    """Columns of the board, up to 8."""
    exit_row: int | None = None
    """Row of the primary car, from 0; the middle one by default."""
    max_states: int = 5_000_000
    """Give a board up with an error after so many states."""
    max_seconds: float | None = None
    """Give a board up with an error after so many seconds; unlimited by default."""

    def run(self) -> int:
        """Print `board optimal path` a line; `-1` and `-` where no way leads to the goal."""
        from puzzles.rush_hour import RushHour
        from solvers import rush_hour

        puzzle = RushHour(self.rows, self.columns, self.exit_row)

        def answer(board: str) -> tuple[str, str, str]:
            best = rush_hour.solve(
                board, self.metric, puzzle=puzzle, max_states=self.max_states, max_seconds=self.max_seconds
            )
            return board, "-1" if best.distance is None else str(best.distance), best.path

        failures = (ValueError, rush_hour.SearchBudgetError)
        return answer_lines(self.file, ("board", "optimal", "path"), answer, failures)


@dataclass(frozen=True)
class SolveShop:
    """Find shortest plans for shopping lists, one a line: `nordal steel kettle <=40 red; wool rug <=25`."""

    file: tyro.conf.Positional[Path | None] = None
    """File of lists; standard input by default."""
    size: int = 3000
    """Products of the shop."""
    seed: int = 0
    """Seed of its catalogue."""

    def run(self) -> int:
        """Print `list optimal plan` a line."""
        from puzzles.shop import Shop
        from solvers.shop import ShopOracle

        puzzle = Shop(self.size, self.seed)

        def answer(text: str) -> tuple[str, str, str]:
            oracle = ShopOracle(puzzle, puzzle.parse(text))
            plan = oracle.plan(oracle.start) or ()
            return text, str(oracle.distance), ";".join(puzzle.format_action(move) for move in plan)

        return answer_lines(self.file, ("list", "optimal", "plan"), answer)
