"""What the expert writes is right in every mode, and all ties are really broken."""

from __future__ import annotations

import numpy as np
import pytest

from curricula import load_bank
from curricula.levels import find_level
from horizon_bench.training.traces import MODE_TOKENS, TargetSettings, TargetWriter, expert_states
from puzzles import Puzzle


def replies(level: str, settings: TargetSettings, modes: tuple[str, ...], count: int = 6) -> list[tuple]:
    puzzle, rng = find_level(level).make_puzzle(), np.random.default_rng(0)
    writer = TargetWriter(puzzle, settings, rng)
    starts = [instance.start for instance in load_bank(level)[:count]]
    return [
        (puzzle, oracle, state, reply)
        for oracle, state in expert_states(puzzle, starts, rng)
        for reply in writer.targets(oracle, state, modes)
    ]


def play(puzzle: Puzzle, state: object, reply: tuple[str, ...]) -> tuple[object, int]:
    tokens = list(reply[1:])
    if "</think>" in tokens:
        tokens = tokens[tokens.index("</think>") + 1 :]
    width = len(puzzle.compact_action(puzzle.moves(state)[0]))
    assert len(tokens) % width == 0
    for place in range(0, len(tokens), width):
        (move,) = puzzle.parse_action(" ".join(tokens[place : place + width])) or ()
        state = puzzle.apply(state, move)
    return state, len(tokens) // width


@pytest.mark.parametrize(
    ("level", "thoughts"), [("T3", False), ("T3", True), ("M2", False), ("M2", True), ("R1", False)]
)
def test_every_action_of_a_trace_is_on_a_shortest_way(level: str, thoughts: bool) -> None:
    settings = TargetSettings(macro_length=3, fixed_length=2, thoughts=thoughts)
    for puzzle, oracle, state, reply in replies(level, settings, ("atomic", "macro", "fixed")):
        before = oracle.distance_to_go(state)
        after, actions = play(puzzle, state, reply)
        assert oracle.distance_to_go(after) == before - actions
        expected = {"<atomic>": {1}, "<macro>": {1, 2, 3}, "<fixed>": {min(2, before)}}
        assert actions in expected[reply[0]]


def test_every_thought_is_true_and_ends_at_the_first_action() -> None:
    for puzzle, _, state, reply in replies("T3", TargetSettings(thoughts=True), ("atomic", "macro", "fixed")):
        thought = reply[2 : reply.index("</think>")]
        assert puzzle.check_thought(state, " ".join(thought)) is True
        boxes = [token for token in thought if token.startswith("b")]
        assert len(boxes) == 2
        first = puzzle.parse_action(" ".join(reply[reply.index("</think>") + 1 :][:2]))[0]
        assert f"b{puzzle.layout.box_of[first.cell] + 1}" == boxes[-1] or reply[0] != "<atomic>"


def test_all_macro_lengths_and_many_first_moves_occur() -> None:
    found = replies("T4", TargetSettings(macro_length=3), ("macro",) * 5, count=20)
    lengths = {(len(reply) - 1) // 2 for *_, reply in found}
    first = {reply[1:3] for _, _, state, reply in found if state == found[0][2]}
    assert lengths == {1, 2, 3}
    assert len(first) > 1


def test_modes_are_told_apart_by_their_token() -> None:
    assert {reply[0] for *_, reply in replies("T1", TargetSettings(), tuple(MODE_TOKENS))} == set(MODE_TOKENS.values())


def test_thoughts_of_a_puzzle_without_any_are_refused() -> None:
    with pytest.raises(ValueError, match="'rush-hour' has no compact thoughts"):
        TargetWriter(find_level("R1").make_puzzle(), TargetSettings(thoughts=True), np.random.default_rng(0))


def test_a_macro_ends_where_the_next_page_cannot_be_foreseen_and_a_fixed_one_does_not() -> None:
    for _, oracle, state, reply in replies("S2", TargetSettings(), ("macro", "macro", "fixed")):
        operations = [token for token in reply[1:] if token in ("search", "open", "choose", "go", "buy")]
        if reply[0] == MODE_TOKENS["macro"]:
            assert not {"search", "go", "buy"} & set(operations[:-1])
        else:
            assert len(operations) == min(2, oracle.distance_to_go(state))


@pytest.mark.parametrize("mode", ["what", "where"])
def test_the_halves_of_a_shop_action_are_operation_and_argument(mode: str) -> None:
    for puzzle, _, state, reply in replies("S1", TargetSettings(), (mode,)):
        legal = {move.operation: move for move in puzzle.moves(state)}
        assert reply[-1 if mode == "what" else 0] in legal
        if mode == "where":
            (move,) = puzzle.parse_action(" ".join(reply))
            assert puzzle.refusal(state, move) is None
