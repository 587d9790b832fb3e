"""The log of steps that kernels write: one flat array of integers, so that compiled code can list instances.

A record is code, digit mask, and the lengths of four lists, followed by the lists: cells of the pattern, further cells
(fins, links), eliminations, placements. Eliminations and placements are `cell * 16 + digit`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from solvers.techniques.compiled import kernel

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


@kernel
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


@kernel
def push(log: Int32Array, kind: int, entry: int) -> None:
    """Add an entry to a list of the record; the lists must be written in their order."""
    at = log[USED]
    if at < log.shape[0]:
        log[at] = entry
        log[USED] = at + 1
        log[log[START] + kind] += 1


@kernel
def commit(log: Int32Array) -> bool:
    """End a record, keeping it if it has a result; return whether the search should stop."""
    at = log[START]
    if log[FULL] or log[at + ELIMINATION] + log[at + PLACEMENT] == 0:
        log[USED] = at
        return log[FULL] != 0
    log[COUNT] += 1
    return log[COUNT] >= log[LIMIT]


@kernel
def keep_best(log: Int32Array, start_at: int) -> None:
    """Keep only the first record from `start_at` on that removes most candidates."""
    best, most, at, dropped = start_at, -1, start_at, -1
    while at < log[USED]:
        result = log[at + ELIMINATION] + log[at + PLACEMENT]
        if result > most:
            best, most = at, result
        dropped += 1
        at += HEAD + log[at + 2] + log[at + 3] + log[at + 4] + log[at + 5]
    length = HEAD + log[best + 2] + log[best + 3] + log[best + 4] + log[best + 5]
    for offset in range(length):
        log[start_at + offset] = log[best + offset]
    log[START] = start_at
    log[USED] = start_at + length
    log[COUNT] -= dropped
