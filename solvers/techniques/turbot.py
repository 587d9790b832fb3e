"""Kernels for skyscraper, 2-string kite and turbot fish: two two-place houses of one digit and a link between them."""

from __future__ import annotations

import numpy as np

from solvers.techniques.board import Board, Geometry, bit_count, first_bit
from solvers.techniques.compiled import inlined, kernel
from solvers.techniques.links import has_common, partner, push_common, strong_links
from solvers.techniques.log import CELL, ELIMINATION, FURTHER, START, Int32Array, commit, push, start


@kernel
def _log_pair(
    geometry: Geometry, board: Board, log: Int32Array, code: int, digit: int, ends: tuple[int, int, int, int]
) -> bool:
    """Log a pattern whose loose ends are the first two cells and whose linked cells are the others."""
    start(log, code, 1 << digit)
    push(log, CELL, ends[0])
    push(log, CELL, ends[1])
    push(log, FURTHER, ends[2])
    push(log, FURTHER, ends[3])
    push_common(geometry, board, log, ends[0], ends[1], digit)
    return commit(log)


@kernel
def skyscrapers(geometry: Geometry, board: Board, log: Int32Array, code: int) -> bool:
    """Log every pair of parallel two-place lines that share one crossing line."""
    size = geometry.size
    for first in (0, size):
        for digit in range(size):
            for line in range(first, first + size):
                places = board.places[line, digit]
                for other in range(line + 1, first + size if bit_count(places) == 2 else 0):
                    rest = board.places[other, digit]
                    if bit_count(rest) != 2 or bit_count(places & rest) != 1:
                        continue
                    shared = first_bit(places & rest)
                    ends = (
                        geometry.cells_of[line, first_bit(places & ~rest)],
                        geometry.cells_of[other, first_bit(rest & ~places)],
                        geometry.cells_of[line, shared],
                        geometry.cells_of[other, shared],
                    )
                    if has_common(geometry, board, ends[0], ends[1], digit) and _log_pair(
                        geometry, board, log, code, digit, ends
                    ):
                        return True
    return False


@kernel
def _log_dual_kite(
    geometry: Geometry, board: Board, log: Int32Array, code: int, digit: int, one: int, two: int
) -> bool:
    ends = (
        partner(geometry, board, one, digit, 0),
        partner(geometry, board, two, digit, 1),
        partner(geometry, board, one, digit, 1),
        partner(geometry, board, two, digit, 0),
    )
    if min(ends) < 0:
        return False
    start(log, code, 1 << digit)
    push(log, CELL, ends[0])
    push(log, CELL, ends[1])
    push(log, CELL, ends[2])
    push(log, CELL, ends[3])
    push(log, FURTHER, one)
    push(log, FURTHER, two)
    push_common(geometry, board, log, ends[0], ends[1], digit)
    removed = log[log[START] + ELIMINATION]
    push_common(geometry, board, log, ends[2], ends[3], digit)
    if removed == 0 or log[log[START] + ELIMINATION] == removed:
        log[log[START] + ELIMINATION] = 0
    return commit(log)


@inlined
def _log_kite(geometry: Geometry, board: Board, log: Int32Array, code: int, digit: int, one: int, two: int) -> bool:
    row_end = partner(geometry, board, one, digit, 0)
    column_end = partner(geometry, board, two, digit, 1)
    if row_end < 0 or column_end < 0 or row_end == column_end:
        return False
    if not has_common(geometry, board, row_end, column_end, digit):
        return False
    return _log_pair(geometry, board, log, code, digit, (row_end, column_end, one, two))


@kernel
def kites(geometry: Geometry, board: Board, log: Int32Array, code: int, dual: bool) -> bool:
    """Log every 2-string kite, or every pair of kites that meet in the same two cells if `dual`."""
    for digit in range(geometry.size):
        for box in range(2 * geometry.size, 3 * geometry.size):
            places = board.places[box, digit]
            if not places & (places - 1):
                continue
            for index in range(geometry.size):
                one = geometry.cells_of[box, index]
                if not places >> index & 1 or partner(geometry, board, one, digit, 0) < 0:
                    continue
                for other in range(index if dual else 0, geometry.size):
                    two = geometry.cells_of[box, other]
                    if (
                        not places >> other & 1
                        or geometry.house_of[one, 0] == geometry.house_of[two, 0]
                        or geometry.house_of[one, 1] == geometry.house_of[two, 1]
                    ):
                        continue
                    if dual and _log_dual_kite(geometry, board, log, code, digit, one, two):
                        return True
                    if not dual and _log_kite(geometry, board, log, code, digit, one, two):
                        return True
    return False


@kernel
def turbot_fish(geometry: Geometry, board: Board, log: Int32Array, code: int) -> bool:
    """Log every pair of two-place houses of which one cell sees a cell of the other."""
    links = np.empty((3 * geometry.size, 2), dtype=np.int32)
    for digit in range(geometry.size):
        count = strong_links(geometry, board, digit, links)
        for number in range(count):
            for turn in range(4 * (number + 1), 4 * count):
                near, other, far = turn >> 1 & 1, turn >> 2, turn & 1
                ends = links[number, 1 - near], links[other, 1 - far], links[number, near], links[other, far]
                if (
                    geometry.sees[ends[2], ends[3]]
                    and ends[0] != ends[1]
                    and ends[0] != ends[3]
                    and ends[1] != ends[2]
                    and has_common(geometry, board, ends[0], ends[1], digit)
                    and _log_pair(geometry, board, log, code, digit, ends)
                ):
                    return True
    return False
