"""Exact Sudoku answers under their public names: solve, count, enumerate, singles, and the oracle of one instance.

Functions take a puzzle as text of 16, 36, 81 or 256 cells or as a `SudokuState`; batches are arrays of digits.
"""

from solvers.sudoku_oracle import SudokuOracle, singles
from solvers.sudoku_solve import SolutionCount, count_solutions, enumerate_solutions, grid_text, solve, solve_batch

__all__ = [
    "SolutionCount",
    "SudokuOracle",
    "count_solutions",
    "enumerate_solutions",
    "grid_text",
    "singles",
    "solve",
    "solve_batch",
]
