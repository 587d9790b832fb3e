"""`horizon-bench grade`: what it takes to solve each Sudoku, one puzzle a line in, one grade a line out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from studies.lines import answer_lines


@dataclass(frozen=True)
class Grade:
    """Grade Sudokus of 4x4, 6x6 or 9x9 by the techniques they need, one a line; blanks are `.` or `0`."""

    file: tyro.conf.Positional[Path | None] = None
    """File of puzzles; standard input by default."""
    restrict: tuple[str, ...] = ()
    """Techniques that may be used, by name; by default all."""
    path: bool = False
    """Add a column with every step, in order."""

    def run(self) -> int:
        """Print `givens level score hardest techniques` a line; `-` for what a puzzle does not have."""
        from solvers.techniques import grade
        from solvers.techniques.table import codes_of

        restrict = self.restrict or None
        codes_of(self.restrict)

        def answer(puzzle: str) -> tuple[str, ...]:
            result = grade(puzzle, restrict)
            used = "; ".join(f"{name}:{count}" for name, count in result.techniques.items())
            score = "-" if result.score is None else str(result.score)
            row = (puzzle, result.level, score, result.hardest or "-", used or "-")
            return (*row, " | ".join(map(str, result.path)) or "-") if self.path else row

        header = ("givens", "level", "score", "hardest", "techniques")
        return answer_lines(self.file, (*header, "path") if self.path else header, answer)
