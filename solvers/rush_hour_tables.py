"""A Rush Hour layout as tables for the compiled search.

Every row or column that holds vehicles is a *line*; its *arrangements* are all ways to place its vehicles in their
order, off the walls. A state is one small number per line, packed into one 64-bit key: 36 bits at most on 6x6, 64 on
8x8. A transition replaces one line's arrangement; it is legal where the cells it sweeps are empty.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from puzzles.names import check_name
from puzzles.rush_hour import Layout, RushHourState

METRICS = ("steps", "slides")
"""What counts as one move: one cell, or any number of free cells in one direction."""

_BASE = 8
_MOST = 4
"""Most vehicles in one line: four cars on eight cells."""
_ARRANGEMENTS = 16
_TRANSITIONS = 24


class Tables(NamedTuple):
    """Lines, arrangements and transitions of one layout under one metric, as arrays for compiled code."""

    shift: NDArray[np.uint64]
    """Where a line's number begins in the key, shape [lines]."""
    mask: NDArray[np.uint64]
    """Bits of a line's number, shape [lines]."""
    first: NDArray[np.int64]
    """Index of a line's first arrangement, shape [lines + 1]."""
    cells: NDArray[np.uint64]
    """Cells an arrangement covers, shape [arrangements]."""
    code: NDArray[np.int64]
    """Positions of an arrangement's vehicles, in base 8, shape [arrangements]."""
    begin: NDArray[np.int64]
    """Index of an arrangement's first transition, shape [arrangements + 1]."""
    sweep: NDArray[np.uint64]
    """Cells that must be empty, shape [transitions]."""
    flip: NDArray[np.uint64]
    """What the transition changes in the key, by exclusive or, shape [transitions]."""
    walls: np.uint64
    """Cells of walls."""
    goal_set: np.uint64
    """Bit a is set where arrangement a of line 0, the primary car's, is a goal."""


class Coding(NamedTuple):
    """How a layout's positions become a key, for single states outside compiled code."""

    line_of: tuple[int, ...]
    """Line of each vehicle, shape [vehicles]."""
    weight: tuple[int, ...]
    """Power of eight of each vehicle within its line's code, shape [vehicles]."""
    part: tuple[dict[int, int], ...]
    """Key bits by code, one dict per line."""
    positions: tuple[tuple[tuple[int, ...], ...], ...]
    """Positions by line and arrangement, in the order of `members`."""
    members: tuple[tuple[int, ...], ...]
    """Vehicles of each line in their order, shape [lines][vehicles of the line]."""


def line_members(state: RushHourState) -> tuple[tuple[int, ...], ...]:
    """Return the vehicles of each line in their order, which no move can change; the primary car's line is first."""
    layout = state.layout
    lines: dict[tuple[bool, int], list[int]] = {(True, layout.exit_row): []}
    for vehicle in range(len(layout)):
        lines.setdefault((layout.horizontal[vehicle], layout.lines[vehicle]), []).append(vehicle)
    return tuple(tuple(sorted(line, key=state.positions.__getitem__)) for line in lines.values())


def tables(layout: Layout, members: tuple[tuple[int, ...], ...], metric: str = "steps") -> Tables:
    """Return the tables of `layout` whose lines hold `members`; the last 64 are kept.

    Raises:
        ValueError: if `metric` is unknown.
    """
    check_name("metric", metric, METRICS)
    return _tables(layout, members, metric == "slides")


