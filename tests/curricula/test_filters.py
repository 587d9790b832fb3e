"""The reference-policy filter keeps what was solved sometimes, and says how much."""

import pytest

from curricula.filters import LevelCount, filter_by_policy, filter_solved, report
from curricula.instances import Instance


def instance(start: str, level: str) -> Instance:
    return Instance("sudoku", 4, level, "train", start, 4, -1, "-", "s", start, "-")


CANDIDATES = [instance("a", "T1"), instance("b", "T1"), instance("c", "T2"), instance("d", "T2")]
RESULTS = {"a": [True] * 4, "b": [False, True, False, False], "c": [False] * 4, "d": [False] * 4}


def test_what_was_never_solved_goes():
    filtered = filter_solved(CANDIDATES, RESULTS, attempts=4)
    assert [each.start for each in filtered.kept] == ["a", "b"]
    assert filtered.levels == (LevelCount("T1", 2, 2), LevelCount("T2", 2, 0))
    assert report(filtered).split("\n") == ["level\tbefore\tafter\tshare", "T1\t2\t2\t1.000", "T2\t2\t0\t0.000"]


def test_what_is_always_solved_may_go_too():
    assert [each.start for each in filter_solved(CANDIDATES, RESULTS, 4, at_most=3).kept] == ["b"]


def test_a_policy_is_run_as_often_as_asked():
    asked = []

    def attempt(instances, attempts):
        asked.append((len(instances), attempts))
        return {each.start: [each.level == "T2"] * attempts for each in instances}

    filtered = filter_by_policy(CANDIDATES, attempt, attempts=2)
    assert asked == [(4, 2)]
    assert [each.start for each in filtered.kept] == ["c", "d"]


def test_missing_attempts_and_wrong_limits_are_refused():
    with pytest.raises(ValueError, match="0 attempts at d"):
        filter_solved(CANDIDATES, {key: value for key, value in RESULTS.items() if key != "d"}, 4)
    with pytest.raises(ValueError, match="at_least 5"):
        filter_solved(CANDIDATES, RESULTS, 4, at_least=5)
