import importlib.util
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from horizon_bench.episodes import Episode, Turn
from reports.failures import CLASSES, FailureRules, classify, declares_done

ROOT = Path(__file__).parents[2]


def turn(reply="value(1, r1c1)", moves=("value(1, r1c1)",), board=0, **facts):
    """Return a decision; `board` names the state it saw."""
    ids = np.zeros(0, dtype=np.int64)
    usual = {
        "observation": "",
        "reply": reply,
        "prompt_ids": ids,
        "reply_ids": ids,
        "sampling_logprobs": ids.astype(np.float32),
        "entropy": 0.0,
        "capped": False,
        "format_ok": True,
        "legal": True,
        "actions_written": max(1, len(moves)),
        "moves": moves,
        "illegal_actions": 0,
        "reward": 0.0,
        "step_reward": 0.0,
        "subgoals_reached": (),
        "own_subgoal": None,
        "state_hash": board,
        "distance_before": 5,
        "distance_after": 5,
    }
    return Turn(**(usual | facts))


def refused(board=0, reply="value(9, r9c9)", actions=1):
    return turn(reply, (), board, legal=False, actions_written=actions, illegal_actions=actions, step_reward=-1.0)


def unreadable(board=0, reply="hm"):
    return turn(reply, (), board, format_ok=False, legal=False, actions_written=0, step_reward=-1.0)


def episode(turns, end_reason="max_decisions", **facts):
    cut = end_reason.startswith("max_")
    usual = {
        "instance_key": "",
        "start": "",
        "level": "-",
        "distance": 5,
        "group": 0,
        "attempt": 0,
        "turns": tuple(turns),
        "solved": False,
        "terminated": not cut,
        "truncated": cut,
        "end_reason": end_reason,
    }
    return Episode(**(usual | facts))


def moving(count, first=0):
    """Return decisions that each reach a board never seen before."""
    return [turn(f"move {board}", (f"move {board}",), board) for board in range(first, first + count)]


def failure(*arguments, **facts):
    return classify(episode(*arguments, **facts)).failure


# ---------------------------------------------------------------- each class


@pytest.mark.parametrize(
    ("turns", "end_reason"),
    [
        (moving(3), "wrong"),
        (moving(3), "dead"),
        ([*moving(2), turn(board=9, distance_after=None)], "max_decisions"),
        ([*moving(2), unreadable(9, "The puzzle is solved.")], "max_decisions"),
        ([*moving(2), unreadable(9, "<think>r1c1 could be 5</think> I give up: no more legal moves.")], "format"),
    ],
)
def test_a_policy_that_declared_itself_done_or_hit_a_dead_end_stopped_wrongly(turns, end_reason):
    assert failure(turns, end_reason) == "stopped-wrongly"


def test_identical_last_decisions_and_short_circles_are_stuck():
    assert failure([*moving(4), *[refused(9)] * 3]) == "stuck-midway"
    there, back = turn("up", ("up",), 8), turn("down", ("down",), 9)
    assert failure([*moving(4), there, back, there, back]) == "stuck-midway"
    assert failure([*moving(4), there, back, turn("left", ("left",), 7), there, back]) == "out-of-budget"


def test_the_same_action_on_new_boards_is_progress():
    assert failure([turn("left", ("left",), board) for board in range(6)]) == "out-of-budget"


def test_fewer_repeats_than_asked_for_are_not_stuck():
    assert failure([*moving(4), refused(9), refused(9)]) == "out-of-budget"
    assert classify(episode([*moving(4), refused(9), refused(9)]), FailureRules(identical=2)).failure == "stuck-midway"


def test_a_thought_that_changes_does_not_hide_a_repeated_action():
    turns = [refused(9, f"<think>{word}</think> value(9, r9c9)") for word in ("so", "or", "then")]
    assert failure([*moving(4), *turns]) == "stuck-midway"


@pytest.mark.parametrize("bad", [refused, unreadable])
def test_half_of_what_was_tried_refused_or_unreadable_is_no_reasonable_attempt(bad):
    assert failure([bad(0, "a"), *moving(3, 1), bad(4, "b"), bad(5, "c")]) == "no-reasonable-attempt"
    assert failure([bad(0, "a"), *moving(4, 1), bad(5, "c")]) == "out-of-budget"


