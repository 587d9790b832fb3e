"""Kernels for remote pair, X-chain and XY-chain: breadth-first from each start, so that chains are shortest ones."""

from __future__ import annotations

import numpy as np

from solvers.techniques.board import Board, Geometry, bit_count, first_bit
from solvers.techniques.compiled import kernel
from solvers.techniques.links import has_common, partner, push_common
from solvers.techniques.log import CELL, Int32Array, commit, push, start

MOST_LINKS = 20
"""Longest chain that is looked for cell by cell."""
SEARCH_LIMIT = 5_000
"""Cells that this search looks at before it gives up."""


@kernel
def _trace(before: Int32Array, end: int, divisor: int, chain: Int32Array) -> int:
    """Write the cells of the way to node `end`, backwards, to `chain`; return how many, or 0 if a cell comes twice."""
    length = 0
    node = end
    while node >= 0:
        cell = node // divisor
        for at in range(length):
            if chain[at] == cell:
                return 0
        chain[length] = cell
        length += 1
        node = before[node]
    return length


@kernel
def _log_chain(
    geometry: Geometry, board: Board, log: Int32Array, code: int, digits: int, removed: int, chain: Int32Array
) -> bool:
    """Log the elimination of the digits `removed` from cells that see both ends."""
    start(log, code, digits)
    for cell in chain[::-1]:
        push(log, CELL, cell)
    for digit in range(geometry.size):
        if removed >> digit & 1:
            push_common(geometry, board, log, chain[0], chain[-1], digit)
    return commit(log)


@kernel
def _pair_tree(geometry: Geometry, board: Board, first: int, before: Int32Array, queue: Int32Array) -> int:
    """Search breadth-first through the cells with the candidates of `first`; return how many were reached."""
    before[:] = -2
    before[first] = -1
    queue[0] = first
    reached, at = 1, 0
    while at < reached:
        for number in range(geometry.peers.shape[1]):
            cell = geometry.peers[queue[at], number]
            if board.candidates[cell] == board.candidates[first] and before[cell] == -2:
                before[cell] = queue[at]
                queue[reached] = cell
                reached += 1
        at += 1
    return reached


@kernel
def _log_whole_chain(geometry: Geometry, board: Board, log: Int32Array, code: int, chain: Int32Array) -> bool:
    """Log what every two cells of the chain an odd number of links apart, at least three, remove."""
    mask = board.candidates[chain[0]]
    start(log, code, mask)
    for cell in chain[::-1]:
        push(log, CELL, cell)
    for one in range(chain.shape[0]):
        for two in range(one + 3, chain.shape[0], 2):
            for digit in range(geometry.size):
                if mask >> digit & 1:
                    push_common(geometry, board, log, chain[one], chain[two], digit)
    return commit(log)


@kernel
def _log_cluster(
    geometry: Geometry, board: Board, log: Int32Array, code: int, before: Int32Array, cells: Int32Array
) -> bool:
    """Log what all chains between the cells of a tree remove together; `cells` in the order of the search."""
    mask = board.candidates[cells[0]]
    odd = np.zeros(before.shape[0], np.bool_)
    start(log, code, mask)
    for cell in cells:
        push(log, CELL, cell)
        odd[cell] = before[cell] >= 0 and not odd[before[cell]]
    for one in cells:
        for two in cells:
            if one < two and odd[one] != odd[two] and not geometry.sees[one, two]:
                for digit in range(geometry.size):
                    if mask >> digit & 1:
                        push_common(geometry, board, log, one, two, digit)
    return commit(log)


@kernel
def remote_pairs(geometry: Geometry, board: Board, log: Int32Array, code: int) -> bool:
    """Log every shortest chain of equal pair cells with at least three links, and all of a cluster together."""
    cells = geometry.size * geometry.size
    before, queue, chain = np.empty(cells, np.int32), np.empty(cells, np.int32), np.empty(cells, np.int32)
    for first in range(cells):
        if bit_count(board.candidates[first]) != 2:
            continue
        reached = _pair_tree(geometry, board, first, before, queue)
        if (
            reached > 4
            and first == queue[:reached].min()
            and _log_cluster(geometry, board, log, code, before, queue[:reached])
        ):
            return True
        for cell in queue[:reached]:
            length = _trace(before, cell, 1, chain)
            if length >= 4 and cell > first:
                if length % 2 == 0 and _log_chain(
                    geometry, board, log, code, board.candidates[first], board.candidates[first], chain[:length]
                ):
                    return True
                if length > 4 and _log_whole_chain(geometry, board, log, code, chain[:length]):
                    return True
    return False


