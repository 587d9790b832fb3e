"""Kernels for uniqueness tests 1 to 6 and hidden rectangles.

All share one situation: a rectangle of empty cells in two boxes, two digits of which each corner has at least one, and
a corner (a floor) with nothing else; the other corners are roofs. If all took the two digits, these could be exchanged.
"""

from __future__ import annotations

import numpy as np

from solvers.techniques.board import Board, Geometry, bit_count, first_bit, subset_digits
from solvers.techniques.compiled import kernel
from solvers.techniques.log import ELIMINATION, FURTHER, Int32Array, commit, push
from solvers.techniques.records import push_house_cells, push_present, start_rectangle

TEST_3, TEST_4, TEST_6, HIDDEN = 3, 4, 6, 7


@kernel
def _one_left(board: Board, log: Int32Array, code: int, pair: int, corners: Int32Array, roofs: int) -> bool:
    """Test 1."""
    if bit_count(roofs) != 1:
        return False
    start_rectangle(log, code, pair, corners)
    push_present(board, log, corners[first_bit(roofs)], pair)
    return commit(log)


@kernel
def _same_third(
    geometry: Geometry, board: Board, log: Int32Array, code: int, pair: int, corners: Int32Array, roofs: int, test: int
) -> bool:
    """Tests 2 and 5."""
    in_line = bit_count(roofs) == 2 and roofs not in (0b0101, 0b1010)
    if bit_count(roofs) < 2 or in_line != (test == 2):
        return False
    third = 0
    for corner in range(4):
        if roofs >> corner & 1:
            third |= board.candidates[corners[corner]] & ~pair
    if bit_count(third) != 1:
        return False
    digit = first_bit(third)
    start_rectangle(log, code, pair | third, corners)
    for cell in range(board.candidates.shape[0]):
        if board.candidates[cell] & third:
            sees_all = True
            for corner in range(4):
                if roofs >> corner & 1 and not geometry.sees[cell, corners[corner]]:
                    sees_all = False
            if sees_all:
                push(log, ELIMINATION, cell * 16 + digit)
    return commit(log)


@kernel
def _next_subset(subset: int, items: int) -> int:
    """Return the subset of `items` after `subset` in the order of a dictionary, or 0 after the last."""
    highest = 0
    while subset >> highest:
        highest += 1
    later = items >> highest << highest
    if later:
        return subset | later & -later
    subset &= ~(1 << highest - 1)
    if subset == 0:
        return 0
    highest = 0
    while subset >> highest:
        highest += 1
    last = 1 << highest - 1
    later = items & ~(2 * last - 1)
    return subset & ~last | later & -later


@kernel
def _log_roof_subset(
    geometry: Geometry,
    board: Board,
    log: Int32Array,
    code: int,
    pair: int,
    corners: Int32Array,
    roofs: int,
    house: int,
    subset: int,
    digits: int,
) -> bool:
    """Log the elimination of `digits` from cells that see the whole subset and both roofs."""
    start_rectangle(log, code, pair, corners)
    push_house_cells(geometry, log, FURTHER, house, subset)
    one, two = corners[first_bit(roofs)], corners[first_bit(roofs & (roofs - 1))]
    for cell in geometry.peers[one]:
        if not board.candidates[cell] & digits or not geometry.sees[cell, two]:
            continue
        sees_all = True
        for index in range(geometry.size):
            if subset >> index & 1 and not geometry.sees[cell, geometry.cells_of[house, index]]:
                sees_all = False
        if sees_all:
            push_present(board, log, cell, digits)
    return commit(log)


@kernel
def _roof_subset(
    geometry: Geometry, board: Board, log: Int32Array, code: int, pair: int, corners: Int32Array, house: int, roofs: int
) -> bool:
    """Test 3 in one house that holds both roofs."""
    one, two = corners[first_bit(roofs)], corners[first_bit(roofs & (roofs - 1))]
    extra = (board.candidates[one] | board.candidates[two]) & ~pair
    others = board.empty[house]
    for index in range(geometry.size):
        if np.any(corners == geometry.cells_of[house, index]):
            others &= ~(1 << index)
    subset = _next_subset(0, others)
    while subset:
        digits = extra | subset_digits(geometry, board, house, subset)
        if bit_count(digits) == bit_count(subset) + 1 and _log_roof_subset(
            geometry, board, log, code, pair, corners, roofs, house, subset, digits
        ):
            return True
        subset = _next_subset(subset, others)
    return False


