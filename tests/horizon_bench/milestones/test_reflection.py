from hypothesis import given
from hypothesis import strategies as st

from horizon_bench.milestones.reflection import false_claims, read_reflection, with_plan


def test_a_reflection_is_read_and_taken_out():
    reply = "Milestones: 1 0 0; current: 2 done; next: 3\nAction: value(1, r1c1)"
    said, rest, line = read_reflection(reply, 3)
    assert (said.done, said.current_done, said.following, said.stated) == ((True, False, False), True, 2, True)
    assert rest == "Action: value(1, r1c1)"
    assert line.startswith("Milestones:")


def test_the_last_line_counts_and_all_are_taken_out():
    said, rest, _ = read_reflection("Milestones: 11\n**Milestones:** 10\nr1c1 1", 2)
    assert said.done == (True, False)
    assert rest == "r1c1 1"


def test_a_vector_of_another_length_claims_nothing():
    said, _, _ = read_reflection("Milestones: 111\nr1c1 1", 2)
    assert said.done == (False, False)
    assert not said.stated


def test_a_reply_without_a_line_is_left_alone():
    said, rest, line = read_reflection("value(1, r1c1)", 2)
    assert (said.stated, rest, line) == (False, "value(1, r1c1)", "")


@given(st.text(), st.integers(0, 12))
def test_no_text_is_too_odd(text, milestones):
    said, _, _ = read_reflection(f"Milestones:{text}", milestones)
    assert len(said.done) == milestones


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=8))
def test_blocked_are_exactly_the_claims_that_do_not_hold(pairs):
    claimed, done = (tuple(side) for side in zip(*pairs, strict=True))
    line = "Milestones: " + "".join("01"[bit] for bit in claimed)
    said, _, _ = read_reflection(line, len(pairs))
    assert false_claims(said, done) == tuple(i for i, (bit, met) in enumerate(pairs) if bit and not met)


def test_the_plan_stands_before_the_board_or_at_the_end():
    assert with_plan("Rules\n\nBoard:\n1 2", "PLAN") == "Rules\n\nPLAN\n\nBoard:\n1 2"
    assert with_plan("no board", "PLAN") == "no board\n\nPLAN"
