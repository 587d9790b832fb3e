"""The oracle that needs nothing but the rules: it walks the whole graph of reachable states."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from puzzles.base import Puzzle
from solvers.milestones import threshold_names, thresholds

StateT = TypeVar("StateT", bound=Hashable)
MoveT = TypeVar("MoveT", bound=Hashable)

MAX_STATES = 200_000
"""States that a walk may visit."""
MOST_WALKS, MOST_KEPT = 64, 1_000_000
"""Walks of a puzzle that are kept for other starts, and the states that they may hold together."""

_WALKS: WeakKeyDictionary[Any, deque[dict[Any, int]]] = WeakKeyDictionary()
"""Distances to go by puzzle. What lies around a state does not depend on where a walk began."""


class BreadthFirstOracle(Generic[StateT, MoveT]):
    """Exact knowledge about one instance of any puzzle small enough to be walked through.

    Subgoals are the puzzle's own where it states some, else quarters of the start's distance.
    """

    def __init__(self, puzzle: Puzzle[StateT, MoveT], start: StateT, max_states: int = MAX_STATES) -> None:
        """Walk every state reachable from `start`, unless a walk from another start of the puzzle has been there.

        Args:
            puzzle: the rules.
            start: the state the oracle is bound to.
            max_states: how many states may be visited.

        Raises:
            ValueError: if more states are reachable than allowed, or the goal is not among them.
        """
        self._puzzle, self._start = puzzle, start
        self._distances = _shared_distances(puzzle, start, max_states)
        if start not in self._distances:
            raise ValueError(f"{puzzle.name}: the goal cannot be reached from {puzzle.format(start)}")
        self._thresholds = thresholds(self.distance)
        self._own_names = puzzle.subgoals(start)

    @property
    def start(self) -> StateT:
        """The start state the oracle is bound to."""
        return self._start

    @property
    def distance(self) -> int:
        """Goal distance of the start, in atomic actions."""
        return self._distances[self._start]

    @property
    def subgoals(self) -> tuple[str, ...]:
        """Names of the milestones, in a fixed order."""
        return self._own_names or threshold_names(self._thresholds)

    def distance_to_go(self, state: StateT) -> int | None:
        """Return the fewest atomic actions from `state` to the goal; None if the goal cannot be reached any more."""
        return self._distances.get(state)

    def expert_moves(self, state: StateT) -> tuple[MoveT, ...]:
        """Return every first move of a shortest plan; () when solved or out of reach."""
        togo = self._distances.get(state)
        if not togo:
            return ()
        apply, distances = self._puzzle.apply, self._distances
        return tuple(move for move in self._puzzle.moves(state) if distances.get(apply(state, move)) == togo - 1)

    def plan(self, state: StateT) -> tuple[MoveT, ...] | None:
        """Return the shortest plan that takes the first expert move each time; None if the goal is out of reach."""
        togo = self._distances.get(state)
        if togo is None:
            return None
        moves = []
        for _ in range(togo):
            moves.append(self.expert_moves(state)[0])
            state = self._puzzle.apply(state, moves[-1])
        return tuple(moves)

    def subgoals_done(self, state: StateT) -> tuple[bool, ...]:
        """Return which subgoals hold in `state`, shape [subgoals]."""
        if self._own_names:
            return self._puzzle.subgoals_done(self._start, state)
        togo = self._distances.get(state)
        return tuple(togo is not None and togo <= level for level in self._thresholds)

    def own_subgoal(self, state: StateT, move: MoveT) -> int | None:
        """Return the index of the first subgoal that does not hold yet; None if all hold."""
        done = self.subgoals_done(state)
        return done.index(False) if False in done else None


def _shared_distances(puzzle: Puzzle[StateT, MoveT], start: StateT, max_states: int) -> dict[StateT, int]:
    """Return the distances to go around `start`, walked once for all starts that one walk reaches."""
    try:
        walks = _WALKS.setdefault(puzzle, deque())
    except TypeError:  # a puzzle that cannot be a key
        return _distances(puzzle, start, max_states)
    known = next((walk for walk in walks if start in walk), None)
    if known is None:
        known = _distances(puzzle, start, max_states)
        walks.append(known)
        while len(walks) > 1 and (len(walks) > MOST_WALKS or sum(map(len, walks)) > MOST_KEPT):
            walks.popleft()
    return known


def _distances(puzzle: Puzzle[StateT, MoveT], start: StateT, max_states: int) -> dict[StateT, int]:
    """Return the distance to go of every state reachable from `start` that can still reach the goal."""
    before: dict[StateT, list[StateT]] = {start: []}
    goals = []
    queue = deque([start])
    while queue:
        state = queue.popleft()
        if puzzle.solved(state):
            goals.append(state)
            continue
        for move in puzzle.moves(state):
            after = puzzle.apply(state, move)
            if after not in before:
                if len(before) >= max_states:
                    raise ValueError(
                        f"{puzzle.name}: more than max_states={max_states} states are reachable from "
                        f"{puzzle.format(start)}; raise max_states or give the puzzle an oracle of its own"
                    )
                before[after] = []
                queue.append(after)
            before[after].append(state)
    distances = dict.fromkeys(goals, 0)
    queue = deque(goals)
    while queue:
        state = queue.popleft()
        for earlier in before[state]:
            if earlier not in distances:
                distances[earlier] = distances[state] + 1
                queue.append(earlier)
    return distances
