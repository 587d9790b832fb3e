"""The log of steps that kernels write: one flat array of integers, so that compiled code can list instances.

A record is code, digit mask, and the lengths of four lists, followed by the lists: cells of the pattern, further cells
(fins, links), eliminations, placements. Eliminations and placements are `cell * 16 + digit`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from solvers.techniques.compiled import inlined, kernel

Int32Array = NDArray[np.int32]

USED, COUNT, LIMIT, START, FULL = 0, 1, 2, 3, 4
FIRST = 8
"""Where the first record begins; what stands before is bookkeeping."""
HEAD = 6
"""Length of a record without its lists."""
CELL, FURTHER, ELIMINATION, PLACEMENT = 2, 3, 4, 5
RESERVE = 2048
"""Room that a record must find."""


def new_log(length: int) -> Int32Array:
    """Return an empty log."""
    log = np.zeros(length, dtype=np.int32)
    log[USED] = FIRST
    log[LIMIT] = length
    return log


@inlined
def start(log: Int32Array, code: int, digits: int) -> None:
    """Begin a record."""
    at = log[USED]
    if at > log.shape[0] - RESERVE:
        log[FULL] = 1
        at = log.shape[0] - RESERVE
    log[START] = at
    log[at] = code
    log[at + 1] = digits
    log[at + 2 : at + HEAD] = 0
    log[USED] = at + HEAD


@inlined
def push(log: Int32Array, kind: int, entry: int) -> None:
    """Add an entry to a list of the record; the lists must be written in their order."""
    at = log[USED]
    if at < log.shape[0]:
        log[at] = entry
        log[USED] = at + 1
        log[log[START] + kind] += 1


@kernel
def push_once(log: Int32Array, entry: int) -> None:
    """Add an elimination that the record may have already."""
    begin = log[USED] - log[log[START] + ELIMINATION]
    for at in range(begin, log[USED]):
        if log[at] == entry:
            return
    push(log, ELIMINATION, entry)


@inlined
def commit(log: Int32Array) -> bool:
    """End a record, keeping it if it has a result; return whether the search should stop."""
    at = log[START]
    if log[FULL] or log[at + ELIMINATION] + log[at + PLACEMENT] == 0:
        log[USED] = at
        return log[FULL] != 0
    log[COUNT] += 1
    return log[COUNT] >= log[LIMIT]


@kernel
def record_length(log: Int32Array, at: int) -> int:
    """Return the length of the record at `at`."""
    return HEAD + log[at + CELL] + log[at + FURTHER] + log[at + ELIMINATION] + log[at + PLACEMENT]


@kernel
def _index_sum(log: Int32Array, at: int) -> int:
    """Return the sum of the removed candidates' places, later ones weighing more: HoDoKu's order of equal results."""
    total = 0
    first = at + HEAD + log[at + CELL] + log[at + FURTHER]
    for offset in range(log[at + ELIMINATION]):
        entry = log[first + offset]
        total += (entry >> 4) * (1 + 80 * offset) + (entry & 15) + 1
    return total


@kernel
def _is_better(log: Int32Array, at: int, best: int) -> bool:
    """Return whether a record comes before another: more removed, then earlier cells, then fewer cells."""
    if log[at + ELIMINATION] != log[best + ELIMINATION]:
        return log[at + ELIMINATION] > log[best + ELIMINATION]
    sums = _index_sum(log, at), _index_sum(log, best)
    return sums[0] < sums[1] or (sums[0] == sums[1] and log[at + CELL] < log[best + CELL])


@kernel
def keep_best(log: Int32Array, begin: int) -> None:
    """Keep of the records from `begin` on only the one that removes most candidates."""
    best, dropped = begin, 0
    at = begin + record_length(log, begin)
    while at < log[USED]:
        if _is_better(log, at, best):
            best = at
        dropped += 1
        at += record_length(log, at)
    length = record_length(log, best)
    for offset in range(length):
        log[begin + offset] = log[best + offset]
    log[START] = begin
    log[USED] = begin + length
    log[COUNT] -= dropped
