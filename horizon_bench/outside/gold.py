"""The oracle of a world that can only be played: it knows one way, the gold commands, and says so."""

from __future__ import annotations

from horizon_bench.outside.commands import tidy
from horizon_bench.outside.simulators import Trail
from horizon_bench.outside.world import World
from solvers.milestones import threshold_names, thresholds


class GoldOracle:
    """Knows the gold commands of one task.

    On their way the distance to go is the number of commands left. Off it the oracle goes on from the last gold command
    that was carried out in order, which is a guess: a world that can only be played tells no more.
    """

    def __init__(self, world: World, start: Trail) -> None:
        """Bind the oracle to a start.

        Raises:
            ValueError: if the task has no gold commands.
        """
        self._world, self._start = world, start
        self._gold = tuple(map(tidy, world.gold(start.task)))
        if not self._gold:
            raise ValueError(f"task {start.task!r} of {world.name} has no gold commands, so no known solution")
        self._names = world.subgoal_names(start.task)
        self._thresholds = thresholds(len(self._gold))

    @property
    def start(self) -> Trail:
        """The start state the oracle is bound to."""
        return self._start

    @property
    def distance(self) -> int:
        """Number of gold commands."""
        return len(self._gold)

    @property
    def subgoals(self) -> tuple[str, ...]:
        """Names of the milestones, in a fixed order."""
        return self._names or threshold_names(self._thresholds)

    def distance_to_go(self, state: Trail) -> int | None:
        """Return how many gold commands are left; 0 at the goal, None where the world has ended without it."""
        view = self._world.view(state)
        if view.won:
            return 0
        return None if view.lost else max(1, self.distance - self._passed(state))

    def expert_moves(self, state: Trail) -> tuple[str, ...]:
        """Return the next gold command where the world lists it, or where all before it were followed to the letter."""
        view, passed = self._world.view(state), self._passed(state)
        if view.won or view.lost or passed == self.distance:
            return ()
        command = self._gold[passed]
        return (command,) if self._on_way(state) or command in self._world.moves(state) else ()

    def plan(self, state: Trail) -> tuple[str, ...] | None:
        """Return the gold commands left; None off their way, where nothing is sure, unless the goal is reached."""
        if self._world.view(state).won:
            return ()
        return self._gold[len(state.commands) :] if self._on_way(state) else None

    def subgoals_done(self, state: Trail) -> tuple[bool, ...]:
        """Return which subgoals hold in `state`; quarters of the way, where the world states none."""
        if self._names:
            return self._world.subgoals_done(self._start, state)
        togo = self.distance_to_go(state)
        return tuple(togo is not None and togo <= level for level in self._thresholds)

    def own_subgoal(self, state: Trail, move: str) -> int | None:
        """Return the index of the first subgoal that does not hold yet; None if all hold."""
        done = self.subgoals_done(state)
        return done.index(False) if False in done else None

    def _on_way(self, state: Trail) -> bool:
        return state.commands == self._gold[: len(state.commands)]

    def _passed(self, state: Trail) -> int:
        """Return how many gold commands, from the first on, were carried out in order."""
        passed = 0
        for command in state.commands:
            passed += passed < len(self._gold) and command == self._gold[passed]
        return passed
