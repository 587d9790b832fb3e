"""Plays what the rules of a text world say: facts as bits, actions with everything filled in, events that latch.

It knows nothing of the package that the rules come from; tests hold it against that package step by step.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from horizon_bench.outside.textworld_games import Fact, Rule

_CONSTANTS = {"P": "P", "I": "I"}
"""Player and inventory, which rules name directly."""
_PARENTS = {"k": "o", "f": "o"}
"""Types whose things are things of another type as well: keys and food are objects."""


@dataclass(frozen=True, slots=True)
class GroundAction:
    """One action with everything filled in; masks are over the facts that can change."""

    key: tuple[str, ...]
    """Rule and arguments."""
    command: str
    needs: int
    loses: int
    gains: int

    @property
    def rule(self) -> str:
        """Name of the rule."""
        return self.key[0]

    def allowed(self, facts: int) -> bool:
        """Return whether its needs hold."""
        return facts & self.needs == self.needs

    def on(self, facts: int) -> int:
        """Return the facts afterwards."""
        return (facts & ~self.loses) | self.gains


@dataclass(frozen=True)
class Mechanics:
    """A world ready to play."""

    facts: tuple[Fact, ...]
    """Facts that can change, by bit."""
    fixed: frozenset[Fact]
    """Facts that hold for ever."""
    start: int
    actions: Mapping[str, tuple[GroundAction, ...]]
    """Actions by the room that the player must be in."""
    rooms: tuple[tuple[str, int], ...]
    """Each room with the bit of the player being there."""

    def room(self, facts: int) -> str:
        """Return the player's room."""
        return next(room for room, bit in self.rooms if facts & bit)

    def legal(self, facts: int) -> Iterator[GroundAction]:
        """Yield the actions that are possible."""
        for action in self.actions[self.room(facts)]:
            if facts & action.needs == action.needs:
                yield action

    def holding(self, facts: int) -> list[Fact]:
        """Return the changeable facts that hold."""
        return [fact for bit, fact in enumerate(self.facts) if facts >> bit & 1]

    def mask(self, wanted: Sequence[Fact]) -> int:
        """Return the bits of some facts; those that never change count for nothing."""
        index = {fact: bit for bit, fact in enumerate(self.facts)}
        return sum(1 << index[fact] for fact in set(wanted) if fact in index)


def mechanics(facts: Sequence[Fact], rules: Sequence[Rule]) -> Mechanics:
    """Return a world ready to play.

    Args:
        facts: what holds at the start.
        rules: every kind of action.
    """
    found: dict[tuple[str, ...], tuple[Rule, dict[str, str]]] = {}
    by_need = defaultdict(list)
    for rule in rules:
        for need in rule.needs:
            by_need[need[0]].append((rule, need))
    reached: dict[Fact, None] = dict.fromkeys(sorted(facts))
    waiting, known = deque(reached), _Known()
    while waiting:
        fact = waiting.popleft()
        known.add(fact)
        for rule, need in by_need[fact[0]]:
            for binding in _bindings(rule, need, fact, known):
                key = (rule.name, *(binding[name] for name, _ in rule.parameters))
                if key in found:
                    continue
                found[key] = rule, binding
                new = [each for each in (_filled(give, binding) for give in rule.gives) if each not in reached]
                reached.update(dict.fromkeys(new))
                waiting.extend(new)
    return _assemble(facts, reached, found)


def _assemble(
    facts: Sequence[Fact],
    reached: Mapping[Fact, None],
    found: Mapping[tuple[str, ...], tuple[Rule, dict[str, str]]],
) -> Mechanics:
    """Number the facts that can change and write every action in masks."""
    filled = {
        key: (
            {_filled(fact, binding) for fact in rule.needs},
            {_filled(fact, binding) for fact in rule.gives},
        )
        for key, (rule, binding) in found.items()
    }
    lost = {fact for needs, gives in filled.values() for fact in needs - gives}
    changing = tuple(fact for fact in reached if fact in lost or fact not in set(facts))
    bit = {fact: 1 << index for index, fact in enumerate(changing)}
    places = tuple((fact[2], mask) for fact, mask in bit.items() if fact[:2] == ("at", "P"))
    actions = defaultdict(list)
    for key in sorted(found):
        (rule, binding), (needs, gives) = found[key], filled[key]
        action = GroundAction(
            key,
            rule.command.format(**binding),
            sum(bit[fact] for fact in needs if fact in bit),
            sum(bit[fact] for fact in needs - gives),
            sum(bit[fact] for fact in gives - needs if fact in bit),
        )
        here = [fact[2] for fact in needs if fact[:2] == ("at", "P")]
        for room in here or [room for room, _ in places]:
            actions[room].append(action)
    return Mechanics(
        changing,
        frozenset(fact for fact in facts if fact not in bit),
        sum(bit[fact] for fact in set(facts) if fact in bit),
        {room: tuple(each) for room, each in actions.items()},
        places,
    )


class _Known:
    """Facts that are reached, found by predicate and by any one argument."""

    def __init__(self) -> None:
        self._facts: dict[tuple[str, int, str], list[Fact]] = defaultdict(list)

    def add(self, fact: Fact) -> None:
        """Learn a fact."""
        self._facts[fact[0], 0, ""].append(fact)
        for place, value in enumerate(fact[1:], start=1):
            self._facts[fact[0], place, value].append(fact)

    def matching(self, need: Fact, binding: Mapping[str, str]) -> list[Fact]:
        """Return facts that may fill a need, the shortest list that one bound argument gives."""
        keys = [(need[0], 0, "")]
        keys += [(need[0], place, binding[name]) for place, name in enumerate(need[1:], start=1) if name in binding]
        return min((self._facts.get(key, []) for key in keys), key=len)


def _bindings(rule: Rule, first: Fact, fact: Fact, known: _Known) -> Iterator[dict[str, str]]:
    """Yield every way to fill a rule's parameters with `fact` for its need `first` and known facts for the others."""
    wanted = dict(rule.parameters)

    def extend(needs: tuple[Fact, ...], binding: dict[str, str]) -> Iterator[dict[str, str]]:
        if not needs:
            yield binding
            return
        need = min(needs, key=lambda each: len(known.matching(each, binding)))
        rest = tuple(each for each in needs if each is not need)
        for each in known.matching(need, binding):
            longer = _extended(need, each, binding, wanted)
            if longer is not None:
                yield from extend(rest, longer)

    begun = _extended(first, fact, dict(_CONSTANTS), wanted)
    if begun is not None:
        yield from extend(tuple(each for each in rule.needs if each is not first), begun)


def _extended(need: Fact, fact: Fact, binding: dict[str, str], wanted: Mapping[str, str]) -> dict[str, str] | None:
    """Return the binding under which a fact fills a need, or None."""
    if len(fact) != len(need):
        return None
    longer = dict(binding)
    for name, value in zip(need[1:], fact[1:], strict=True):
        if longer.setdefault(name, value) != value or not _is(kind_of(value), wanted.get(name, name)):
            return None
    return longer


def kind_of(thing: str) -> str:
    """Return the type of a thing by its plain name, such as `k_3`."""
    return thing.partition("_")[0]


def _is(kind: str, wanted: str) -> bool:
    return kind == wanted or _PARENTS.get(kind) == wanted


def _filled(fact: Fact, binding: Mapping[str, str]) -> Fact:
    return (fact[0], *(binding[name] for name in fact[1:]))
