"""Kernels for avoidable rectangles: solved corners that were not given could still be exchanged."""

from __future__ import annotations

from solvers.techniques.board import Board, Geometry, bit_count, first_bit
from solvers.techniques.compiled import inlined, kernel
from solvers.techniques.links import push_common
from solvers.techniques.log import Int32Array, commit
from solvers.techniques.records import push_present, start_rectangle


@inlined
def _open_corners(board: Board, corners: Int32Array) -> int:
    """Return the mask of empty corners, or all if one was given."""
    mask = 0
    for corner in range(4):
        if board.given[corners[corner]]:
            return 0b1111
        if not board.values[corners[corner]]:
            mask |= 1 << corner
    return mask


@kernel
def _three_filled(board: Board, log: Int32Array, code: int, corners: Int32Array, empty: int) -> bool:
    """Log the digit that the empty corner, with two candidates, must not take."""
    values = board.values[corners]
    if bit_count(board.candidates[corners[empty]]) != 2:
        return False
    opposite = values[(empty + 2) % 4]
    if values[(empty + 1) % 4] != values[(empty + 3) % 4] or values[(empty + 1) % 4] == opposite:
        return False
    start_rectangle(log, code, 1 << (opposite - 1) | 1 << (values[(empty + 1) % 4] - 1), corners)
    push_present(board, log, corners[empty], 1 << (opposite - 1))
    return commit(log)


@kernel
def _two_filled(
    geometry: Geometry, board: Board, log: Int32Array, code: int, corners: Int32Array, one: int, two: int
) -> bool:
    """Log the third candidate of the empty corners `one` and `two`, next to each other."""
    first, second = board.candidates[corners[one]], board.candidates[corners[two]]
    wanted = 1 << (board.values[corners[(one + 2) % 4]] - 1)
    wanted_two = 1 << (board.values[corners[(two + 2) % 4]] - 1)
    third = first & ~wanted
    if wanted == wanted_two or not first & wanted or not second & wanted_two:
        return False
    if bit_count(third) != 1 or second != wanted_two | third:
        return False
    start_rectangle(log, code, wanted | wanted_two | third, corners)
    push_common(geometry, board, log, corners[one], corners[two], first_bit(third))
    return commit(log)


@kernel
def avoidable_rectangles(geometry: Geometry, board: Board, log: Int32Array, code: int, empty: int) -> bool:
    """Log every avoidable rectangle with `empty` corners, 1 or 2, still open."""
    for cell in range(geometry.sees.shape[0]):
        if board.given[cell]:
            continue
        rectangles = geometry.rectangles[cell]
        for number in range(rectangles.shape[0]):
            if cell > rectangles[number, 1] or cell > rectangles[number, 3]:
                continue
            corners = rectangles[number]
            open_corners = _open_corners(board, corners)
            if bit_count(open_corners) != empty:
                continue
            one = first_bit(open_corners)
            if empty == 1:
                if _three_filled(board, log, code, corners, one):
                    return True
                continue
            two = first_bit(open_corners & (open_corners - 1))
            if (two - one) % 2 and _two_filled(geometry, board, log, code, corners, one, two):
                return True
    return False
