"""Laws of a puzzle and its oracle, each a function that raises at the first breach."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np

from horizon_bench.testing.strategies import Walk, follow
from horizon_bench.testing.subjects import Subject
from puzzles.base import EXACT_DISTANCE, LISTED_MOVES, Puzzle

_LONGEST_DAMAGED = 40
_MANY, _FEW = 8, 3
"""Moves tried in each state; few where each costs a replay."""


class BreachError(AssertionError):
    """What a law found."""


def demand(holds: bool, found: str) -> None:
    """Raise `BreachError` with what was found unless it holds."""
    if not holds:
        raise BreachError(found)


def text_round_trip(subject: Subject, walk: Walk) -> None:
    """`parse(format(start)) == start`, and the board can be rendered."""
    puzzle, start = subject.puzzle, subject.puzzle.parse(walk.start)
    text = puzzle.format(start)
    demand(isinstance(text, str) and "\n" not in text, f"format gives {text!r}, must be one line of text")
    demand(puzzle.parse(text) == start, f"parse(format(start)) is {puzzle.parse(text)!r}, start is {start!r}")
    demand(puzzle.format(puzzle.parse(text)) == text, "format(parse(format(start))) differs from format(start)")
    for state in follow(puzzle, walk.start, walk.choices):
        demand(isinstance(puzzle.render(state), str), "render gives no text")
    demand(
        isinstance(puzzle.key(start), str) and puzzle.key(start) == puzzle.key(puzzle.parse(text)), "key is not stable"
    )


def names_and_rules(subject: Subject, walk: Walk) -> None:
    """The puzzle has a name and rules that can stand in a prompt, and its starts can be played."""
    puzzle = subject.puzzle
    name = getattr(puzzle, "name", None)
    demand(isinstance(name, str) and bool(name), f"name is {name!r}, must be text")
    for what, text in (("rules", puzzle.rules()), ("render", puzzle.render(puzzle.parse(walk.start)))):
        demand(isinstance(text, str) and bool(text.strip()), f"{what} gives {text!r}, must be text")
    demand(not puzzle.solved(puzzle.parse(walk.start)), f"start {walk.start!r} is solved already")


def replies_never_raise(subject: Subject, walk: Walk) -> None:
    """`parse_action` gives None or a tuple of moves, whatever the text; damaged actions of the puzzle are tried too."""
    puzzle = subject.puzzle
    for text in dict.fromkeys((walk.text, walk.text.strip(), walk.text.lower(), *_damaged(subject, walk))):
        try:
            moves = puzzle.parse_action(text)
        except Exception as error:
            raise BreachError(f"parse_action({text!r}) raises {error!r}") from error
        demand(
            moves is None or isinstance(moves, tuple), f"parse_action({text!r}) is {moves!r}, must be None or a tuple"
        )
        try:
            written = [puzzle.format_action(move) for move in moves or ()]
        except Exception as error:
            raise BreachError(f"parse_action({text!r}) is {moves!r}, but format_action raises {error!r}") from error
        demand(all(isinstance(each, str) for each in written), f"format_action gives {written!r}, must give text")


def _damaged(subject: Subject, walk: Walk) -> Iterator[str]:
    """Yield one action of the puzzle cut short, doubled, and with other text inside."""
    known = subject.known_moves
    if not known:
        return
    move = known[sum(walk.choices) % len(known)]
    for text in (subject.puzzle.format_action(move), " ".join(subject.puzzle.compact_action(move))):
        for place in range(min(len(text), _LONGEST_DAMAGED)):
            yield text[:place]
            yield text[place:]
            yield f"{text[:place]}{walk.text}{text[place + 1 :]}"
        yield text + text
        yield f"{text} {walk.text}"


def bad_starts(subject: Subject, walk: Walk) -> None:
    """`parse` raises nothing but `ValueError`, whatever the text."""
    for text in (walk.text, walk.start + walk.text, walk.start[:-1]):
        try:
            subject.puzzle.parse(text)
        except ValueError:
            continue
        except Exception as error:
            raise BreachError(f"parse({text!r}) raises {error!r}, must be ValueError") from error


def values(subject: Subject, walk: Walk) -> None:
    """States are values: hashable, equal when computed twice, unchanged by every method."""
    puzzle = subject.puzzle
    for state in follow(puzzle, walk.start, walk.choices):
        kept, number, text = deepcopy(state), hash(state), puzzle.format(state)
        moves = puzzle.moves(state)
        demand(
            puzzle.moves(state) == moves and isinstance(moves, tuple),
            "moves() changes from call to call, or is no tuple",
        )
        few = _FEW if LISTED_MOVES in puzzle.lacks else _MANY
        for move in [each for each in moves[:few] if _applies(puzzle, state, each)]:
            first, second = puzzle.apply(state, move), puzzle.apply(state, move)
            demand(first == second and hash(first) == hash(second), f"apply gives two results for {move!r}")
            demand(puzzle.solved(first) == puzzle.solved(second), f"solved gives two answers after {move!r}")
        puzzle.render(state), puzzle.compact(state), puzzle.solved(state), puzzle.key(puzzle.parse(walk.start))
        same = state == kept and hash(state) == number and puzzle.format(state) == text
        demand(same, f"a method changed its state from {text!r} to {puzzle.format(state)!r}")


def legal_moves(subject: Subject, walk: Walk) -> None:
    """The moves that `moves` lists are exactly those that apply and that `refusal` lets pass.

    Where the list is not full it may hold some that are refused as well: `refusal` and `apply` must agree about them.
    """
    puzzle = subject.puzzle
    for state in follow(puzzle, walk.start, walk.choices):
        legal = puzzle.moves(state)
        demand(len(set(legal)) == len(legal), "moves() lists a move twice")
        tried = dict.fromkeys((*legal, *subject.known_moves))
        if LISTED_MOVES in puzzle.lacks:
            tried = dict.fromkeys(legal[choice % len(legal)] for choice in walk.choices[:_FEW] if legal)
        for move in tried:
            reason = puzzle.refusal(state, move)
            if LISTED_MOVES in puzzle.lacks:
                demand(reason is None or bool(reason), f"{move!r} is refused without a reason")
                demand(_applies(puzzle, state, move) == (reason is None), f"apply and refusal disagree about {move!r}")
            elif move in set(legal):
                demand(reason is None, f"{move!r} is listed as legal, but refused: {reason}")
                try:
                    puzzle.apply(state, move)
                except ValueError as error:
                    raise BreachError(f"{move!r} is listed as legal, but apply raises {error!r}") from error
            else:
                demand(
                    isinstance(reason, str) and bool(reason),
                    f"{move!r} is not listed as legal, but refusal is {reason!r}",
                )
                demand(not _applies(puzzle, state, move), f"{move!r} is not listed as legal, but applies")


def _applies(puzzle: Puzzle[Any, Any], state: Any, move: Any) -> bool:
    try:
        puzzle.apply(state, move)
    except ValueError:
        return False
    return True


def action_round_trip(subject: Subject, walk: Walk) -> None:
    """Each move can be written and read back, in words and in tokens; different moves are written differently."""
    puzzle = subject.puzzle
    state = follow(puzzle, walk.start, walk.choices)[-1]
    moves = (*puzzle.moves(state)[:20], *subject.known_moves[:50])
    written: dict[str, Any] = {}
    for move in moves:
        text = puzzle.format_action(move)
        demand(
            puzzle.parse_action(text) == (move,),
            f"parse_action({text!r}) is {puzzle.parse_action(text)!r}, not ({move!r},)",
        )
        demand(written.setdefault(text, move) == move, f"{move!r} and {written[text]!r} are both written {text!r}")
        short = " ".join(puzzle.compact_action(move))
        demand(puzzle.parse_action(short) == (move,), f"parse_action({short!r}) is not ({move!r},)")


def tokens(subject: Subject, walk: Walk) -> None:
    """Compact tokens are of fixed number, hold no blanks, and stand in the vocabulary where there is one."""
    puzzle = subject.puzzle
    words = puzzle.vocabulary()
    demand(
        isinstance(words, tuple | list),
        f"vocabulary gives a {type(words).__name__}, must be a tuple or a list: a model knows tokens by their places",
    )
    demand(
        subject.vocabulary_elsewhere in (None, tuple(words)),
        "vocabulary gives another order in another process, as a set does; put its tokens in order, as sorted() does",
    )
    known, offered = set(words), bool(words) or type(puzzle).compact is not Puzzle.compact
    count = len(puzzle.compact(puzzle.parse(walk.start)))
    for state in follow(puzzle, walk.start, walk.choices):
        board = puzzle.compact(state)
        demand(len(board) == count or not offered, _other_length(puzzle, len(board), count))
        used = [*board, *(token for move in puzzle.moves(state)[:20] for token in puzzle.compact_action(move))]
        for token in used:
            demand(
                bool(token) and not any(mark.isspace() for mark in token), f"token {token!r} is empty or holds a blank"
            )
            demand(not known or token in known, f"token {token!r} is not in the vocabulary")


def _other_length(puzzle: Puzzle[Any, Any], found: int, count: int) -> str:
    """Return what to do about a board of another length than the start's."""
    if type(puzzle).compact is Puzzle.compact:
        return (
            f"the tokens of a board are the characters of format(state): {found}, {count} at the start, must be "
            "as many in every state; pad the board's text to one length, or write compact(state)"
        )
    return f"compact gives {found} tokens, {count} at the start"


