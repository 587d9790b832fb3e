"""What the single-digit patterns, wings and chains share: two-place houses and cells that see two others."""

from __future__ import annotations

from solvers.techniques.board import Board, Geometry, bit_count, first_bit
from solvers.techniques.compiled import inlined, kernel
from solvers.techniques.log import Int32Array, push_once


@kernel
def push_common(geometry: Geometry, board: Board, log: Int32Array, one: int, two: int, digit: int) -> None:
    """Add the elimination of `digit` from all cells that see both `one` and `two`."""
    for number in range(geometry.peers.shape[1]):
        cell = geometry.peers[one, number]
        if board.candidates[cell] >> digit & 1 and geometry.sees[cell, two]:
            push_once(log, cell * 16 + digit)


@inlined
def has_common(geometry: Geometry, board: Board, one: int, two: int, digit: int) -> bool:
    """Return whether any cell that sees both `one` and `two` has `digit`."""
    for number in range(geometry.peers.shape[1]):
        cell = geometry.peers[one, number]
        if board.candidates[cell] >> digit & 1 and geometry.sees[cell, two]:
            return True
    return False


@inlined
def partner(geometry: Geometry, board: Board, cell: int, digit: int, kind: int) -> int:
    """Return the other cell of two for `digit` in the row, column or box (`kind` 0, 1, 2) of `cell`, or -1."""
    house = geometry.house_of[cell, kind]
    rest = board.places[house, digit] & ~(1 << geometry.index_of[cell, kind])
    if rest == 0 or rest & (rest - 1):
        return -1
    return geometry.cells_of[house, first_bit(rest)]


@kernel
def strong_links(geometry: Geometry, board: Board, digit: int, links: Int32Array) -> int:
    """Write every two cells that alone have `digit` in a house to `links`, shape [3·size, 2]; return how many."""
    count = 0
    for house in range(3 * geometry.size):
        mask = board.places[house, digit]
        rest = mask & (mask - 1)
        if rest == 0 or rest & (rest - 1):
            continue
        one, two = geometry.cells_of[house, first_bit(mask)], geometry.cells_of[house, first_bit(rest)]
        if house >= 2 * geometry.size and (
            partner(geometry, board, one, digit, 0) == two or partner(geometry, board, one, digit, 1) == two
        ):
            continue
        links[count, 0], links[count, 1] = one, two
        count += 1
    return count


@kernel
def pair_cells(board: Board, cells: Int32Array) -> int:
    """Write every cell with two candidates to `cells`; return how many."""
    count = 0
    for cell in range(board.candidates.shape[0]):
        if bit_count(board.candidates[cell]) == 2:
            cells[count] = cell
            count += 1
    return count
