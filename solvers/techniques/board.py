"""A Sudoku board with candidates as bit masks, for compiled code: two views that every change keeps in step.

`Board.candidates` holds the candidates of each cell, `Board.places` the places of each digit in each house. A technique
reads whichever view makes it a matter of a few bit operations. Digits count from 0 here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from puzzles.sudoku_layout import SudokuLayout, sudoku_layout
from solvers.techniques.compiled import entry, inlined, kernel

Int32Array = NDArray[np.int32]
BoolArray = NDArray[np.bool_]
Uint8Array = NDArray[np.uint8]


class Geometry(NamedTuple):
    """Who sees whom on a board of one size."""

    size: int
    """Digits, rows, columns and boxes."""
    box_rows: int
    """Rows of a box."""
    box_columns: int
    """Columns of a box."""
    cells_of: Int32Array
    """Cells of each house (rows, then columns, then boxes), shape [3·size, size]."""
    house_of: Int32Array
    """Row, column and box of each cell as house numbers, shape [cells, 3]."""
    index_of: Int32Array
    """Place of each cell in its row, column and box, shape [cells, 3]."""
    peers: Int32Array
    """Cells that each cell sees, shape [cells, peers]."""
    sees: BoolArray
    """Whether a cell sees another, shape [cells, cells]."""
    subsets: Int32Array
    """Masks of all subsets of 1, then 2, 3 and 4 of `size` things."""
    subset_start: Int32Array
    """Where in `subsets` those of k things begin, at k, and end, at k + 1."""
    shared: Int32Array
    """Mask of the places of one house that lie in another, shape [3·size, 3·size]."""
    rectangles: Int32Array
    """Corners of the rectangles in two boxes at each cell, going round, shape [cells, rectangles, 4].

    Corners 0 and 1, 2 and 3 share a row, 1 and 2, 3 and 0 a column. First come those with two corners in one row of the
    cell's box.
    """


class Board(NamedTuple):
    """Digits and candidates of one board; arrays that kernels change in place."""

    candidates: Int32Array
    """Mask of the candidates of each cell, 0 where filled."""
    values: Int32Array
    """Digit of each cell from 1, 0 where empty."""
    given: BoolArray
    """Which cells were given."""
    places: Int32Array
    """Mask of a digit's places in a house, 0 where done, shape [3·size, size]."""
    empty: Int32Array
    """Mask of the empty places of each house."""
    naked: Int32Array
    """Naked singles in the order in which they arose: where the open ones begin, where they end, then the entries."""
    hidden: Int32Array
    """Hidden singles, likewise; an entry is `cell * 16 + digit`."""


@cache
def geometry(size: int) -> Geometry:
    """Return the geometry of a board of `size` rows."""
    layout = sudoku_layout(size)
    cells_of = np.array(layout.units, dtype=np.int32)
    house_of = np.stack([layout.row_of, np.array(layout.column_of) + size, np.array(layout.box_of) + 2 * size], axis=1)
    index_of = np.array([[list(cells_of[house]).index(cell) for house in house_of[cell]] for cell in range(size**2)])
    sees = np.zeros((size**2, size**2), dtype=np.bool_)
    for cell, peers in enumerate(layout.peers):
        sees[cell, list(peers)] = True
    groups = [[sum(1 << item for item in items) for items in combinations(range(size), k)] for k in range(1, 5)]
    starts = np.concatenate([[0, 0], np.cumsum([len(group) for group in groups])])
    return Geometry(
        size,
        layout.box_rows,
        layout.box_columns,
        cells_of,
        house_of.astype(np.int32),
        index_of.astype(np.int32),
        np.array(layout.peers, dtype=np.int32),
        sees,
        np.array(list(chain.from_iterable(groups)), dtype=np.int32),
        starts.astype(np.int32),
        _shared_places(layout),
        np.array([list(_rectangles_at(layout, cell)) for cell in range(size**2)], dtype=np.int32),
    )


def _shared_places(layout: SudokuLayout) -> Int32Array:
    units = [set(unit) for unit in layout.units]
    masks = [
        [sum(1 << index for index, cell in enumerate(unit) if cell in other) for other in units]
        for unit in layout.units
    ]
    return np.array(masks, dtype=np.int32)


def _rectangles_at(layout: SudokuLayout, cell: int) -> Iterator[tuple[int, int, int, int]]:
    size, row, column = layout.size, layout.row_of[cell], layout.column_of[cell]
    top, left = row - row % layout.box_rows, column - column % layout.box_columns
    near_rows = [line for line in range(top, top + layout.box_rows) if line != row]
    near_columns = [line for line in range(left, left + layout.box_columns) if line != column]
    far_rows = [line for line in range(size) if not top <= line < top + layout.box_rows]
    far_columns = [line for line in range(size) if not left <= line < left + layout.box_columns]
    pairs = [*((far, near) for near in near_columns for far in far_rows)]
    pairs += [(near, far) for near in near_rows for far in far_columns]
    for other_row, other_column in pairs:
        yield cell, row * size + other_column, other_row * size + other_column, other_row * size + column