def arrays(subject: Subject, walk: Walk) -> None:
    """Arrays have one shape, whole numbers from 0 to `array_high`, and `all_moves` lists every legal move once."""
    puzzle = subject.puzzle
    listed = puzzle.all_moves()
    if not listed:
        return
    demand(len(set(listed)) == len(listed), "all_moves lists a move twice")
    shape = puzzle.encode(puzzle.parse(walk.start)).shape
    for state in follow(puzzle, walk.start, walk.choices):
        array = puzzle.encode(state)
        demand(array.dtype == np.int8 and array.shape == shape, f"encode gives {array.dtype} of shape {array.shape}")
        high = puzzle.array_high()
        demand(
            bool(array.min() >= 0 and array.max() <= high),
            f"encode gives {array.min()} to {array.max()}, not 0 to {high}",
        )
        demand(set(puzzle.moves(state)) <= set(listed), "a legal move is missing from all_moves")


def distance(subject: Subject, walk: Walk) -> None:
    """The distance is 0 exactly at the goal, and falls by at most one with each atomic action."""
    puzzle, oracle = subject.puzzle, subject.oracle(walk.start)
    if EXACT_DISTANCE in puzzle.lacks:
        _distance_on_way(puzzle, oracle)
        return
    passed = follow(puzzle, walk.start, walk.choices)
    demand(oracle.distance == oracle.distance_to_go(passed[0]), "distance differs from distance_to_go(start)")
    for state in passed:
        here = oracle.distance_to_go(state)
        demand((here == 0) == puzzle.solved(state), f"distance_to_go is {here}, solved is {puzzle.solved(state)}")
        if here is None or here == 0:
            continue
        for move in puzzle.moves(state)[:30]:
            there = oracle.distance_to_go(puzzle.apply(state, move))
            demand(
                there is None or there >= here - 1,
                f"{puzzle.format_action(move)} takes the distance from {here} to {there}",
            )
        for move in oracle.expert_moves(state):
            there = oracle.distance_to_go(puzzle.apply(state, move))
            demand(
                there == here - 1, f"expert move {puzzle.format_action(move)} takes the distance from {here} to {there}"
            )
        demand(bool(oracle.expert_moves(state)), f"no expert move at distance {here}")


