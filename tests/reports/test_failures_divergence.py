from types import SimpleNamespace

import pytest

from curricula import load_bank
from horizon_bench.envs.settings import Settings
from horizon_bench.policies import Reply, make_policy
from horizon_bench.rollout import rollout
from puzzles import PUZZLES
from reports.failures_divergence import divergence_of, first_divergence
from reports.records import StoredEpisode
from solvers import oracle

START = "1234341221434.2."
"""4x4, two blanks: 3 belongs into r4c2 and 1 into r4c4."""


class Scripted:
    """Replies with given texts, one after another."""

    def __init__(self, *replies):
        self.replies = list(replies)

    def reply(self, observations, seats, generators):
        return [Reply(self.replies.pop(0)) for _ in observations]


def played(start, *replies, puzzle="sudoku", size=4, **settings):
    instance = SimpleNamespace(puzzle=puzzle, size=size, start=start, key="k", level="-")
    return rollout(Scripted(*replies), [instance], Settings(max_decisions=len(replies), **settings))[0]


def fills(start):
    """Return a right fill, and a wrong one that is still legal after it."""
    puzzle = PUZZLES["sudoku"](size=4)
    state = puzzle.parse(start)
    known = oracle(puzzle, state)
    right = known.expert_moves(state)[0]
    wrong = next(move for move in puzzle.moves(puzzle.apply(state, right)) if move.digit != known.solution[move.cell])
    return puzzle.format_action(right), puzzle.format_action(wrong)


@pytest.mark.parametrize("on_error", ["semi", "stay"])
def test_the_first_wrong_fill_of_a_macro_is_found(on_error):
    instance = load_bank("T3", "validation")[0]
    right, wrong = fills(instance.start)
    episode = played(instance.start, f"{right} {wrong}", "", interface="macro", on_error=on_error)
    left = first_divergence(episode, "sudoku", 4)
    assert (left.decision, left.atomic_step, left.move, left.distance) == (0, 1, wrong, instance.distance - 1)


def test_refused_actions_and_right_fills_do_not_diverge():
    episode = played(START, "value(4, r4c2)", "value(1, r4c4)", "value(3, r4c2)")
    assert episode.solved
    assert first_divergence(episode, "sudoku", 4) is None


def test_erasing_a_right_digit_diverges_and_erasing_a_wrong_one_does_not():
    start = load_bank("T3", "validation")[0].start
    right, wrong = fills(start)
    episode = played(start, right, f"erase({right[-5:-1]})", on_error="stay")
    assert first_divergence(episode, "sudoku", 4).decision == 1
    episode = played(start, right, wrong, f"erase({wrong[-5:-1]})", on_error="stay")
    assert first_divergence(episode, "sudoku", 4).decision == 1
    assert episode.turns[2].distance_after == episode.turns[0].distance_after


def test_rush_hour_diverges_at_the_first_move_that_raises_the_distance():
    instances = load_bank("R1", "validation")[:6]
    for episode in rollout(make_policy("random"), instances, Settings(on_error="stay"), seed=5):
        raised = [
            index
            for index, turn in enumerate(episode.turns)
            if turn.moves and (turn.distance_after is None or turn.distance_after > turn.distance_before)
        ]
        left = first_divergence(episode, "rush-hour", 6)
        assert (left.decision if left else None) == (raised[0] if raised else None)


def test_an_expert_never_diverges():
    for level, puzzle, size in (("T2", "sudoku", 4), ("R2", "rush-hour", 6)):
        instances = load_bank(level, "validation")[:3]
        for episode in rollout(make_policy("expert", actions=3), instances, Settings(interface="macro")):
            assert first_divergence(episode, puzzle, size) is None


def test_an_unknown_puzzle_has_no_divergence_instead_of_an_error():
    stored = StoredEpisode(
        "s", "c", 0, "rl", 0, "chess", 8, "atomic", played(START, "value(3, r4c2)", "value(1, r4c4)")
    )
    assert divergence_of(stored) is None
    with pytest.raises(ValueError, match="chess"):
        first_divergence(stored.episode, "chess", 8)
    assert "chess" not in PUZZLES
