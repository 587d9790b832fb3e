"""Makes TextWorld games with the package and writes down what they are: facts, quest and rules, as plain data.

The package's generator samples a map, chains a quest backwards from its last action, and fills up with things that the
quest does not need. What it made is kept as a `Game`, the rules it made it by as `Rule`s. Everything that plays them
reads this data (see `textworld_rules`), so that only new games need the package.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from horizon_bench.outside.extras import need

Fact = tuple[str, ...]
"""Predicate and arguments: `("in", "k_0", "c_1")`."""

ROOMS = 6
OBJECTS = 12
QUEST_LENGTH = 20
FIXED = ("r", "d", "P", "I")
"""Types of entities that are no objects: rooms, doors, player, inventory."""
_LEFT_OUT = ("go.*", "examine.*", "look.*", "inventory.*")
"""Rules that no quest ends with, as in the package's own games."""


@dataclass(frozen=True)
class Rule:
    """One kind of action."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    """Name and type of each, in the order of the quest's arguments."""
    needs: tuple[Fact, ...]
    gives: tuple[Fact, ...]
    """What holds afterwards; what was needed and is not given again is lost."""
    command: str
    """Template of its command, such as `take {o} from {c}`."""


@dataclass(frozen=True)
class Game:
    """A world at the start of its quest."""

    seed: int
    facts: tuple[Fact, ...]
    quest: tuple[tuple[str, ...], ...]
    """Rule and arguments of each action."""


def package_rules() -> tuple[Rule, ...]:
    """Return the rules of the package that change something.

    Raises:
        ImportError: without the package, naming its installation.
    """
    base = _knowledge()
    rules = []
    for name, rule in sorted(base.rules.items()):
        if set(rule.preconditions) == set(rule.postconditions):
            continue
        parameters = tuple((str(place.name), str(place.type)) for place in rule.placeholders)
        rules.append(
            Rule(
                name,
                parameters,
                tuple(map(_fact, rule.preconditions)),
                tuple(map(_fact, rule.postconditions)),
                base.inform7_commands[name],
            )
        )
    return tuple(rules)


def make_games(seed: int) -> Iterator[Game | None]:
    """Yield games without end, the same for the same seed; None for a try whose quest needs more than the objects.

    Args:
        seed: of all chance.

    Raises:
        ImportError: without the package, naming its installation.
    """
    sequence = np.random.SeedSequence(seed)
    while True:
        yield make_game(int(sequence.spawn(1)[0].generate_state(1)[0]))


def make_game(seed: int) -> Game | None:
    """Return the one game of a seed of up to 32 bits, or None where its quest needs more than the objects."""
    generator = need("textworld.generator", "making TextWorld games")
    chaining = need("textworld.generator.chaining", "making TextWorld games")
    options = _options(seed)
    rngs = options.rngs
    world = generator.make_world(ROOMS, nb_objects=0, rngs=rngs)
    options.chaining.rng = rngs["quest"]
    try:
        chain = chaining.sample_quest(world.state, options.chaining)
    except chaining.QuestGenerationError:
        return None
    world.state = chain.initial_state
    missing = OBJECTS - sum(entity.type not in FIXED for entity in world.entities)
    if missing < 0:
        return None
    world.populate(missing, rng=rngs["objects"])
    facts = tuple(sorted(_fact(fact) for fact in world.state.facts))
    return Game(seed, facts, tuple(_arguments(action) for action in chain.actions))


def _options(seed: int) -> Any:
    """Return the package's options of a game."""
    textworld = need("textworld", "making TextWorld games")
    options = textworld.GameOptions()
    options.kb = _knowledge()
    options.nb_rooms, options.nb_objects, options.quest_length = ROOMS, OBJECTS, QUEST_LENGTH
    streams = np.random.SeedSequence(seed).spawn(4)
    names = ("map", "objects", "quest", "grammar")
    options.seeds = {name: int(stream.generate_state(1)[0]) for name, stream in zip(names, streams, strict=True)}
    chaining = options.chaining
    chaining.rules_per_depth = [options.kb.rules.get_matching(".*", exclude=list(_LEFT_OUT))]
    chaining.backward = chaining.create_variables = True
    chaining.restricted_types = {"r", "d"}
    return options


@cache
def _knowledge() -> Any:
    """Return the package's rules, loaded once: that takes longer than a game."""
    return need("textworld.generator.data", "making TextWorld games").KnowledgeBase.load()


def _fact(proposition: Any) -> Fact:
    """Return a proposition, or a predicate of a rule, as plain text."""
    arguments = getattr(proposition, "arguments", None)
    places = proposition.parameters if arguments is None else arguments
    return (str(proposition.name), *(str(place.name) for place in places))


def _arguments(action: Any) -> tuple[str, ...]:
    """Return the rule of an action and what stands for its parameters."""
    rule = _knowledge().rules[action.name]
    mapping = rule.match(action)
    return (action.name, *(str(mapping[place].name) for place in rule.placeholders))
