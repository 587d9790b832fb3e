"""The technique checker: what a person needs to know to solve a Sudoku, after HoDoKu's order, names and scores.

`grade` solves by the easiest technique at every step and reports level, score, hardest technique, counts and path;
`find` lists every instance of one technique in a candidate state; `solvable_with` asks whether a set suffices.
"""

from solvers.techniques.finding import find
from solvers.techniques.grading import GradeResult, grade, grade_batch, grade_each, solvable_with
from solvers.techniques.state import CandidateState
from solvers.techniques.steps import Step
from solvers.techniques.table import BEYOND, LEVEL_LIMITS, TECHNIQUES, Technique

__all__ = [
    "BEYOND",
    "LEVEL_LIMITS",
    "TECHNIQUES",
    "CandidateState",
    "GradeResult",
    "Step",
    "Technique",
    "find",
    "grade",
    "grade_batch",
    "grade_each",
    "solvable_with",
]