@kernel
def _confined_roofs(
    geometry: Geometry, board: Board, log: Int32Array, code: int, pair: int, corners: Int32Array, house: int, roofs: int
) -> bool:
    """Test 4 in one house that holds both roofs."""
    places = 0
    for corner in range(4):
        if roofs >> corner & 1:
            places |= 1 << geometry.index_of[corners[corner], house // geometry.size]
    for digit in range(geometry.size):
        if pair >> digit & 1 and board.places[house, digit] and not board.places[house, digit] & ~places:
            start_rectangle(log, code, pair, corners)
            for corner in range(4):
                if roofs >> corner & 1:
                    push_present(board, log, corners[corner], pair & ~(1 << digit))
            if commit(log):
                return True
    return False


@kernel
def _roofs_in_house(
    geometry: Geometry, board: Board, log: Int32Array, code: int, pair: int, corners: Int32Array, roofs: int, test: int
) -> bool:
    """Tests 3 and 4: two neighbouring roofs, in each house that holds both."""
    if bit_count(roofs) != 2 or roofs in (0b0101, 0b1010):
        return False
    one, two = corners[first_bit(roofs)], corners[first_bit(roofs & (roofs - 1))]
    for kind in range(3):
        house = geometry.house_of[one, kind]
        if house != geometry.house_of[two, kind]:
            continue
        if test == TEST_3 and _roof_subset(geometry, board, log, code, pair, corners, house, roofs):
            return True
        if test == TEST_4 and _confined_roofs(geometry, board, log, code, pair, corners, house, roofs):
            return True
    return False


@kernel
def _confined(geometry: Geometry, board: Board, digit: int, cell: int, other: int, kind: int) -> bool:
    """Return whether the row or column (`kind`) of `cell` still needs `digit`, in `cell` or `other` only."""
    allowed = 1 << geometry.index_of[cell, kind] | 1 << geometry.index_of[other, kind]
    places = board.places[geometry.house_of[cell, kind], digit]
    return places != 0 and places & ~allowed == 0


@kernel
def _crossed_roofs(
    geometry: Geometry, board: Board, log: Int32Array, code: int, pair: int, corners: Int32Array, roofs: int
) -> bool:
    """Test 6."""
    if roofs not in (0b0101, 0b1010):
        return False
    for digit in range(geometry.size):
        if not pair >> digit & 1:
            continue
        in_rows = _confined(geometry, board, digit, corners[0], corners[1], 0) and _confined(
            geometry, board, digit, corners[2], corners[3], 0
        )
        in_columns = _confined(geometry, board, digit, corners[0], corners[3], 1) and _confined(
            geometry, board, digit, corners[2], corners[1], 1
        )
        if in_rows or in_columns:
            start_rectangle(log, code, pair, corners)
            for corner in range(4):
                if roofs >> corner & 1:
                    push_present(board, log, corners[corner], 1 << digit)
            if commit(log):
                return True
    return False


@kernel
def _hidden(
    geometry: Geometry, board: Board, log: Int32Array, code: int, pair: int, corners: Int32Array, roofs: int
) -> bool:
    """Log hidden rectangles: from each floor, look at the opposite corner."""
    for corner in range(4):
        opposite = corners[(corner + 2) % 4]
        if roofs >> corner & 1:
            continue
        by_row, by_column = corners[corner ^ 3], corners[corner ^ 1]
        for digit in range(geometry.size):
            if (
                pair >> digit & 1
                and _confined(geometry, board, digit, opposite, by_row, 0)
                and _confined(geometry, board, digit, opposite, by_column, 1)
            ):
                start_rectangle(log, code, pair, corners)
                push_present(board, log, opposite, pair & ~(1 << digit))
                if commit(log):
                    return True
    return False


@kernel
def _test_rectangle(
    geometry: Geometry, board: Board, log: Int32Array, code: int, pair: int, corners: Int32Array, test: int
) -> bool:
    roofs = 0
    for corner in range(4):
        if board.candidates[corners[corner]] & ~pair:
            roofs |= 1 << corner
    if test == 1:
        return _one_left(board, log, code, pair, corners, roofs)
    if test in (TEST_3, TEST_4):
        return _roofs_in_house(geometry, board, log, code, pair, corners, roofs, test)
    if test == TEST_6:
        return _crossed_roofs(geometry, board, log, code, pair, corners, roofs)
    if test == HIDDEN:
        return _hidden(geometry, board, log, code, pair, corners, roofs)
    return _same_third(geometry, board, log, code, pair, corners, roofs, test)


@kernel
def uniqueness(geometry: Geometry, board: Board, log: Int32Array, code: int, test: int) -> bool:
    """Log every instance of a uniqueness test (1 to 6) or of the hidden rectangle (7)."""
    for cell in range(geometry.sees.shape[0]):
        pair = board.candidates[cell]
        if bit_count(pair) != 2:
            continue
        rectangles = geometry.rectangles[cell]
        for number in range(rectangles.shape[0]):
            if (
                board.candidates[rectangles[number, 1]] & pair
                and board.candidates[rectangles[number, 2]] & pair
                and board.candidates[rectangles[number, 3]] & pair
                and _test_rectangle(geometry, board, log, code, pair, rectangles[number], test)
            ):
                return True
    return False
