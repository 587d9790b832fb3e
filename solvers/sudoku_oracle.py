"""What an exact solver knows about one Sudoku: its solution, distances, expert fills and boxes."""

from __future__ import annotations

from collections import Counter

import numba
import numpy as np
from numpy.typing import NDArray

from puzzles.sudoku import Fill, Sudoku, SudokuState
from puzzles.sudoku_symmetry import board_text
from solvers.sudoku_repair import fewest_breaks
from solvers.sudoku_search import unit_table
from solvers.sudoku_solve import SolutionCount, solve_batch


@numba.njit(cache=True, nogil=True)
def _single_masks(values: NDArray[np.uint8], units: NDArray[np.int64], masks: NDArray[np.int64]) -> None:
    """Set `masks[cell]` to the digits (bit digit - 1) that a naked or hidden single proves in each blank cell."""
    size = int(np.sqrt(values.shape[0]) + 0.5)
    full = (1 << size) - 1
    used = np.zeros(3 * size, np.int64)
    once = np.zeros(3 * size, np.int64)
    twice = np.zeros(3 * size, np.int64)
    for cell in range(values.shape[0]):
        if values[cell]:
            for kind in range(3):
                used[units[cell, kind]] |= 1 << (np.int64(values[cell]) - 1)
    for cell in range(values.shape[0]):
        masks[cell] = 0
        if values[cell] == 0:
            masks[cell] = full & ~(used[units[cell, 0]] | used[units[cell, 1]] | used[units[cell, 2]])
            for kind in range(3):
                twice[units[cell, kind]] |= once[units[cell, kind]] & masks[cell]
                once[units[cell, kind]] |= masks[cell]
    for cell in range(values.shape[0]):
        free = masks[cell]
        if free & (free - 1):
            shared = twice[units[cell, 0]] & twice[units[cell, 1]] & twice[units[cell, 2]]
            masks[cell] = free & ~shared


def singles(state: SudokuState) -> tuple[Fill, ...]:
    """Return the fills that a naked or hidden single proves, by cell and digit."""
    values = np.frombuffer(state.values, dtype=np.uint8)
    masks = np.empty(len(values), np.int64)
    _single_masks(values, unit_table(round(len(values) ** 0.5)), masks)
    fills = []
    for cell in np.flatnonzero(masks).tolist():
        mask = int(masks[cell])
        while mask:
            fills.append(Fill(cell, (mask & -mask).bit_length()))
            mask &= mask - 1
    return tuple(fills)