def new_board(size: int) -> Board:
    """Return room for one board; `fill` gives it its content."""
    cells, houses = size**2, 3 * size
    return Board(
        np.zeros(cells, dtype=np.int32),
        np.zeros(cells, dtype=np.int32),
        np.zeros(cells, dtype=np.bool_),
        np.zeros((houses, size), dtype=np.int32),
        np.zeros(houses, dtype=np.int32),
        np.zeros(cells + 2, dtype=np.int32),
        np.zeros(houses * size + 2, dtype=np.int32),
    )


_U1, _U2, _U4, _U56 = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
_EVEN, _PAIRS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_NIBBLES, _ONES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@inlined
def bit_count(mask: int) -> int:
    """Return the number of set bits; written so that the compiler sees one machine instruction in it."""
    bits = np.uint64(mask)
    bits = bits - ((bits >> _U1) & _EVEN)
    bits = (bits & _PAIRS) + ((bits >> _U2) & _PAIRS)
    bits = (bits + (bits >> _U4)) & _NIBBLES
    return np.int64((bits * _ONES) >> _U56)  # type: ignore[return-value]


@inlined
def first_bit(mask: int) -> int:
    """Return the position of the lowest set bit."""
    return bit_count((mask & -mask) - 1)


@inlined
def cells_with_few(geometry: Geometry, board: Board, house: int, most: int) -> int:
    """Return the mask of those places of a house whose cells have one candidate or more, but at most `most`."""
    mask = 0
    for index in range(geometry.size):
        candidates = board.candidates[geometry.cells_of[house, index]]
        if candidates and bit_count(candidates) <= most:
            mask |= 1 << index
    return mask


@inlined
def subset_digits(geometry: Geometry, board: Board, house: int, subset: int) -> int:
    """Return the mask of the candidates that the places `subset` of a house have between them."""
    digits = 0
    for index in range(geometry.size):
        if subset >> index & 1:
            digits |= board.candidates[geometry.cells_of[house, index]]
    return digits


@inlined
def _enqueue(queue: Int32Array, single: int) -> None:
    queue[queue[1]] = single
    queue[1] += 1


@inlined
def _close_place(geometry: Geometry, board: Board, cell: int, digit: int, kind: int) -> None:
    """Take a place from a digit in the row, column or box (`kind`) of a cell."""
    house = geometry.house_of[cell, kind]
    mask = board.places[house, digit] & ~(1 << geometry.index_of[cell, kind])
    board.places[house, digit] = mask
    if mask and not mask & (mask - 1):
        _enqueue(board.hidden, geometry.cells_of[house, first_bit(mask)] * 16 + digit)


@entry
def eliminate(geometry: Geometry, board: Board, cell: int, digit: int) -> None:
    """Remove a candidate from both views."""
    board.candidates[cell] &= ~(1 << digit)
    for kind in range(3):
        _close_place(geometry, board, cell, digit, kind)
    mask = board.candidates[cell]
    if mask and not mask & (mask - 1):
        _enqueue(board.naked, cell * 16 + first_bit(mask))


@kernel
def place(geometry: Geometry, board: Board, cell: int, digit: int) -> None:
    """Fill a cell and remove what it rules out."""
    candidates = board.candidates[cell]
    board.candidates[cell] = 0
    board.values[cell] = digit + 1
    for kind in range(3):
        board.empty[geometry.house_of[cell, kind]] &= ~(1 << geometry.index_of[cell, kind])
    for number in range(geometry.peers.shape[1]):
        peer = geometry.peers[cell, number]
        mask = board.candidates[peer]
        if mask >> digit & 1:
            mask &= ~(1 << digit)
            board.candidates[peer] = mask
            for kind in range(3):
                if geometry.house_of[peer, kind] != geometry.house_of[cell, kind]:
                    _close_place(geometry, board, peer, digit, kind)
            if mask and not mask & (mask - 1):
                _enqueue(board.naked, peer * 16 + first_bit(mask))
    for kind in range(3):
        board.places[geometry.house_of[cell, kind], digit] = 0
    for other in range(geometry.size):
        if candidates >> other & 1 and other != digit:
            for kind in range(3):
                _close_place(geometry, board, cell, other, kind)


@entry
def fill(geometry: Geometry, board: Board, values: Uint8Array, givens: Uint8Array) -> None:
    """Set up the board with all candidates that no value rules out."""
    full = (1 << geometry.size) - 1
    board.candidates[:] = full
    board.values[:] = 0
    board.places[:] = full
    board.empty[:] = full
    board.naked[:2] = 2
    board.hidden[:2] = 2
    for cell in range(values.shape[0]):
        board.given[cell] = givens[cell] != 0
        if values[cell]:
            place(geometry, board, cell, values[cell] - 1)


@kernel
def filled(board: Board) -> bool:
    """Return whether no cell is empty."""
    return bool(np.all(board.values != 0))


@kernel
def valid(geometry: Geometry, board: Board) -> bool:
    """Return whether every house of a filled board holds every digit."""
    full = (1 << geometry.size) - 1
    for house in range(3 * geometry.size):
        mask = 0
        for cell in geometry.cells_of[house]:
            mask |= 1 << (board.values[cell] - 1)
        if mask != full:
            return False
    return True
