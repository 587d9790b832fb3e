"""Kernels for simple and multi colours."""

from __future__ import annotations

import numba
import numpy as np

from solvers.techniques.board import Board, Geometry
from solvers.techniques.links import partner
from solvers.techniques.log import CELL, ELIMINATION, FURTHER, Int32Array, commit, push, start


@numba.njit(cache=True, nogil=True)
def color_clusters(geometry: Geometry, board: Board, digit: int, color: Int32Array) -> int:
    """Write twice the cluster number plus the colour, 0 or 1, of each linked cell (else -1); return how many clusters."""
    stack = np.empty(color.shape[0], dtype=np.int32)
    color[:] = -1
    clusters = 0
    for first in range(color.shape[0]):
        if color[first] >= 0 or not board.candidates[first] >> digit & 1:
            continue
        stack[0] = first
        waiting = 1
        while waiting:
            waiting -= 1
            cell = stack[waiting]
            for kind in range(3):
                other = partner(geometry, board, cell, digit, kind)
                if other >= 0 and color[other] < 0:
                    color[first] = max(color[first], 2 * clusters)
                    color[other] = color[cell] ^ 1
                    stack[waiting] = other
                    waiting += 1
        if color[first] >= 0:
            clusters += 1
    return clusters


@numba.njit(cache=True, nogil=True)
def _sees_color(geometry: Geometry, color: Int32Array, cell: int, wanted: int) -> bool:
    for peer in geometry.peers[cell]:  # noqa: SIM110
        if color[peer] == wanted:
            return True
    return False


@numba.njit(cache=True, nogil=True)
def _colors_meet(geometry: Geometry, color: Int32Array, one: int, two: int) -> bool:
    """Return whether a cell of one colour sees a cell of the other."""
    for cell in range(color.shape[0]):  # noqa: SIM110
        if color[cell] == one and _sees_color(geometry, color, cell, two):
            return True
    return False


@numba.njit(cache=True, nogil=True)
def _log_colors(
    geometry: Geometry, board: Board, log: Int32Array, code: int, digit: int, color: Int32Array, one: int, two: int
) -> bool:
    """Log the elimination from every cell that sees both colours."""
    start(log, code, 1 << digit)
    for kind, wanted in ((CELL, one), (FURTHER, two)):
        for cell in range(color.shape[0]):
            if color[cell] == wanted:
                push(log, kind, cell)
    for cell in range(color.shape[0]):
        if board.candidates[cell] >> digit & 1 and color[cell] != one and color[cell] != two:
            if _sees_color(geometry, color, cell, one) and _sees_color(geometry, color, cell, two):
                push(log, ELIMINATION, cell * 16 + digit)
    return commit(log)


@numba.njit(cache=True, nogil=True)
def _log_false_color(log: Int32Array, code: int, digit: int, color: Int32Array, false: int) -> bool:
    """Log the elimination from every cell of a colour."""
    start(log, code, 1 << digit)
    for kind in (CELL, ELIMINATION):
        for cell in range(color.shape[0]):
            if color[cell] == false:
                push(log, kind, cell if kind == CELL else cell * 16 + digit)
    return commit(log)


@numba.njit(cache=True, nogil=True)
def simple_colors(geometry: Geometry, board: Board, log: Int32Array, code: int, wrap: bool) -> bool:
    """Log every cluster with cells that see both its colours, or with a colour that sees itself if `wrap`."""
    color = np.empty(geometry.size * geometry.size, dtype=np.int32)
    for digit in range(geometry.size):
        clusters = color_clusters(geometry, board, digit, color)
        for one in range(2 * clusters):
            if wrap:
                if _colors_meet(geometry, color, one, one) and _log_false_color(log, code, digit, color, one):
                    return True
            elif one % 2 == 0 and _log_colors(geometry, board, log, code, digit, color, one, one + 1):
                return True
    return False


@numba.njit(cache=True, nogil=True)
def multi_colors(geometry: Geometry, board: Board, log: Int32Array, code: int, both: bool) -> bool:
    """Log every two clusters of which colours see each other; `both`: one colour sees both of the other cluster."""
    color = np.empty(geometry.size * geometry.size, dtype=np.int32)
    for digit in range(geometry.size):
        clusters = color_clusters(geometry, board, digit, color)
        for one in range(2 * clusters):
            for two in range(2 * clusters):
                if one >> 1 == two >> 1 or not _colors_meet(geometry, color, one, two):
                    continue
                if both:
                    if two & 1 or not _colors_meet(geometry, color, one, two + 1):
                        continue
                    if _log_false_color(log, code, digit, color, one):
                        return True
                elif one < two and _log_colors(geometry, board, log, code, digit, color, one ^ 1, two ^ 1):
                    return True
    return False
