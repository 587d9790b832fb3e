"""Kernels for simple and multi colours."""

from __future__ import annotations

import numpy as np

from solvers.techniques.board import Board, Geometry
from solvers.techniques.compiled import kernel
from solvers.techniques.links import partner
from solvers.techniques.log import CELL, ELIMINATION, FURTHER, Int32Array, commit, push, push_once, start


@kernel
def color_clusters(geometry: Geometry, board: Board, digit: int, color: Int32Array) -> int:
    """Write twice the cluster number plus the colour, 0 or 1, of each linked cell (else -1); return their number."""
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


@kernel
def _sees_color(geometry: Geometry, color: Int32Array, cell: int, wanted: int) -> bool:
    for number in range(geometry.peers.shape[1]):  # noqa: SIM110
        if color[geometry.peers[cell, number]] == wanted:
            return True
    return False


@kernel
def _colors_meet(geometry: Geometry, color: Int32Array, one: int, two: int) -> bool:
    """Return whether a cell of one colour sees a cell of the other."""
    for cell in range(color.shape[0]):  # noqa: SIM110
        if color[cell] == one and _sees_color(geometry, color, cell, two):
            return True
    return False


@kernel
def _push_seeing_both(
    geometry: Geometry, board: Board, log: Int32Array, digit: int, color: Int32Array, one: int, two: int
) -> None:
    for cell in range(color.shape[0]):
        if (
            board.candidates[cell] >> digit & 1
            and color[cell] not in (one, two)
            and _sees_color(geometry, color, cell, one)
            and _sees_color(geometry, color, cell, two)
        ):
            push_once(log, cell * 16 + digit)


@kernel
def _log_colors(
    geometry: Geometry, board: Board, log: Int32Array, code: int, digit: int, color: Int32Array, one: int, two: int
) -> bool:
    """Log the elimination from every cell that sees both colours."""
    start(log, code, 1 << digit)
    for kind, wanted in ((CELL, one), (FURTHER, two)):
        for cell in range(color.shape[0]):
            if color[cell] == wanted:
                push(log, kind, cell)
    _push_seeing_both(geometry, board, log, digit, color, one, two)
    return commit(log)


@kernel
def _log_false_color(log: Int32Array, code: int, digit: int, color: Int32Array, false: int) -> bool:
    """Log the elimination from every cell of a colour."""
    start(log, code, 1 << digit)
    for kind in (CELL, ELIMINATION):
        for cell in range(color.shape[0]):
            if color[cell] == false:
                push(log, kind, cell if kind == CELL else cell * 16 + digit)
    return commit(log)


@kernel
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


@kernel
def _log_cluster_pair(
    geometry: Geometry, board: Board, log: Int32Array, code: int, digit: int, color: Int32Array, one: int, two: int
) -> bool:
    """Log what all colours of two clusters that see each other remove together."""
    start(log, code, 1 << digit)
    for kind, cluster in ((CELL, one), (FURTHER, two)):
        for cell in range(color.shape[0]):
            if color[cell] >> 1 == cluster:
                push(log, kind, cell)
    for turn in range(4):
        first, second = 2 * one + (turn & 1), 2 * two + (turn >> 1)
        if _colors_meet(geometry, color, first ^ 1, second ^ 1):
            _push_seeing_both(geometry, board, log, digit, color, first, second)
    return commit(log)


@kernel
def multi_colors(geometry: Geometry, board: Board, log: Int32Array, code: int, both: bool) -> bool:
    """Log every two clusters of which colours see each other; `both`: one colour sees both of the other cluster."""
    color = np.empty(geometry.size * geometry.size, dtype=np.int32)
    for digit in range(geometry.size):
        clusters = color_clusters(geometry, board, digit, color)
        for one in range(clusters):
            for two in range(clusters):
                if not both and one < two and _log_cluster_pair(geometry, board, log, code, digit, color, one, two):
                    return True
                for false in range(2 * one, 2 * one + 2 if both and one != two else 0):
                    if (
                        _colors_meet(geometry, color, false, 2 * two)
                        and _colors_meet(geometry, color, false, 2 * two + 1)
                        and _log_false_color(log, code, digit, color, false)
                    ):
                        return True
    return False
