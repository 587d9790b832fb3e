"""Distances to go of a whole cluster of states, and the number of shortest ways."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numba import njit
from numpy.typing import NDArray

from puzzles.rush_hour import RushHourState
from solvers import rush_hour_search as search
from solvers.rush_hour_tables import coding, decode, encode, line_members, tables
from solvers.rush_hour_workspace import MAX_STATES, workspace

_EXACT = 2.0**53
"""Whole numbers below this are exact as floats."""


class DistanceMap:
    """The distance to go of every state reachable from a board: 10 bytes a state.

    The states are numbered in a fixed order (by key). States of another layout are not on the map.
    """

    def __init__(
        self,
        start: RushHourState,
        metric: str = "steps",
        max_states: int = MAX_STATES,
        max_seconds: float | None = None,
    ) -> None:
        self.start, self.metric = start, metric
        self._members = line_members(start)
        self._code = coding(start.layout, self._members)
        space = workspace()
        built, _ = space.run(start, metric, search.EXHAUST, max_states, max_seconds)
        found = space.found
        distances = np.empty(found, dtype=np.int16)
        queue = np.empty(found, dtype=np.int32)
        arguments = (built, space.keys, space.slot_keys, space.slot_numbers, space.cursor, queue)
        search.measure(*arguments, distances, np.zeros(3, dtype=np.int64))
        order = np.argsort(space.keys[:found])
        self._keys: NDArray[np.uint64] = space.keys[order]
        self.distances: NDArray[np.int16] = distances[order]
        """Distance to go of each state, -1 everywhere if no goal is reachable, shape [states]."""
        self.cleared: dict[str, NDArray[np.bool_]] = {}
        """For each vehicle in the way at the start, by letter: whether it is cleared for good, shape [states]."""
        for vehicle in blockers(start):
            around = np.empty(found, dtype=np.int16)
            search.measure(*arguments, around, self._shut(vehicle))
            self.cleared[start.layout.letters[vehicle]] = (around == distances)[order]

    def __len__(self) -> int:
        """Return the number of reachable states."""
        return len(self._keys)

    @property
    def nbytes(self) -> int:
        """Memory the map holds, in bytes."""
        return self._keys.nbytes + self.distances.nbytes + sum(flags.nbytes for flags in self.cleared.values())

    @property
    def goals(self) -> int:
        """Number of reachable goal states."""
        return int((self.distances == 0).sum())

    @property
    def farthest(self) -> int | None:
        """Largest distance on the map; None if no goal is reachable."""
        largest = int(self.distances.max())
        return None if largest < 0 else largest

    def __contains__(self, state: object) -> bool:
        return isinstance(state, RushHourState) and self._number(state) >= 0

    def distance(self, state: RushHourState) -> int | None:
        """Return the distance to go of a state; None if the goal is out of reach.

        Raises:
            ValueError: if the state cannot be reached from the map's start.
        """
        number = self._number(state)
        if number < 0:
            raise ValueError("this state cannot be reached from the start of the distance map")
        togo = int(self.distances[number])
        return None if togo < 0 else togo

    def cleared_for_good(self, state: RushHourState) -> dict[str, bool]:
        """Return which of the vehicles in the way at the start are cleared for good, by letter.

        A vehicle is cleared for good where some shortest way to the goal never has it in the exit row ahead of the
        primary car.
        """
        number = self._number(state)
        return {letter: number >= 0 and bool(flags[number]) for letter, flags in self.cleared.items()}

    def states_at(self, distance: int) -> NDArray[np.int64]:
        """Return the numbers of all states at a distance to go."""
        return np.flatnonzero(self.distances == distance)

    def state(self, number: int) -> RushHourState:
        """Return the state with a number."""
        built = tables(self.start.layout, self._members, self.metric)
        return decode(int(self._keys[number]), self.start.layout, built, self._code)

    def items(self) -> Iterator[tuple[RushHourState, int]]:
        """Iterate over all states and their distances to go (-1: out of reach)."""
        for number, togo in enumerate(self.distances.tolist()):
            yield self.state(number), togo

    def _shut(self, vehicle: int) -> NDArray[np.int64]:
        """Return the sets of arrangements in which `vehicle` is in the primary car's way, as `measure` takes them."""
        layout, code = self.start.layout, self._code
        line = code.line_of[vehicle]
        place, lead = self._members[line].index(vehicle), self._members[0].index(0)
        row, column = layout.exit_row, layout.lines[vehicle]
        crossing = [places[place] <= row < places[place] + layout.lengths[vehicle] for places in code.positions[line]]
        behind = [places[lead] < column for places in code.positions[0]]
        return np.array([line, _bits(crossing), _bits(behind)], dtype=np.int64)

    def _number(self, state: RushHourState) -> int:
        if state.layout is not self.start.layout and state.layout != self.start.layout:
            return -1
        key = encode(state, self._code)
        return -1 if key is None else int(_lookup(self._keys, np.uint64(key)))


