"""Every instance of one technique in one candidate state."""

from __future__ import annotations

from puzzles.sudoku import SudokuState
from solvers.techniques.basic import BASIC_CODES, search_basic
from solvers.techniques.board import geometry
from solvers.techniques.log import FIRST, FULL, USED, new_log
from solvers.techniques.state import CandidateState, read_state
from solvers.techniques.steps import Step, read_steps
from solvers.techniques.table import code_of


def find(state: str | SudokuState | CandidateState, technique: str) -> tuple[Step, ...]:
    """Return every instance of a technique, each with what it removes or places.

    Instances with the same cells and the same result are listed once.

    Args:
        state: a board as text or puzzle state (with all candidates that no digit rules out), or a candidate state.
        technique: its name, as in `TECHNIQUES`.

    Raises:
        ValueError: if the board is malformed or the name unknown.

    >>> [str(step) for step in find("1.3434122143.321", "Full House")]
    ['Full House: r1c2=2', 'Full House: r4c1=4']
    """
    code = code_of(technique)
    wanted = read_state(state)
    board, shape = wanted.board(), geometry(wanted.size)
    length = 1 << 16
    while True:
        log = new_log(length)
        if code < BASIC_CODES:
            search_basic(code, shape, board, log)
        else:
            from solvers.techniques.advanced import search_advanced

            search_advanced(code, shape, board, log)
        if not log[FULL]:
            break
        length *= 4
    steps = read_steps(log[FIRST : log[USED]], wanted.size)
    distinct = {(frozenset(step.cells), step.eliminations, step.placements): step for step in steps}
    return tuple(distinct.values())
