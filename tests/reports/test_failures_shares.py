import json
from dataclasses import replace

import numpy as np
import pytest

from reports.conditions import conditions_of
from reports.failures import CLASSES, FailureRules
from reports.failures_shares import changes, class_grid, classified, ratio_estimate, shares_of
from reports.failures_tables import failure_tables, share_maps, subgoal_map, subgoal_maps
from reports.intervals import Grid, wilson
from reports.records import EvaluationRecord, append, read
from reports.results import load_results


@pytest.fixture(scope="module")
def results(make, tmp_path_factory):
    """Return results whose failures have classes: before training half are stuck, after it a quarter."""
    folder = make.results(tmp_path_factory.mktemp("classes"), (make.arms[2], make.arms[3]), seeds=2, puzzles=8)
    for path in folder.rglob("records.jsonl"):
        rows = [with_class(row) if isinstance(row, EvaluationRecord) else row for row in read(path)]
        path.unlink()
        append(path, rows)
    return load_results(folder)


def with_class(row):
    if row.solved:
        return row
    stuck = row.attempt < (2 if row.phase == "sft" else 1)
    return replace(row, failure="stuck-midway" if stuck else "out-of-budget", divergence=row.distance // 2)


def test_shares_of_attempts_and_solved_ones_add_up_to_one(results):
    for condition, stored in classified(results, conditions_of(results)):
        assert not stored
        shares = shares_of(condition)
        solved = np.mean([row.solved for row in condition.records])
        assert sum(one.value for one in shares.of_attempts.values()) + solved == pytest.approx(1.0)
        assert sum(one.value for one in shares.of_failures.values()) == pytest.approx(1.0)
        assert all(one.low <= one.value <= one.high for one in shares.of_attempts.values())
        assert shares.failed == sum(not row.solved for row in condition.records) == shares.diverged
        assert 0.3 < shares.way <= 0.5


def test_a_share_is_the_plain_mean_over_attempts(results):
    condition = classified(results, conditions_of(results))[0][0]
    share = np.mean([row.failure == "stuck-midway" for row in condition.records])
    assert np.nanmean(class_grid(condition, "stuck-midway").values) == pytest.approx(share)


def test_changes_pair_each_trained_condition_with_its_own_start(results):
    shares = [shares_of(*pair) for pair in classified(results, conditions_of(results))]
    found = changes(shares)
    assert len(found) == 2
    for one in found:
        assert (one.before.condition.phase, one.after.condition.phase) == ("sft", "rl")
        assert one.before.condition.interface == one.after.condition.interface
        gap = one.differences["stuck-midway"]
        assert gap.value < 0
        assert gap.low <= gap.value <= gap.high
        expected = one.after.of_attempts["stuck-midway"].value - one.before.of_attempts["stuck-midway"].value
        assert gap.value == pytest.approx(expected)


def test_ratios_are_resampled_as_ratios():
    whole = Grid((0, 1), ("a", "b", "c", "d"), np.array([[1.0, 0.5, 0.0, 0.25]] * 2), np.ones(4, dtype=np.int64))
    half = replace(whole, values=whole.values / 2)
    estimate = ratio_estimate(half, whole, np.random.default_rng(0))
    assert (estimate.value, estimate.puzzles) == (0.5, 3)
    assert (estimate.low, estimate.high) == pytest.approx((0.5, 0.5))
    nothing = ratio_estimate(replace(whole, values=0 * whole.values), whole, np.random.default_rng(0))
    assert nothing.value == nothing.low == 0.0 < nothing.high < 1.0
    assert nothing.method == "wilson"


def test_records_without_classes_are_answered_from_stored_episodes(small):
    results = load_results(small)
    old = [(one, stored) for one, stored in classified(results, conditions_of(results)) if stored]
    assert old
    for condition, _ in old:
        assert all(row.solved or row.failure in CLASSES for row in condition.records)


def test_other_thresholds_ask_the_stored_episodes(results):
    assert all(stored for _, stored in classified(results, conditions_of(results), FailureRules(identical=2)))


def test_old_records_are_read_and_new_ones_keep_their_class(tmp_path, results):
    row = next(row for run in results.runs for row in run.evaluations if not row.solved)
    append(tmp_path / "records.jsonl", [row])
    assert read(tmp_path / "records.jsonl") == [row]
    values = json.loads((tmp_path / "records.jsonl").read_text())
    del values["failure"], values["divergence"]
    (tmp_path / "old.jsonl").write_text(json.dumps(values) + "\n")
    assert read(tmp_path / "old.jsonl") == [replace(row, failure="", divergence=None)]


def test_tables_and_maps_name_every_class_and_condition(results):
    conditions = conditions_of(results)
    shares, change = failure_tables(results, conditions)
    assert len(shares.rows) == len(conditions)
    assert len(change.rows) == 2
    assert all(name.replace("-", " ") in shares.columns for name in CLASSES)
    (heat,) = share_maps(results, conditions)
    assert heat.rows == tuple(one.label for one in conditions)
    for row in heat.values:
        assert sum(row) == pytest.approx(1.0)


def test_the_map_of_subgoals_counts_each_tenth(results):
    stored = [one for run in results.runs for one in run.episodes() if not one.episode.solved]
    episode = stored[0].episode
    done = [(), (), (0,), (), (1,), (), (), (), (), ()]
    turns = [replace(episode.turns[0], subgoals_reached=reached) for reached in done]
    heat = subgoal_map("title", [replace(episode, turns=tuple(turns)), replace(episode, turns=tuple(turns[:1]))])
    assert heat.values[0] == (0, 0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5)
    assert heat.values[1] == (0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5)
    assert all("failed episode" in one.note for one in subgoal_maps(results, conditions_of(results)))


def test_a_share_of_none_counts_symmetric_copies_as_one_puzzle():
    whole = Grid((0,), ("a", "a#1", "a#2", "b", "c"), np.array([[1.0, 1.0, 1.0, 1.0, 0.0]]), np.ones(5, dtype=np.int64))
    nothing = ratio_estimate(replace(whole, values=0 * whole.values), whole, np.random.default_rng(0))
    assert (nothing.low, nothing.high) == wilson(0, 2)
