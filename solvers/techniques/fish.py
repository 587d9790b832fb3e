"""Kernels for X-wing, swordfish and jellyfish, with and without fins."""

from __future__ import annotations

from solvers.techniques.board import Board, Geometry, bit_count, first_bit
from solvers.techniques.compiled import inlined, kernel
from solvers.techniques.log import CELL, ELIMINATION, FURTHER, Int32Array, commit, push, start


@inlined
def _cell(geometry: Geometry, columns: bool, line: int, across: int) -> int:
    """Return the cell where a base line crosses a cover line; base lines are columns if `columns`."""
    return across * geometry.size + line if columns else line * geometry.size + across


@inlined
def _useful_lines(geometry: Geometry, board: Board, first: int, digit: int, most: int) -> int:
    lines = 0
    for line in range(geometry.size):
        if 0 < bit_count(board.places[first + line, digit]) <= most:
            lines |= 1 << line
    return lines


@inlined
def _union(geometry: Geometry, board: Board, first: int, digit: int, bases: int) -> int:
    union = 0
    for line in range(geometry.size):
        if bases >> line & 1:
            union |= board.places[first + line, digit]
    return union


@kernel
def _log_fish(
    geometry: Geometry, board: Board, log: Int32Array, code: int, columns: bool, digit: int, bases: int, covers: int
) -> bool:
    first = geometry.size if columns else 0
    start(log, code, 1 << digit)
    for line in range(geometry.size):
        if bases >> line & 1:
            for across in range(geometry.size):
                if board.places[first + line, digit] >> across & 1:
                    push(log, CELL, _cell(geometry, columns, line, across))
    for line in range(geometry.size):
        if not bases >> line & 1:
            for across in range(geometry.size):
                if board.places[first + line, digit] & covers & (1 << across):
                    push(log, ELIMINATION, _cell(geometry, columns, line, across) * 16 + digit)
    return commit(log)


@kernel
def basic_fish(geometry: Geometry, board: Board, log: Int32Array, code: int, count: int) -> bool:
    """Log every set of `count` parallel lines whose places for a digit lie in `count` crossing lines."""
    for digit in range(geometry.size):
        for columns in (False, True):
            first = geometry.size if columns else 0
            lines = _useful_lines(geometry, board, first, digit, count)
            if bit_count(lines) < count:
                continue
            for at in range(geometry.subset_start[count], geometry.subset_start[count + 1]):
                bases = geometry.subsets[at]
                if bases & ~lines:
                    continue
                covers = _union(geometry, board, first, digit, bases)
                if bit_count(covers) == count and _log_fish(geometry, board, log, code, columns, digit, bases, covers):
                    return True
    return False


@inlined
def _fin_box(
    geometry: Geometry, board: Board, digit: int, bases: int, covers: int, columns: bool, one: int, two: int
) -> int:
    """Return the box of all fins, which lie where base lines cross the lines `one` and `two`; -1 if nothing follows.

    What follows is that the digit goes from the cells of that box that lie on a cover line but on no base line.
    """
    across = 0 if columns else geometry.size
    deep = geometry.box_columns if columns else geometry.box_rows
    wide = geometry.box_rows if columns else geometry.box_columns
    fins = (board.places[across + one, digit] | board.places[across + two, digit]) & bases
    top, left = first_bit(fins) // deep * deep, one // wide * wide
    if fins >> top + deep:
        return -1
    others = ((1 << deep) - 1 << top) & ~bases
    for line in range(left, left + wide):
        if covers >> line & 1 and board.places[across + line, digit] & others:
            return geometry.house_of[_cell(geometry, columns, top, left), 2]
    return -1


@inlined
def _is_sashimi(geometry: Geometry, board: Board, first: int, digit: int, bases: int, covers: int) -> bool:
    for line in range(geometry.size):
        if bases >> line & 1 and bit_count(board.places[first + line, digit] & covers) < 2:
            return True
    return False


@kernel
def _log_finned(
    geometry: Geometry,
    board: Board,
    log: Int32Array,
    code: int,
    columns: bool,
    digit: int,
    bases: int,
    covers: int,
    box: int,
) -> bool:
    first = geometry.size if columns else 0
    start(log, code, 1 << digit)
    for kind in (CELL, FURTHER):
        for line in range(geometry.size):
            if bases >> line & 1:
                places = board.places[first + line, digit] & (covers if kind == CELL else ~covers)
                for across in range(geometry.size):
                    if places >> across & 1:
                        push(log, kind, _cell(geometry, columns, line, across))
    for line in range(geometry.size):
        places = board.places[first + line, digit] & covers
        if places and not bases >> line & 1:
            for across in range(geometry.size):
                cell = _cell(geometry, columns, line, across)
                if places >> across & 1 and geometry.house_of[cell, 2] == box:
                    push(log, ELIMINATION, cell * 16 + digit)
    return commit(log)


@inlined
def _try_covers(
    geometry: Geometry,
    board: Board,
    log: Int32Array,
    code: int,
    columns: bool,
    digit: int,
    bases: int,
    union: int,
    one: int,
    two: int,
    sashimi: bool,
) -> bool:
    covers = union & ~(1 << one) & ~(1 << two)
    box = _fin_box(geometry, board, digit, bases, covers, columns, one, two)
    return (
        box >= 0
        and _is_sashimi(geometry, board, geometry.size if columns else 0, digit, bases, covers) == sashimi
        and _log_finned(geometry, board, log, code, columns, digit, bases, covers, box)
    )


@inlined
def _finned_covers(
    geometry: Geometry,
    board: Board,
    log: Int32Array,
    code: int,
    columns: bool,
    digit: int,
    bases: int,
    union: int,
    spare: int,
    sashimi: bool,
) -> bool:
    """Try every choice of one or two lines of `union`, which has `spare` too many, as the lines of the fins."""
    width = geometry.box_rows if columns else geometry.box_columns
    for low in range(geometry.size - 1, -1, -1):
        if not union >> low & 1:
            continue
        if spare == 1:
            if _try_covers(geometry, board, log, code, columns, digit, bases, union, low, low, sashimi):
                return True
            continue
        for high in range(low - low % width + width - 1, low, -1):
            if union >> high & 1 and _try_covers(
                geometry, board, log, code, columns, digit, bases, union, low, high, sashimi
            ):
                return True
    return False


@kernel
def finned_fish(geometry: Geometry, board: Board, log: Int32Array, code: int, count: int, sashimi: bool) -> bool:
    """Log every fish of `count` base lines with fins in one box; `sashimi` says which kind."""
    for digit in range(geometry.size):
        for columns in (False, True):
            first = geometry.size if columns else 0
            spare = (geometry.box_rows if columns else geometry.box_columns) - 1
            lines = _useful_lines(geometry, board, first, digit, count + spare)
            if bit_count(lines) < count:
                continue
            for at in range(geometry.subset_start[count], geometry.subset_start[count + 1]):
                bases = geometry.subsets[at]
                if bases & ~lines:
                    continue
                union = _union(geometry, board, first, digit, bases)
                many = bit_count(union) - count
                if 0 < many <= spare and _finned_covers(
                    geometry, board, log, code, columns, digit, bases, union, many, sashimi
                ):
                    return True
    return False
