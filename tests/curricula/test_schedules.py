"""Schedules: every update has its levels, every phase its share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curricula.schedules import SCHEDULES, Phase, Schedule, find_schedule, short_then_long, single


def test_short_then_long_switches_at_its_share():
    schedule = short_then_long(("R1",), ("R2",), share=0.25)
    assert schedule.name == "R1>R2"
    assert schedule.ends(80) == (20, 80)
    assert [schedule.levels_at(update, 80)[0] for update in (0, 19, 20, 79)] == ["R1", "R1", "R2", "R2"]


@given(st.lists(st.integers(1, 20), min_size=1, max_size=5), st.integers(5, 300))
def test_every_phase_gets_its_share_to_one_update(weights, updates):
    phases = tuple(Phase((f"L{index + 1}",), weight / sum(weights)) for index, weight in enumerate(weights))
    schedule = Schedule("any", phases)
    ends = schedule.ends(updates)
    assert ends[-1] == updates
    seen = [schedule.levels_at(update, updates) for update in range(updates)]
    assert [levels for index, levels in enumerate(seen) if index == 0 or seen[index - 1] != levels] == [
        phase.levels for phase in phases
    ]
    for phase in phases:
        assert abs(seen.count(phase.levels) - phase.share * updates) <= len(phases)


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_are_found_by_their_names(name):
    assert find_schedule(name) is SCHEDULES[name]


def test_names_spell_schedules():
    assert find_schedule("T1+T2>T5") == short_then_long(("T1", "T2"), ("T5",))
    assert find_schedule("T1") == single("T1")
    with pytest.raises(ValueError, match=r"unknown level 'R9'.*did you mean"):
        find_schedule("R1>R9")


@pytest.mark.parametrize(
    ("phases", "reason"),
    [
        ((), "no phases"),
        ((Phase(("L1",), 0.5),), "sum to 0.5"),
        ((Phase(("L1",), 1.5), Phase(("L2",), -0.5)), "not in"),
        ((Phase((), 1.0),), "without levels"),
        ((Phase(("Q1",), 1.0),), "unknown level"),
    ],
)
def test_wrong_schedules_are_refused(phases, reason):
    with pytest.raises(ValueError, match=reason):
        Schedule("wrong", phases)


def test_more_phases_than_updates_are_refused():
    with pytest.raises(ValueError, match="1 updates cannot hold"):
        short_then_long(("L1",), ("L2",)).ends(1)
    with pytest.raises(ValueError, match="must be 0 to 9"):
        single("L1").levels_at(10, 10)