def test_a_budget_that_ran_out_at_work():
    for end_reason in ("max_decisions", "max_atomic_steps", "max_tokens"):
        assert failure(moving(5), end_reason) == "out-of-budget"


def test_one_refused_action_that_ends_the_episode_is_other():
    assert failure([*moving(5), refused(9)], "illegal") == "other"


def test_a_solved_episode_has_no_class():
    assert failure([refused(), *moving(2)], "solved", solved=True, terminated=True) == ""


def test_an_episode_without_decisions_is_other():
    assert failure([], "") == "other"


# ---------------------------------------------------------------- ties of priority

HOLDS = ("stopped-wrongly", "stuck-midway", "no-reasonable-attempt", "out-of-budget")


def in_which_hold(names):
    """Return an episode for which exactly the criteria of the named classes hold."""
    turns = []
    for index in range(4):
        board, reply = (7, "left") if "stuck-midway" in names else (index, f"left {index}")
        turns.append(refused(board, reply) if "no-reasonable-attempt" in names else turn(reply, ("left",), board))
    if "stopped-wrongly" in names:
        turns[-1] = replace(turns[-1], distance_after=None)
    return episode(turns, "max_decisions" if "out-of-budget" in names else "illegal")


@pytest.mark.parametrize("names", [chosen for size in (1, 2, 3, 4) for chosen in combinations(HOLDS, size)])
def test_the_first_class_whose_criterion_holds_wins_every_tie(names):
    verdict = classify(in_which_hold(names))
    assert (verdict.failure, *verdict.also) == names


@given(
    st.lists(st.sampled_from([turn(), refused(), unreadable(), *moving(3)]), max_size=12),
    st.sampled_from(["wrong", "illegal", "format", "dead", "max_decisions", "max_tokens"]),
)
def test_every_unsolved_episode_has_exactly_one_known_class(turns, end_reason):
    verdict = classify(episode(turns, end_reason))
    assert verdict.failure in CLASSES
    order = list(CLASSES)
    assert [order.index(name) for name in (verdict.failure, *verdict.also)] == sorted(
        {order.index(name) for name in (verdict.failure, *verdict.also)}
    )


# ---------------------------------------------------------------- words and thresholds


@pytest.mark.parametrize(
    "reply",
    [
        "Done.", "Finished!", "There is no legal move left", "I am giving up", "Impossible", "Puzzle complete.",
        "I quit", "No solution exists", "I stop here.", "I cannot continue", "It can't be solved",
    ],
)  # fmt: skip
def test_declarations_are_recognised(reply):
    assert declares_done(unreadable(reply=reply))


@pytest.mark.parametrize(
    "reply",
    [
        "Not done yet",
        "It is not solved",
        "r4c4",
        "",
        "I filled the incomplete row",
        "Complete the box first",
        "Done? No",
    ],
)
def test_other_unreadable_replies_declare_nothing(reply):
    assert not declares_done(unreadable(reply=reply))


def test_a_reply_with_an_action_declares_nothing():
    assert not declares_done(turn("value(1, r1c1) and it is solved"))


@pytest.mark.parametrize("wrong", [{"identical": 1}, {"cycle_repeats": 0}, {"longest_cycle": 1}, {"bad_share": 0.0}])
def test_thresholds_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        FailureRules(**wrong)


# ---------------------------------------------------------------- the hand-labelled set


def agreement_script():
    path = ROOT / "benchmarks" / "failure_agreement.py"
    spec = importlib.util.spec_from_file_location("failure_agreement", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_analyser_agrees_with_nine_of_ten_hand_labelled_episodes():
    script = agreement_script()
    episodes = script.labelled_episodes()
    assert len(episodes) == 100
    assert {label for label, _, _ in episodes} == set(CLASSES)
    assert len({row["policy"] for _, _, row in episodes}) >= 5
    assert {row["puzzle"] for _, _, row in episodes} == {"sudoku", "rush-hour"}
    agreed, kappa, differing = script.agreement()
    assert agreed >= 90
    assert kappa > 0.8
    assert {label for _, label, _ in differing} == {"stuck-midway"}  # as docs/failures.md says