class SudokuOracle:
    """Exact knowledge about one Sudoku with exactly one solution.

    Args:
        puzzle: the rules, which say whether own digits may be overwritten.
        start: the start; its givens decide the solution.

    Raises:
        ValueError: if the givens have no solution or several, or the start cannot reach it.
    """

    def __init__(self, puzzle: Sudoku, start: SudokuState) -> None:
        counts, solutions = solve_batch(np.frombuffer(start.givens, dtype=np.uint8)[None], 2)
        if counts[0] != 1:
            found = SolutionCount(int(counts[0]), bool(counts[0] < 2))
            raise ValueError(f"a Sudoku needs exactly one solution; {puzzle.format(start)} has {found}")
        self._puzzle = puzzle
        self._start = start
        self.solution: bytes = solutions[0].tobytes()
        """The solution, one digit per cell."""
        layout = puzzle.layout
        boxes = puzzle.open_boxes(start)
        # Boards as whole numbers, one byte a cell: comparing them with the solution costs one operation.
        self._right = int.from_bytes(self.solution, "little")
        self._boxes = tuple(sum(0xFF << 8 * cell for cell in layout.boxes[box]) for box in boxes)
        self._subgoals = puzzle.subgoals(start)
        self._subgoal_of_box = {box: index for index, box in enumerate(boxes)}
        distance = self.distance_to_go(start)
        if distance is None:
            raise ValueError(f"the start {puzzle.format(start)} holds a wrong digit that may not be overwritten")
        self._distance = distance

    @property
    def start(self) -> SudokuState:
        """The start state."""
        return self._start

    @property
    def distance(self) -> int:
        """Goal distance of the start, in fills: its blanks."""
        return self._distance

    @property
    def solution_text(self) -> str:
        """The solution as one line."""
        return board_text(self.solution)

    @property
    def subgoals(self) -> tuple[str, ...]:
        """`b1` and so on: the boxes with blanks at the start."""
        return self._subgoals

    def wrong_cells(self, state: SudokuState) -> tuple[int, ...]:
        """Return the filled cells whose digit differs from the solution."""
        return tuple(
            cell
            for cell, (held, right) in enumerate(zip(state.values, self.solution, strict=True))
            if held not in (0, right)
        )

    def distance_to_go(self, state: SudokuState) -> int | None:
        """Return the fewest fills and erasures that solve `state`; None if a wrong digit has to stay.

        Without overwriting: the blanks. With it: blanks, wrong digits, and one erasure more for each circle of wrong
        digits that block one another (see `solvers.sudoku_repair`).
        """
        cells, blanks = len(self.solution), state.values.count(0)
        differing = int.from_bytes(state.values, "little") ^ self._right
        wrong = cells - blanks - differing.to_bytes(cells, "little").count(0)
        if not wrong:
            return blanks
        if not self._puzzle.overwrite:
            return None
        misfilled = self.wrong_cells(state)
        if any(state.givens[cell] for cell in misfilled):
            return None
        return blanks + wrong + fewest_breaks(self._debts(state, misfilled))

    def expert_moves(self, state: SudokuState) -> tuple[Fill, ...]:
        """Return what an expert may do next, each on a shortest way; () when solved or out of reach.

        Wrong digits are put right first; where each waits for another, the erasures that break most. Then the fills
        that a single proves, else the right fills of the cells with the fewest candidates.
        """
        distance = self.distance_to_go(state)
        if not distance:
            return ()
        wrong = self.wrong_cells(state)
        if wrong:
            return self._corrections(state, wrong, distance)
        proven = singles(state)
        if proven:
            return proven
        candidates = Counter(cell for cell, _ in self._puzzle.moves(state) if state.values[cell] == 0)
        fewest = min(candidates.values())
        return tuple(Fill(cell, self.solution[cell]) for cell, count in candidates.items() if count == fewest)

    def plan(self, state: SudokuState) -> tuple[Fill, ...] | None:
        """Return a shortest plan: always the first of the expert's moves; None if the solution is out of reach."""
        if self.distance_to_go(state) is None:
            return None
        moves = []
        while following := self.expert_moves(state):
            moves.append(following[0])
            state = self._puzzle.apply(state, following[0])
        return tuple(moves)

    def subgoals_done(self, state: SudokuState) -> tuple[bool, ...]:
        """Return which subgoal boxes are filled as in the solution."""
        differing = int.from_bytes(state.values, "little") ^ self._right
        return tuple([not differing & box for box in self._boxes])

    def own_subgoal(self, state: SudokuState, move: Fill) -> int | None:
        """Return the index of the box that `move` fills in, None if that box was full at the start."""
        return self._subgoal_of_box.get(self._puzzle.layout.box_of[move.cell])

    def _debts(self, state: SudokuState, wrong: tuple[int, ...]) -> dict[int, set[int]]:
        """Return for each wrong cell the wrong peers that hold its right digit."""
        peers = self._puzzle.layout.peers
        return {
            cell: {other for other in wrong if other in peers[cell] and state.values[other] == self.solution[cell]}
            for cell in wrong
        }

    def _corrections(self, state: SudokuState, wrong: tuple[int, ...], distance: int) -> tuple[Fill, ...]:
        """Return the overwritings that put a digit right now, or, without any, the erasures that shorten the way."""
        debts = self._debts(state, wrong)
        direct = tuple(Fill(cell, self.solution[cell]) for cell in wrong if not debts[cell])
        if direct:
            return direct
        erasures = (Fill(cell, 0) for cell in wrong)
        return tuple(move for move in erasures if self.distance_to_go(self._puzzle.apply(state, move)) == distance - 1)