@lru_cache(maxsize=64)
def coding(layout: Layout, members: tuple[tuple[int, ...], ...]) -> Coding:
    """Return how single states of `layout` become keys and back."""
    built = _tables(layout, members, False)
    line_of, weight = [0] * len(layout), [0] * len(layout)
    for line, vehicles in enumerate(members):
        for place, vehicle in enumerate(vehicles):
            line_of[vehicle], weight[vehicle] = line, _BASE**place
    parts, positions = [], []
    for line, vehicles in enumerate(members):
        codes = built.code[built.first[line] : built.first[line + 1]].tolist()
        parts.append({code: number << int(built.shift[line]) for number, code in enumerate(codes)})
        positions.append(tuple(tuple(code // _BASE**place % _BASE for place in range(len(vehicles))) for code in codes))
    return Coding(tuple(line_of), tuple(weight), tuple(parts), tuple(positions), members)


def encode(state: RushHourState, code: Coding) -> int | None:
    """Return the key of a state of the coding's layout; None if its vehicles stand in another order."""
    codes = [0] * len(code.part)
    for line, weight, position in zip(code.line_of, code.weight, state.positions, strict=True):
        codes[line] += weight * position
    key = 0
    for part, number in zip(code.part, codes, strict=True):
        bits = part.get(number)
        if bits is None:
            return None
        key |= bits
    return key


def decode(key: int, layout: Layout, built: Tables, code: Coding) -> RushHourState:
    """Return the state that a key stands for."""
    positions = [0] * len(layout)
    occupied = layout.walls
    for line, vehicles in enumerate(code.members):
        number = key >> int(built.shift[line]) & int(built.mask[line])
        occupied |= int(built.cells[built.first[line] + number])
        for vehicle, position in zip(vehicles, code.positions[line][number], strict=True):
            positions[vehicle] = position
    return RushHourState(layout, tuple(positions), occupied)


@lru_cache(maxsize=64)
def _tables(layout: Layout, members: tuple[tuple[int, ...], ...], slides: bool) -> Tables:
    count = len(members)
    lengths = np.zeros((count, _MOST), dtype=np.int64)
    sizes = np.zeros(count, dtype=np.int64)
    geometry = np.zeros((count, 3), dtype=np.int64)
    for line, vehicles in enumerate(members):
        sizes[line] = len(vehicles)
        lead = vehicles[0]
        at = layout.lines[lead]
        geometry[line] = (
            (at * layout.columns, 1, layout.columns) if layout.horizontal[lead] else (at, layout.columns, layout.rows)
        )
        for place, vehicle in enumerate(vehicles):
            lengths[line, place] = layout.lengths[vehicle]
    walls = np.uint64(layout.walls)
    shift, mask, first, cells, code, begin, sweep, flip = _build(lengths, sizes, geometry, walls, slides)
    place, last = members[0].index(0), layout.columns - layout.lengths[0]
    goal = sum(
        1 << number for number, value in enumerate(code[: first[1]].tolist()) if value // _BASE**place % _BASE == last
    )
    return Tables(shift, mask, first, cells, code, begin, sweep, flip, walls, np.uint64(goal))


@njit(cache=True)
def _line_cells(code, lengths, size, first_cell, stride):  # type: ignore[no-untyped-def]
    """Return the cells that the vehicles of a line cover."""
    cells = np.uint64(0)
    for place in range(size):
        at = code % _BASE
        code //= _BASE
        for offset in range(lengths[place]):
            cells |= np.uint64(1) << np.uint64(first_cell + (at + offset) * stride)
    return cells


@njit(cache=True)
def _fits(code, lengths, size, room):  # type: ignore[no-untyped-def]
    """Return whether the vehicles of a line stand in order, side by side at most, within the line."""
    end = 0
    for place in range(size):
        at = code % _BASE
        code //= _BASE
        if at < end:
            return False
        end = at + lengths[place]
    return end <= room


@njit(cache=True)
def _build(lengths, sizes, geometry, walls, slides):  # type: ignore[no-untyped-def]
    """Return the arrays of `Tables`; `geometry` holds first cell, stride and cells of each line."""
    lines = len(sizes)
    shift = np.zeros(lines, dtype=np.uint64)
    mask = np.zeros(lines, dtype=np.uint64)
    first = np.zeros(lines + 1, dtype=np.int64)
    cells = np.zeros(lines * _ARRANGEMENTS, dtype=np.uint64)
    codes = np.zeros(lines * _ARRANGEMENTS, dtype=np.int64)
    begin = np.zeros(lines * _ARRANGEMENTS + 1, dtype=np.int64)
    moves = np.zeros((2, lines * _ARRANGEMENTS * _TRANSITIONS), dtype=np.uint64)
    number_of = np.empty(_BASE**_MOST, dtype=np.int64)
    bits_used, end = 0, 0
    for line in range(lines):
        start = first[line]
        size, room = sizes[line], geometry[line, 2]
        number_of[: _BASE**size] = -1
        total = start
        for code in range(_BASE**size):
            if _fits(code, lengths[line], size, room):
                covered = _line_cells(code, lengths[line], size, geometry[line, 0], geometry[line, 1])
                if covered & walls == 0:
                    number_of[code], cells[total], codes[total] = total - start, covered, code
                    total += 1
        first[line + 1] = total
        shift[line] = bits_used
        while (1 << (bits_used - np.int64(shift[line]))) < total - start:
            bits_used += 1
        mask[line] = (1 << (bits_used - np.int64(shift[line]))) - 1
        for arrangement in range(start, total):
            begin[arrangement] = end
            end = _leave(
                codes[arrangement], lengths[line], size, geometry[line], number_of, slides, shift[line], moves, end
            )
    count = first[lines]
    begin[count] = end
    return shift, mask, first, cells[:count], codes[:count], begin[: count + 1], moves[0, :end], moves[1, :end]


@njit(cache=True)
def _leave(code, lengths, size, geometry, number_of, slides, shift, moves, end):  # type: ignore[no-untyped-def]
    """Enter the transitions out of one arrangement (row 0: swept cells, row 1: flipped bits) and return their end."""
    most = _BASE - 1 if slides else 1
    for place in range(size):
        weight = _BASE**place
        for way in (-1, 1):
            swept = np.uint64(0)
            for moved in range(1, most + 1):
                to = code // weight % _BASE + way * moved
                if to < 0 or to >= _BASE or number_of[code + way * moved * weight] < 0:
                    break
                entered = to if way < 0 else to + lengths[place] - 1
                swept |= np.uint64(1) << np.uint64(geometry[0] + entered * geometry[1])
                moves[0, end] = swept
                moves[1, end] = np.uint64(number_of[code] ^ number_of[code + way * moved * weight]) << shift
                end += 1
    return end
