"""Kernels for W-wing, XY-wing and XYZ-wing."""

from __future__ import annotations

import numba
import numpy as np

from solvers.techniques.board import Board, Geometry, bit_count, first_bit
from solvers.techniques.links import pair_cells, push_common, strong_links
from solvers.techniques.log import CELL, ELIMINATION, FURTHER, Int32Array, commit, push, start


@numba.njit(cache=True, nogil=True)
def _log_w_wing(
    geometry: Geometry, board: Board, log: Int32Array, code: int, one: int, two: int, digit: int, link: Int32Array
) -> bool:
    """Log the elimination of the other candidate than `digit`, which `link` connects."""
    sees = geometry.sees
    if not (sees[one, link[0]] and sees[two, link[1]]) and not (sees[one, link[1]] and sees[two, link[0]]):
        return False
    if link[0] in (one, two) or link[1] in (one, two):
        return False
    mask = board.candidates[one]
    start(log, code, mask)
    push(log, CELL, one)
    push(log, CELL, two)
    push(log, FURTHER, link[0])
    push(log, FURTHER, link[1])
    push_common(geometry, board, log, one, two, first_bit(mask & ~(1 << digit)))
    return commit(log)


@numba.njit(cache=True, nogil=True)
def w_wings(geometry: Geometry, board: Board, log: Int32Array, code: int) -> bool:
    """Log every two equal pair cells that a two-place house connects."""
    cells = np.empty(geometry.size * geometry.size, dtype=np.int32)
    links = np.empty((3 * geometry.size, 2), dtype=np.int32)
    count = pair_cells(board, cells)
    for digit in range(geometry.size):
        link_count = strong_links(geometry, board, digit, links)
        for number in range(count if link_count else 0):
            one = cells[number]
            if not board.candidates[one] >> digit & 1:
                continue
            for two in cells[number + 1 : count]:
                if board.candidates[two] != board.candidates[one] or geometry.sees[one, two]:
                    continue
                for link in range(link_count):
                    if _log_w_wing(geometry, board, log, code, one, two, digit, links[link]):
                        return True
    return False


@numba.njit(cache=True, nogil=True)
def _log_pincers(
    geometry: Geometry, board: Board, log: Int32Array, code: int, pivot: int, one: int, two: int, within: bool
) -> bool:
    digit = first_bit(board.candidates[one] & board.candidates[two])
    start(log, code, board.candidates[one] | board.candidates[two])
    push(log, CELL, pivot)
    push(log, CELL, one)
    push(log, CELL, two)
    for cell in geometry.peers[one]:
        if board.candidates[cell] >> digit & 1 and geometry.sees[cell, two]:
            if within and not geometry.sees[cell, pivot]:
                continue
            push(log, ELIMINATION, cell * 16 + digit)
    return commit(log)


@numba.njit(cache=True, nogil=True)
def pincer_wings(geometry: Geometry, board: Board, log: Int32Array, code: int, within: bool) -> bool:
    """Log every XY-wing, or every XYZ-wing if `within`: the pivot then holds the removed digit too."""
    for pivot in range(geometry.sees.shape[0]):
        mask = board.candidates[pivot]
        if bit_count(mask) != (3 if within else 2):
            continue
        for one in geometry.peers[pivot]:
            first = board.candidates[one]
            if bit_count(first) != 2 or bit_count(first & mask) != (2 if within else 1):
                continue
            for two in geometry.peers[pivot]:
                second = board.candidates[two]
                if two <= one or bit_count(second) != 2 or bit_count(first & second) != 1:
                    continue
                if bit_count(first | second) != 3 or first | second | mask != first | second:
                    continue
                if not within and first & second & mask:
                    continue
                if _log_pincers(geometry, board, log, code, pivot, one, two, within):
                    return True
    return False
