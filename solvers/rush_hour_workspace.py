"""Memory for the compiled search: one workspace per thread, reused from board to board, grown where one needs it."""

from __future__ import annotations

import threading
import time

import numpy as np
from numpy.typing import NDArray

from puzzles.rush_hour import RushHourState
from solvers import rush_hour_search as search
from solvers.rush_hour_tables import Coding, Tables, coding, encode, line_members, tables

MAX_STATES = 5_000_000
"""Default limit of states a search may find; about 300 MB of memory."""

_FIRST_BITS = 12
_KEPT_BITS = 20
"""Larger tables are given back after the search that needed them."""
_SHARE = 200_000
"""States expanded between two looks at the clock."""

_Arrays = tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.uint64], NDArray[np.int64]]


class SearchBudgetError(RuntimeError):
    """A search ran into its budget before it had an answer."""


class Workspace:
    """The states found by the last search, in breadth-first order, and the table that finds them by key."""

    def __init__(self) -> None:
        self.cursor = np.zeros(8, dtype=np.int64)
        self.keys, self.parents, self.slot_keys, self.slot_numbers = _allocate(_FIRST_BITS)

    @property
    def found(self) -> int:
        """Number of states found."""
        return int(self.cursor[search.TAIL])

    @property
    def goal(self) -> int | None:
        """Number of the first goal found, or None."""
        number = int(self.cursor[search.GOAL])
        return None if number < 0 else number

    def run(
        self, state: RushHourState, metric: str, mode: int, max_states: int, max_seconds: float | None
    ) -> tuple[Tables, Coding]:
        """Search from `state`; afterwards `keys`, `parents` and the table hold what was found.

        Raises:
            ValueError: if a budget is not positive or the metric unknown.
            SearchBudgetError: if a budget is used up first.
        """
        if max_states < 1 or not (max_seconds is None or max_seconds > 0):
            raise ValueError(f"budgets must be positive, got max_states={max_states}, max_seconds={max_seconds}")
        members = line_members(state)
        built, code = tables(state.layout, members, metric), coding(state.layout, members)
        key = encode(state, code)
        self._reset(mode)
        search.start(np.uint64(key or 0), built, *self._arrays())
        deadline = None if max_seconds is None else time.monotonic() + max_seconds
        while True:
            status = search.expand(built, *self._arrays(), _SHARE)
            if self.found > max_states:
                raise self._exceeded(f"max_states={max_states}", metric)
            if status == search.DONE:
                return built, code
            if deadline is not None and time.monotonic() > deadline:
                raise self._exceeded(f"max_seconds={max_seconds}", metric)
            if status == search.FULL:
                self._grow()

    def path(self, number: int) -> list[int]:
        """Return the keys on the way from the start to a state found, both included."""
        way = []
        while number >= 0:
            way.append(int(self.keys[number]))
            number = int(self.parents[number])
        return way[::-1]

    def _exceeded(self, budget: str, metric: str) -> SearchBudgetError:
        if self.goal is not None:
            return SearchBudgetError(f"not finished within {budget}: {self.found} states found")
        depth = int(self.cursor[search.DEPTH])
        return SearchBudgetError(
            f"no answer within {budget}: {self.found} states found, no goal among those nearer than {depth} {metric}"
        )

    def _arrays(
        self,
    ) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
        return self.keys, self.parents, self.slot_keys, self.slot_numbers, self.cursor

    def _reset(self, mode: int) -> None:
        """Make all earlier table entries stale; shrink a table that grew beyond what is kept."""
        cursor = self.cursor
        if len(self.slot_keys) > 1 << _KEPT_BITS:
            self.keys, self.parents, self.slot_keys, self.slot_numbers = _allocate(_FIRST_BITS)
        cursor[search.BASE] += cursor[search.TAIL]
        cursor[search.BITS], cursor[search.MODE] = _FIRST_BITS, mode

    def _grow(self) -> None:
        """Double table and lists until the states found fill at most a quarter, and enter them again."""
        bits = int(self.cursor[search.BITS]) + 2
        self.cursor[search.BITS] = bits
        if len(self.slot_keys) < 1 << bits:
            old_keys, old_parents = self.keys, self.parents
            self.keys, self.parents, self.slot_keys, self.slot_numbers = _allocate(bits)
            self.keys[: len(old_keys)], self.parents[: len(old_parents)] = old_keys, old_parents
        search.rehash(self.keys, self.slot_keys, self.slot_numbers, self.cursor)


def _allocate(bits: int) -> _Arrays:
    """Return keys, parents, slot keys and slot numbers for a table of 2**bits slots that is at most half full."""
    return (
        np.zeros(1 << bits - 1, dtype=np.uint64),
        np.zeros(1 << bits - 1, dtype=np.int32),
        np.zeros(1 << bits, dtype=np.uint64),
        np.full(1 << bits, -1, dtype=np.int64),
    )


_local = threading.local()


def workspace() -> Workspace:
    """Return this thread's workspace."""
    if not hasattr(_local, "workspace"):
        _local.workspace = Workspace()
    kept: Workspace = _local.workspace
    return kept