def _distance_on_way(puzzle: Puzzle[Any, Any], oracle: Any) -> None:
    """Each expert move from the start on takes the distance down by one, to 0 at the goal."""
    state = oracle.start
    demand(oracle.distance == oracle.distance_to_go(state), "distance differs from distance_to_go(start)")
    for togo in range(oracle.distance, 0, -1):
        demand(not puzzle.solved(state), f"solved at distance {togo}")
        choices = oracle.expert_moves(state)
        demand(bool(choices), f"no expert move at distance {togo}")
        state = puzzle.apply(state, choices[0])
        there = oracle.distance_to_go(state)
        demand(there == togo - 1, f"expert move {choices[0]!r} takes the distance from {togo} to {there}")
    demand(puzzle.solved(state), "the distance is 0, solved is False")


def plan(subject: Subject, walk: Walk) -> None:
    """The plan is legal, ends at the goal and is exactly as long as the distance."""
    puzzle, oracle = subject.puzzle, subject.oracle(walk.start)
    choices = () if EXACT_DISTANCE in puzzle.lacks else walk.choices
    state = follow(puzzle, walk.start, choices)[-1]
    togo, moves = oracle.distance_to_go(state), oracle.plan(state)
    demand((togo is None) == (moves is None), f"distance_to_go is {togo}, plan is {moves!r}")
    if moves is None:
        return
    for move in moves:
        state = puzzle.apply(state, move)
    demand(puzzle.solved(state), f"the plan ends at {puzzle.format(state)}, which is not the goal")
    demand(len(moves) == togo, f"the plan has {len(moves)} moves, the distance is {togo}")


def subgoals(subject: Subject, walk: Walk) -> None:
    """Subgoals have different names and one truth each, the same at every call; a move's own subgoal is one of them."""
    puzzle, oracle = subject.puzzle, subject.oracle(walk.start)
    start = puzzle.parse(walk.start)
    names = oracle.subgoals
    demand(len(set(names)) == len(names), f"two subgoals share a name: {names}")
    for own in (puzzle.subgoals(start), names):
        demand(all(isinstance(name, str) and name for name in own), f"subgoals {own!r} are not all named")
    for state in follow(puzzle, walk.start, walk.choices):
        own_done = puzzle.subgoals_done(start, state)
        demand(
            len(own_done) == len(puzzle.subgoals(start)),
            f"{len(own_done)} truths for {len(puzzle.subgoals(start))} subgoals",
        )
        done = oracle.subgoals_done(state)
        demand(len(done) == len(names), f"the oracle gives {len(done)} truths for {len(names)} subgoals")
        demand(done == oracle.subgoals_done(state), "subgoals_done changes from call to call")
        for move in puzzle.moves(state)[:5]:
            own = oracle.own_subgoal(state, move)
            demand(own is None or 0 <= own < len(names), f"own_subgoal is {own!r} of {len(names)}")
