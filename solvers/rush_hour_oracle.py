"""What the exact solver knows about one Rush Hour instance, behind the `Oracle` protocol.

Two kinds of milestones. `distance`: quarters of the start's distance passed. `blockers`: each vehicle that stands in
the primary car's way at the start is cleared for good (some shortest way never brings it back), then the exit.
"""

from __future__ import annotations

from collections import OrderedDict
from weakref import ReferenceType, ref

from puzzles.names import check_name
from puzzles.rush_hour import RushHour, RushHourState, Step
from solvers.milestones import threshold_names, thresholds
from solvers.rush_hour import solve
from solvers.rush_hour_map import DistanceMap, blockers
from solvers.rush_hour_workspace import MAX_STATES

SUBGOALS = ("distance", "blockers")

_CACHE_BYTES = 256 * 1024 * 1024
"""Memory of all maps together; beyond it the oldest are dropped, and made again where they are asked for."""
_maps: OrderedDict[RushHourState, DistanceMap] = OrderedDict()


class RushHourOracle:
    """Oracle of one board; the distance map is made on first need and shared by oracles of the same start."""

    def __init__(
        self, puzzle: RushHour, start: RushHourState, subgoals: str = "distance", max_states: int = MAX_STATES
    ) -> None:
        """Solve the start.

        Args:
            puzzle: the rules.
            start: the state the oracle is bound to.
            subgoals: `distance` or `blockers`.
            max_states: budget of states for search and map.

        Raises:
            ValueError: if the goal cannot be reached from the start, or the kind of subgoals is unknown.
            SearchBudgetError: if the budget is used up.
        """
        check_name("subgoals", subgoals, SUBGOALS)
        solution = solve(start, max_states=max_states)
        if solution.distance is None:
            board = puzzle.format(start)
            raise ValueError(f"the goal cannot be reached from {board} ({solution.states} states searched)")
        self._puzzle, self._start, self._distance = puzzle, start, solution.distance
        self._max_states = max_states
        self._thresholds = thresholds(solution.distance)
        self._blockers = tuple(start.layout.letters[vehicle] for vehicle in blockers(start))
        self._by_distance = subgoals == "distance"
        self._map: ReferenceType[DistanceMap] | None = None

    @property
    def start(self) -> RushHourState:
        """The start state the oracle is bound to."""
        return self._start

    @property
    def distance(self) -> int:
        """Goal distance of the start, in steps."""
        return self._distance

    @property
    def subgoals(self) -> tuple[str, ...]:
        """Names of the milestones: `distance<=N`, or `cleared L` per blocker and `exit`."""
        if self._by_distance:
            return threshold_names(self._thresholds)
        return (*(f"cleared {letter}" for letter in self._blockers), "exit")

    @property
    def map(self) -> DistanceMap:
        """Distance to go of every state reachable from the start."""
        held = None if self._map is None else self._map()
        if held is None:
            held = _shared_map(self._start, self._max_states)
            self._map = ref(held)
        return held

    def distance_to_go(self, state: RushHourState) -> int | None:
        """Return the fewest steps from `state`, which must be reachable from the start, to the goal."""
        return self._distance if state is self._start else self.map.distance(state)

    def expert_moves(self, state: RushHourState) -> tuple[Step, ...]:
        """Return every first step of a shortest plan; () when solved."""
        togo = self.map.distance(state)
        if not togo:
            return ()
        apply, distance = self._puzzle.apply, self.map.distance
        return tuple(move for move in self._puzzle.moves(state) if distance(apply(state, move)) == togo - 1)

    def plan(self, state: RushHourState) -> tuple[Step, ...] | None:
        """Return one shortest plan from `state`, the same every time."""
        solution = solve(state, max_states=self._max_states)
        if solution.moves is None:
            return None
        return tuple(Step(move.vehicle, move.direction) for move in solution.moves)

    def subgoals_done(self, state: RushHourState) -> tuple[bool, ...]:
        """Return which subgoals hold in `state`, shape [subgoals]."""
        if not self._by_distance:
            return (*self.map.cleared_for_good(state).values(), self._puzzle.solved(state))
        togo = self.distance_to_go(state)
        return tuple(togo is not None and togo <= level for level in self._thresholds)

    def own_subgoal(self, state: RushHourState, move: Step) -> int | None:
        """Return the subgoal a move works towards: the moved blocker's own, else the first that does not hold yet."""
        done = self.subgoals_done(state)
        if not self._by_distance and move.vehicle in self._blockers:
            own = self._blockers.index(move.vehicle)
            if not done[own]:
                return own
        return done.index(False) if False in done else None


def _shared_map(start: RushHourState, max_states: int) -> DistanceMap:
    """Return the map of a start, kept for the next oracle of the same start as long as memory allows."""
    held = _maps.pop(start, None) or DistanceMap(start, max_states=max_states)
    _maps[start] = held
    while len(_maps) > 1 and sum(each.nbytes for each in _maps.values()) > _CACHE_BYTES:
        _maps.popitem(last=False)
    return held