def blockers(state: RushHourState) -> tuple[int, ...]:
    """Return the vertical vehicles that stand in the exit row ahead of the primary car, from left to right."""
    layout, row = state.layout, state.layout.exit_row
    found = [
        vehicle
        for vehicle, position in enumerate(state.positions)
        if not layout.horizontal[vehicle]
        and layout.lines[vehicle] > state.positions[0]
        and position <= row < position + layout.lengths[vehicle]
    ]
    return tuple(sorted(found, key=layout.lines.__getitem__))


def _bits(flags: list[bool]) -> int:
    return sum(1 << number for number, flag in enumerate(flags) if flag)


@njit(cache=True)
def _lookup(keys, key):  # type: ignore[no-untyped-def]
    """Return the index of `key` among sorted keys, -1 if it is not there."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(keys) and keys[low] == key else -1


def count_shortest(start: RushHourState, metric: str) -> int:
    """Return the exact number of different shortest ways from `start` to a goal; 0 if none is reachable."""
    space = workspace()
    built, _ = space.run(start, metric, search.FINISH_LEVEL, MAX_STATES, None)
    if space.goal is None:
        return 0
    found = space.found
    depths = np.empty(found, dtype=np.int32)
    counts = np.zeros(found, dtype=np.float64)
    arguments = (built, space.keys, space.parents, space.slot_keys, space.slot_numbers, space.cursor)
    edges = np.empty((0, 2), dtype=np.int32)
    number = _count(*arguments, depths, counts, edges)
    lead = space.keys[:found] >> built.shift[0] & built.mask[0]
    is_goal = built.goal_set >> lead & np.uint64(1)
    goals = np.flatnonzero((depths == depths[space.goal]) & (is_goal > 0)).tolist()
    total = float(counts[goals].sum())
    if total < _EXACT and float(counts.max()) < _EXACT:
        return int(total)
    edges = np.empty((number, 2), dtype=np.int32)
    _count(*arguments, depths, counts, edges)
    exact = [0] * found
    exact[0] = 1
    for source, target in edges.tolist():
        exact[target] += exact[source]
    return sum(exact[goal] for goal in goals)


@njit(cache=True, nogil=True)
def _count(tables, keys, parents, slot_keys, slot_numbers, cursor, depths, counts, edges):  # type: ignore[no-untyped-def]
    """Fill depth and number of shortest ways of each state found; list the edges between levels if there is room."""
    begin, sweep, flip, lines = tables.begin, tables.sweep, tables.flip, len(tables.shift)
    base, bits, total = cursor[search.BASE], cursor[search.BITS], cursor[search.TAIL]
    at = np.empty(16, dtype=np.int64)
    depths[0] = 0
    counts[:] = 0.0
    counts[0] = 1.0
    for number in range(1, total):
        depths[number] = depths[parents[number]] + 1
    edge_count = 0
    last = depths[total - 1]
    for number in range(total):
        if depths[number] == last:
            break
        key = keys[number]
        occupied = search.unpack(key, tables, at)
        for line in range(lines):
            for transition in range(begin[at[line]], begin[at[line] + 1]):
                if sweep[transition] & occupied == 0:
                    other = search.find(key ^ flip[transition], slot_keys, slot_numbers, base, bits)
                    if other >= 0 and depths[other] == depths[number] + 1:
                        counts[other] += counts[number]
                        if len(edges) > 0:
                            edges[edge_count, 0], edges[edge_count, 1] = number, other
                        edge_count += 1
    return edge_count
