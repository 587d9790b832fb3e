"""Breadth-first search over Rush Hour keys, compiled, resumable, without allocation.

One hash table serves many boards without being cleared: an entry counts only if its number is at least the board's
`base`, and each board starts above all earlier numbers.
"""

from __future__ import annotations

import numpy as np
from numba import njit

HEAD, TAIL, BASE, BITS, DEPTH, LEVEL_END, GOAL, MODE = range(8)
"""Fields of the cursor: next state to expand, states found, first valid table number, table bits, depth of the states
being expanded, end of their level, first goal found (-1: none), and when to stop."""
STOP_AT_GOAL, FINISH_LEVEL, EXHAUST = range(3)
"""Modes: stop at the first goal, when its whole level is found, or when every reachable state is."""
DONE, FULL, PAUSED = range(3)
"""Why `expand` came back: finished, more room needed, or its share of work done."""
SLACK = 256
"""No state has as many moves: room that must be left before one is expanded."""


@njit(cache=True, inline="always")
def slot_of(key, bits):  # type: ignore[no-untyped-def]
    """Return the first table slot to look at for a key."""
    return np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits))


@njit(cache=True, inline="always")
def unpack(key, tables, at):  # type: ignore[no-untyped-def]
    """Write the arrangement of each line into `at`, and return the cells taken by vehicles and walls."""
    occupied = tables.walls
    for line in range(len(tables.shift)):
        at[line] = tables.first[line] + np.int64((key >> tables.shift[line]) & tables.mask[line])
        occupied |= tables.cells[at[line]]
    return occupied


@njit(cache=True, inline="always")
def is_goal(key, tables):  # type: ignore[no-untyped-def]
    """Return whether a key is a goal, as a number."""
    return (tables.goal_set >> ((key >> tables.shift[0]) & tables.mask[0])) & np.uint64(1)


@njit(cache=True, nogil=True)
def start(key, tables, keys, parents, slot_keys, slot_numbers, cursor):  # type: ignore[no-untyped-def]
    """Enter the first state of a board; the cursor's BASE, BITS and MODE are set before."""
    keys[0], parents[0] = key, -1
    slot = slot_of(key, cursor[BITS])
    slot_keys[slot], slot_numbers[slot] = key, cursor[BASE]
    cursor[HEAD], cursor[TAIL], cursor[DEPTH], cursor[LEVEL_END], cursor[GOAL] = 0, 1, 0, 1, -1
    if is_goal(key, tables):
        cursor[GOAL] = 0


@njit(cache=True, nogil=True)
def rehash(keys, slot_keys, slot_numbers, cursor):  # type: ignore[no-untyped-def]
    """Enter all states found again after the table grew: those of before fall under the new base."""
    cursor[BASE] += cursor[TAIL]
    wrap = (1 << cursor[BITS]) - 1
    for number in range(cursor[TAIL]):
        slot = slot_of(keys[number], cursor[BITS])
        while slot_numbers[slot] >= cursor[BASE]:
            slot = (slot + 1) & wrap
        slot_keys[slot], slot_numbers[slot] = keys[number], cursor[BASE] + number


@njit(cache=True, nogil=True)
def find(key, slot_keys, slot_numbers, base, bits):  # type: ignore[no-untyped-def]
    """Return the number of a known key, -1 if it is not known."""
    wrap = (1 << bits) - 1
    slot = slot_of(key, bits)
    while slot_numbers[slot] >= base:
        if slot_keys[slot] == key:
            return slot_numbers[slot] - base
        slot = (slot + 1) & wrap
    return -1


@njit(cache=True, nogil=True)
def expand(tables, keys, parents, slot_keys, slot_numbers, cursor, work):  # type: ignore[no-untyped-def]
    """Expand up to `work` states and return why it stopped: DONE, FULL or PAUSED."""
    begin, sweep, flip, lines = tables.begin, tables.sweep, tables.flip, len(tables.shift)
    head, tail, base, bits = cursor[HEAD], cursor[TAIL], cursor[BASE], cursor[BITS]
    depth, level_end, goal, mode = cursor[DEPTH], cursor[LEVEL_END], cursor[GOAL], cursor[MODE]
    wrap = (1 << bits) - 1
    room = min(len(keys), (1 << bits) >> 1) - SLACK
    last = head + work
    at = np.empty(16, dtype=np.int64)
    status = DONE
    while head < tail:
        if goal >= 0 and mode == STOP_AT_GOAL:
            break
        if head == level_end:
            if goal >= 0 and mode == FINISH_LEVEL:
                break
            depth, level_end = depth + 1, tail
        if tail > room:
            status = FULL
            break
        if head >= last:
            status = PAUSED
            break
        key = keys[head]
        occupied = unpack(key, tables, at)
        for line in range(lines):
            for transition in range(begin[at[line]], begin[at[line] + 1]):
                if sweep[transition] & occupied == 0:
                    after = key ^ flip[transition]
                    slot = slot_of(after, bits)
                    while slot_numbers[slot] >= base and slot_keys[slot] != after:
                        slot = (slot + 1) & wrap
                    if slot_numbers[slot] < base:
                        slot_keys[slot], slot_numbers[slot] = after, base + tail
                        keys[tail], parents[tail] = after, head
                        if goal < 0 and is_goal(after, tables):
                            goal = tail
                        tail += 1
        head += 1
    cursor[HEAD], cursor[TAIL], cursor[DEPTH], cursor[LEVEL_END], cursor[GOAL] = head, tail, depth, level_end, goal
    return status


@njit(cache=True, nogil=True)
def _enter_goals(tables, keys, total, queue, distances, shut):  # type: ignore[no-untyped-def]
    """Give goals the distance 0, shut states -2 and all others -1, queue the goals, and return how many there are."""
    shift, mask = tables.shift, tables.mask
    tail = 0
    for number in range(total):
        lead = (keys[number] >> shift[0]) & mask[0]
        arrangement = (keys[number] >> shift[shut[0]]) & mask[shut[0]]
        closed = (np.uint64(shut[1]) >> arrangement) & (np.uint64(shut[2]) >> lead) & np.uint64(1)
        distances[number] = -2 if closed else -1
        if is_goal(keys[number], tables):
            distances[number] = 0
            queue[tail] = number
            tail += 1
    return tail


@njit(cache=True, nogil=True)
def measure(tables, keys, slot_keys, slot_numbers, cursor, queue, distances, shut):  # type: ignore[no-untyped-def]
    """Fill `distances` of all states found by an exhaustive search with the moves to the nearest goal; -1: none.

    Every move can be taken back, so a search from all goals at once measures the distance to go. States with an
    arrangement of line `shut[0]` in the set `shut[1]` and one of line 0 in the set `shut[2]` are not entered.
    """
    begin, sweep, flip, lines = tables.begin, tables.sweep, tables.flip, len(tables.shift)
    base, bits = cursor[BASE], cursor[BITS]
    at = np.empty(16, dtype=np.int64)
    tail = _enter_goals(tables, keys, cursor[TAIL], queue, distances, shut)
    head = 0
    while head < tail:
        number = queue[head]
        head += 1
        key = keys[number]
        occupied = unpack(key, tables, at)
        for line in range(lines):
            for transition in range(begin[at[line]], begin[at[line] + 1]):
                if sweep[transition] & occupied == 0:
                    other = find(key ^ flip[transition], slot_keys, slot_numbers, base, bits)
                    if distances[other] == -1:
                        distances[other] = distances[number] + 1
                        queue[tail] = other
                        tail += 1
    return tail
