"""Studies on a puzzle of your own: `--puzzle MODULE:NAME`, with its own levels or its examples as levels.

NAME is a class of the module, a name in `PUZZLES`, or an environment id that the module registers by
`horizon_bench.register_puzzle`. A puzzle that states `levels()` and `starts(level, split)` is taken at its word: its
first level is the short one, the next the long one, and SFT sees both. Of others the starts are the examples and, where
these are few, states that moves reach from them; they are sorted by goal distance into three levels `D1`, `D2`, `D3`,
near to far, and within each level split by content key.
"""

from __future__ import annotations

import hashlib
import logging
from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import gymnasium

import solvers
from curricula import Instance
from horizon_bench.envs.instances import make_puzzle
from puzzles import PUZZLES, Puzzle
from puzzles.names import check_name, did_you_mean
from solvers.base import Oracle
from studies.own_modules import import_own
from studies.questions import Scale

logger = logging.getLogger(__name__)

LEVELS = ("D1", "D2", "D3")
FEWEST_KEYS = 9
"""Fewest different starts: three a level, one for each split."""
MOST_STARTS = 1500
"""Starts that are graded at most."""


def scale_of(name: str) -> Scale:
    """Return the scale of the puzzle `MODULE:NAME`.

    Raises:
        ValueError: if module or name lead nowhere, or the puzzle has too few starts.
    """
    loaded = import_own("puzzle", name)
    module, _, short = name.partition(":")
    spec = _spec(loaded, module, short)
    if not _stated_levels(spec):
        graded_starts(spec)
    near, far = level_names(spec)[:2]
    return Scale(short, (near,), (far,), puzzle=spec, module=module)


@lru_cache(maxsize=16)
def _stated_levels(spec: str) -> tuple[str, ...]:
    """Return the levels that a puzzle states itself, () where it states none."""
    return make_puzzle(spec, None).levels()


def level_names(spec: str) -> tuple[str, ...]:
    """Return the levels of a puzzle, near to far: its own, else three by distance.

    Raises:
        ValueError: if it states a single level, where a study needs a short and a long one.
    """
    own = _stated_levels(spec)
    if len(own) == 1:
        raise ValueError(f"puzzle {spec!r} has one level, {own[0]}; a study needs at least two, or none")
    return own or LEVELS


def _spec(loaded: Any, module: str, short: str) -> str:
    """Return what environments know the puzzle by: a registered name or an import string."""
    if callable(getattr(loaded, short, None)):
        return f"{module}:{short}"
    if short in PUZZLES:
        return short
    for env_id in (short, f"{module}/{short}", f"{module}/{short}-v0"):
        if env_id in gymnasium.registry:
            return str(gymnasium.registry[env_id].kwargs.get("puzzle", ""))
    classes = [name for name, value in vars(loaded).items() if callable(value)]
    hint = did_you_mean(short, [*classes, *PUZZLES])
    raise ValueError(f"module {module!r} has no puzzle {short!r}{hint} (a class, a PUZZLES name or a registered id)")


def starts_of(spec: str, level: str, split: str, most: int | None = None) -> list[Instance]:
    """Return the instances of one level and split of a puzzle.

    Args:
        spec: what environments know the puzzle by.
        level: one of `level_names`.
        split: `train`, `validation` or `test`.
        most: the first of them only.
    """
    check_name("level", level, level_names(spec))
    if _stated_levels(spec):
        return list(_stated_starts(spec, level, split, most))
    return [one for one in graded_starts(spec) if (one.level, one.split) == (level, split)][:most]


@lru_cache(maxsize=64)
def _stated_starts(spec: str, level: str, split: str, most: int | None) -> tuple[Instance, ...]:
    """Return instances of a level that the puzzle states itself."""
    puzzle = make_puzzle(spec, None)
    found = []
    for text in puzzle.starts(level, split)[:most]:
        distance = solvers.oracle(puzzle, puzzle.parse(text)).distance
        found.append(Instance(spec, None, level, split, text, distance, -1, "-", "-", puzzle.key_of(text), "-"))
    return tuple(found)


@lru_cache(maxsize=4)
def graded_starts(spec: str) -> tuple[Instance, ...]:
    """Return the puzzle's examples with level and split, near to far.

    Raises:
        ValueError: if there are too few different starts that can be solved.
    """
    puzzle = make_puzzle(spec, None)
    starts = [(distance, puzzle.key(state), puzzle.format(state)) for state, distance in _explore(puzzle)]
    by_key = {key: distance for distance, key, _ in sorted(starts, reverse=True)}
    if len(by_key) < FEWEST_KEYS:
        raise ValueError(
            f"puzzle {spec!r} offers {len(by_key)} different starts that can be solved, where a study needs at least "
            f"{FEWEST_KEYS}, better some hundreds; let its examples() return more, or state levels() and starts()"
        )
    place = _placed(by_key)
    return tuple(
        Instance(spec, None, *place[key], text, distance, -1, "-", "-", key, "-")
        for distance, key, text in sorted(starts)
    )


def _explore(puzzle: Puzzle[Any, Any]) -> Iterator[tuple[Any, int]]:
    """Yield starts with their distance: the examples, then round by round the states that moves reach from them."""
    examples = [puzzle.parse(text) for text in puzzle.examples()[:MOST_STARTS]]
    waiting = deque((state, oracle) for state in examples for oracle in _oracles(puzzle, state))
    if lost := len(examples) - len(waiting):
        logger.warning("%s: %d of %d examples cannot be solved and are left out", puzzle.name, lost, len(examples))
    seen, found = set(examples), 0
    while waiting and found < MOST_STARTS:
        state, oracle = waiting.popleft()
        distance = oracle.distance_to_go(state)
        if not distance or not _readable(puzzle, state):
            continue
        found += 1
        yield state, distance
        for after in (puzzle.apply(state, move) for move in puzzle.moves(state)):
            if after not in seen:
                seen.add(after)
                waiting.append((after, oracle))


def _oracles(puzzle: Puzzle[Any, Any], state: Any) -> list[Oracle[Any, Any]]:
    """Return the one oracle of a state, or none where the goal cannot be reached from it."""
    try:
        return [solvers.oracle(puzzle, state)]
    except ValueError:
        return []


def _readable(puzzle: Puzzle[Any, Any], state: Any) -> bool:
    """Return whether the state is a start of its own: its text reads back as the same state."""
    try:
        return bool(puzzle.parse(puzzle.format(state)) == state)
    except ValueError:
        return False


def _placed(distance_of: dict[str, int]) -> dict[str, tuple[str, str]]:
    """Return level and split of each key: equal parts by distance, then shares of each level by the key's hash."""
    ordered = sorted(distance_of, key=lambda key: (distance_of[key], _hash(key)))
    size = -(-len(ordered) // len(LEVELS))
    place = {}
    for index, level in enumerate(LEVELS):
        members = sorted(ordered[index * size : (index + 1) * size], key=_hash)
        for split, keys in _shares(members).items():
            place.update(dict.fromkeys(keys, (level, split)))
    return place


def _shares(keys: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return about 15 % each of the keys for validation and test, at least one, the rest for training."""
    part = max(1, round(0.15 * len(keys)))
    return {"validation": keys[:part], "test": keys[part : 2 * part], "train": keys[2 * part :]}


def _hash(key: str) -> str:
    return hashlib.blake2b(key.encode(), digest_size=8).hexdigest()
