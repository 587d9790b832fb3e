"""Kernels for W-wing, XY-wing and XYZ-wing."""

from __future__ import annotations

import numpy as np

from solvers.techniques.board import Board, Geometry, bit_count, first_bit
from solvers.techniques.compiled import inlined, kernel
from solvers.techniques.links import has_common, pair_cells, push_common, strong_links
from solvers.techniques.log import CELL, ELIMINATION, FURTHER, Int32Array, commit, push, start


@kernel
def _log_w_wing(
    geometry: Geometry, board: Board, log: Int32Array, code: int, one: int, two: int, digit: int, near: int, far: int
) -> bool:
    """Log the elimination of the other candidate than `digit`, of which `near` and `far` are the two places."""
    sees = geometry.sees
    if not (sees[one, near] and sees[two, far]) and not (sees[one, far] and sees[two, near]):
        return False
    if near in (one, two) or far in (one, two):
        return False
    mask = board.candidates[one]
    start(log, code, mask)
    push(log, CELL, one)
    push(log, CELL, two)
    push(log, FURTHER, near)
    push(log, FURTHER, far)
    push_common(geometry, board, log, one, two, first_bit(mask & ~(1 << digit)))
    return commit(log)


@kernel
def _join_pair(
    geometry: Geometry,
    board: Board,
    log: Int32Array,
    code: int,
    one: int,
    two: int,
    links: Int32Array,
    count: Int32Array,
) -> bool:
    for digit in range(geometry.size - 1, -1, -1):
        other = first_bit(board.candidates[one] & ~(1 << digit))
        if board.candidates[one] >> digit & 1 and has_common(geometry, board, one, two, other):
            if count[digit] < 0:
                count[digit] = strong_links(geometry, board, digit, links[digit])
            for link in range(count[digit]):
                near, far = links[digit, link, 0], links[digit, link, 1]
                if _log_w_wing(geometry, board, log, code, one, two, digit, near, far):
                    return True
    return False


@kernel
def w_wings(geometry: Geometry, board: Board, log: Int32Array, code: int) -> bool:
    """Log every two equal pair cells that a two-place house connects."""
    cells = np.empty(geometry.size * geometry.size, dtype=np.int32)
    links = np.empty((geometry.size, 3 * geometry.size, 2), dtype=np.int32)
    link_count = np.full(geometry.size, -1, dtype=np.int32)
    count = pair_cells(board, cells)
    for number in range(count):
        for other in range(number + 1, count):
            one, two = cells[number], cells[other]
            if board.candidates[two] == board.candidates[one] and _join_pair(
                geometry, board, log, code, one, two, links, link_count
            ):
                return True
    return False


@kernel
def _log_pincers(
    geometry: Geometry, board: Board, log: Int32Array, code: int, pivot: int, one: int, two: int, within: bool
) -> bool:
    digit = first_bit(board.candidates[one] & board.candidates[two])
    start(log, code, board.candidates[one] | board.candidates[two])
    push(log, CELL, pivot)
    push(log, CELL, one)
    push(log, CELL, two)
    for number in range(geometry.peers.shape[1]):
        cell = geometry.peers[one, number]
        if board.candidates[cell] >> digit & 1 and geometry.sees[cell, two]:
            if within and not geometry.sees[cell, pivot]:
                continue
            push(log, ELIMINATION, cell * 16 + digit)
    return commit(log)


@inlined
def _xy_pivot(geometry: Geometry, one: int, two: int, three: int) -> bool:
    return geometry.sees[one, two] and geometry.sees[one, three]


@kernel
def xy_wings(geometry: Geometry, board: Board, log: Int32Array, code: int) -> bool:
    """Log every three pair cells with three digits between them of which one sees the others."""
    cells = np.empty(geometry.size * geometry.size, dtype=np.int32)
    count = pair_cells(board, cells)
    for number in range(count):
        one = cells[number]
        for other in range(number + 1, count):
            two = cells[other]
            masks = board.candidates[one] | board.candidates[two]
            if bit_count(masks) != 3:
                continue
            for last in range(other + 1, count):
                three = cells[last]
                mask = board.candidates[three]
                if mask & ~masks or mask in (board.candidates[one], board.candidates[two]):
                    continue
                if _xy_pivot(geometry, one, two, three) and _log_pincers(
                    geometry, board, log, code, one, two, three, False
                ):
                    return True
                if _xy_pivot(geometry, two, one, three) and _log_pincers(
                    geometry, board, log, code, two, one, three, False
                ):
                    return True
                if _xy_pivot(geometry, three, one, two) and _log_pincers(
                    geometry, board, log, code, three, one, two, False
                ):
                    return True
    return False


@kernel
def xyz_wings(geometry: Geometry, board: Board, log: Int32Array, code: int) -> bool:
    """Log every cell with three candidates that sees two different pair cells with two of them each."""
    for pivot in range(geometry.sees.shape[0]):
        mask = board.candidates[pivot]
        if bit_count(mask) != 3:
            continue
        for one in geometry.peers[pivot]:
            first = board.candidates[one]
            if bit_count(first) != 2 or first & ~mask:
                continue
            for two in geometry.peers[pivot]:
                second = board.candidates[two]
                if two <= one or bit_count(second) != 2 or second & ~mask or second == first:
                    continue
                if _log_pincers(geometry, board, log, code, pivot, one, two, True):
                    return True
    return False