@kernel
def _digit_tree(geometry: Geometry, board: Board, digit: int, first: int, before: Int32Array, queue: Int32Array) -> int:
    """Search from `first` not being `digit`; node 2·cell is "not", 2·cell + 1 "is"; return how many were reached."""
    before[:] = -2
    before[2 * first] = -1
    queue[0] = 2 * first
    reached, at = 1, 0
    while at < reached:
        node = queue[at]
        cell = node // 2
        at += 1
        if node & 1:
            for number in range(geometry.peers.shape[1]):
                peer = geometry.peers[cell, number]
                if board.candidates[peer] >> digit & 1 and before[2 * peer] == -2:
                    before[2 * peer] = node
                    queue[reached] = 2 * peer
                    reached += 1
            continue
        for kind in range(3):
            other = partner(geometry, board, cell, digit, kind)
            if other >= 0 and before[2 * other + 1] == -2:
                before[2 * other + 1] = node
                queue[reached] = 2 * other + 1
                reached += 1
    return reached


@kernel
def x_chains(geometry: Geometry, board: Board, log: Int32Array, code: int) -> bool:
    """Log a shortest chain on one digit between every two cells of which one must hold it."""
    nodes = 2 * geometry.size * geometry.size
    before, queue, chain = np.empty(nodes, np.int32), np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    for digit in range(geometry.size):
        for first in range(nodes // 2):
            if not board.candidates[first] >> digit & 1:
                continue
            reached = _digit_tree(geometry, board, digit, first, before, queue)
            for node in queue[:reached]:
                if node & 1 and node // 2 > first and has_common(geometry, board, first, node // 2, digit):
                    length = _trace(before, node, 2, chain)
                    if length >= 4 and _log_chain(geometry, board, log, code, 1 << digit, 1 << digit, chain[:length]):
                        return True
    return False


@kernel
def _cell_tree(geometry: Geometry, board: Board, first: int, digit: int, before: Int32Array, queue: Int32Array) -> int:
    """Search from the pair cell `first` holding `digit`; node size·cell + digit is "cell holds digit"."""
    before[:] = -2
    before[geometry.size * first + digit] = -1
    queue[0] = geometry.size * first + digit
    reached, at = 1, 0
    while at < reached:
        node = queue[at]
        at += 1
        held = node % geometry.size
        for number in range(geometry.peers.shape[1]):
            peer = geometry.peers[node // geometry.size, number]
            mask = board.candidates[peer]
            if mask >> held & 1 and bit_count(mask) == 2:
                other = geometry.size * peer + first_bit(mask & ~(1 << held))
                if before[other] == -2:
                    before[other] = node
                    queue[reached] = other
                    reached += 1
    return reached


@kernel
def _chain_without_repeat(
    geometry: Geometry, board: Board, first: int, last: int, digit: int, chain: Int32Array
) -> int:
    """Search depth-first for a chain from `last` back to `first`, both ending in `digit`; return its length or 0.

    For the few cases in which the shortest way visits a cell twice; gives up after `SEARCH_LIMIT` looks.
    """
    peers = geometry.peers
    position, held = np.zeros(MOST_LINKS + 1, np.int32), np.zeros(MOST_LINKS + 1, np.int32)
    chain[0], held[0] = last, first_bit(board.candidates[last] & ~(1 << digit))
    length = 1
    for _ in range(SEARCH_LIMIT):
        if length == 0:
            return 0
        at = length - 1
        if position[at] == peers.shape[1] or length > MOST_LINKS:
            length -= 1
            continue
        peer = peers[chain[at], position[at]]
        position[at] += 1
        mask = board.candidates[peer]
        if bit_count(mask) != 2 or not mask >> held[at] & 1 or np.any(chain[:length] == peer):
            continue
        chain[length], position[length] = peer, 0
        length += 1
        if length <= MOST_LINKS:
            held[length - 1] = first_bit(mask & ~(1 << held[at]))
        if peer == first:
            if length >= 3 and mask == (1 << held[at] | 1 << digit):
                return length
            length -= 1
    return 0


@kernel
def xy_chains(geometry: Geometry, board: Board, log: Int32Array, code: int) -> bool:
    """Log a shortest chain of pair cells between every two of which one must hold a digit."""
    size = geometry.size
    nodes = size**3
    before, queue, chain = np.empty(nodes, np.int32), np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    for first in range(size * size):
        mask = board.candidates[first]
        if bit_count(mask) != 2:
            continue
        for digit in range(size):
            if not mask >> digit & 1:
                continue
            target = first_bit(mask & ~(1 << digit))
            reached = _cell_tree(geometry, board, first, digit, before, queue)
            for node in queue[:reached]:
                last = node // size
                if node % size == target and last > first and has_common(geometry, board, first, last, target):
                    length = _trace(before, node, size, chain)
                    if length == 0:
                        length = _chain_without_repeat(geometry, board, first, last, target, chain)
                    if length >= 3 and _log_chain(geometry, board, log, code, 1 << target, 1 << target, chain[:length]):
                        return True
    return False
