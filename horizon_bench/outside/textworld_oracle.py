"""Exact distances in a TextWorld game: best-first search over the actions that can help, and why no other can.

Nothing but an event of the quest ever needs a thing to lie anywhere, a lock to be shut or food to be eaten, and what
one carries is never in the way. So a shortest way puts down, eats, closes and locks only what a coming event asks for;
everything else is left out of the search. Tests hold this against a search over all actions.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count

from horizon_bench.outside.textworld_house import House, TextState
from horizon_bench.outside.textworld_rules import GroundAction

_ALWAYS = ("go/", "open/", "unlock/", "take")
_MOST_KEPT = 50_000

Node = tuple[int, int]
"""Facts and events that have happened."""


class TextWorldOracle:
    """Exact knowledge about one start."""

    def __init__(self, house: House, start: TextState) -> None:
        """Bind the oracle to a start.

        Args:
            house: the game.
            start: its start.
        """
        self._house, self._start = house, start
        self._all = (1 << len(house.events)) - 1
        self._known: dict[Node, int | None] = {}
        self._next: dict[Node, str] = {}
        self._always = {
            room: tuple(action for action in actions if action.rule.startswith(_ALWAYS))
            for room, actions in house.mechanics.actions.items()
        }
        self._other = {
            room: tuple(action for action in actions if not action.rule.startswith(_ALWAYS))
            for room, actions in house.mechanics.actions.items()
        }

    @property
    def start(self) -> TextState:
        """The start state the oracle is bound to."""
        return self._start

    @property
    def distance(self) -> int:
        """Goal distance of the start, in commands."""
        return self._togo((self._start.facts, self._start.done)) or 0

    @property
    def subgoals(self) -> tuple[str, ...]:
        """The events of the quest that is left."""
        return tuple(event.command for event in self._house.events)

    def distance_to_go(self, state: TextState) -> int | None:
        """Return the fewest commands from `state` to the end of the quest; None if it cannot be reached any more."""
        return self._togo((state.facts, state.done))

    def expert_moves(self, state: TextState) -> tuple[str, ...]:
        """Return the next command of a shortest way, the same every time; () at the end or out of reach."""
        node = (state.facts, state.done)
        return (self._next[node],) if self._togo(node) else ()

    def plan(self, state: TextState) -> tuple[str, ...] | None:
        """Return one shortest plan; None if the end of the quest is out of reach."""
        node = (state.facts, state.done)
        if self._togo(node) is None:
            return None
        commands = []
        while self._togo(node):
            commands.append(self._next[node])
            action = self._house.action(node[0], commands[-1])
            if action is None:
                raise RuntimeError(f"the search planned {commands[-1]!r}, which is not possible")
            node = self._after(node, action)
        return tuple(commands)

    def subgoals_done(self, state: TextState) -> tuple[bool, ...]:
        """Return which events have happened."""
        return tuple(bool(state.done >> index & 1) for index in range(len(self._house.events)))

    def own_subgoal(self, state: TextState, move: str) -> int | None:
        """Return the index of the first event that has not happened; None at the end."""
        done = self.subgoals_done(state)
        return done.index(False) if False in done else None

    # ---------------------------------------------------------------- search

    def _togo(self, node: Node) -> int | None:
        if node[1] == self._all:
            return 0
        if node not in self._known:
            if len(self._known) > _MOST_KEPT:
                self._known.clear()
                self._next.clear()
            self._search(node)
        return self._known[node]

    def _after(self, node: Node, action: GroundAction) -> Node:
        facts = action.on(node[0])
        return facts, self._house.happened(facts, node[1])

    def _search(self, first: Node) -> None:
        """Find a shortest way from a node and keep the distances along it."""
        order = count()
        passed: dict[Node, tuple[int, Node | None, str]] = {first: (0, None, "")}
        queue = [(self._least(first), next(order), first)]
        closed = set()
        while queue:
            _, _, node = heappop(queue)
            if node in closed:
                continue
            closed.add(node)
            steps = passed[node][0]
            if node[1] == self._all or self._known.get(node) is not None:
                self._trace(passed, node)
                return
            for action in self._helpful(node):
                after = self._after(node, action)
                if after not in passed or passed[after][0] > steps + 1:
                    passed[after] = (steps + 1, node, action.command)
                    heappush(queue, (steps + 1 + self._rest(after), next(order), after))
        self._known[first] = None

    def _rest(self, node: Node) -> int:
        """Return the distance where it is known, else a number that it cannot be under."""
        known = self._known.get(node)
        return self._least(node) if known is None else known

    def _least(self, node: Node) -> int:
        """Return the number of events that have not happened: each needs an action of its own."""
        return (self._all & ~node[1]).bit_count()

    def _helpful(self, node: Node) -> list[GroundAction]:
        """Return the possible actions that can be part of a shortest way."""
        facts, done = node
        room = self._house.mechanics.room(facts)
        wanted = 0
        shut: set[str] = set()
        for index, event in enumerate(self._house.events):
            if not done >> index & 1:
                wanted |= event.mask
        for bit, fact in enumerate(self._house.mechanics.facts):
            if wanted >> bit & 1 and fact[0] in ("closed", "locked"):
                shut.add(fact[1])
        found = [action for action in self._always[room] if action.allowed(facts)]
        for action in self._other[room]:
            if action.allowed(facts) and (action.gains & wanted or shut.intersection(action.key[1:])):
                found.append(action)
        return found

    def _trace(self, passed: dict[Node, tuple[int, Node | None, str]], node: Node) -> None:
        """Keep the distances and commands of the way that ends at a node of known distance."""
        togo = 0 if node[1] == self._all else self._rest(node)
        while (before := passed[node][1]) is not None:
            command = self._house.named(passed[node][2])
            togo += 1
            self._known[before], self._next[before] = togo, command
            node = before
