"""The curves that the criteria of collapse look at, from the records of one run, and the findings made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from reports.collapse import curves_of, detect, detect_curves, first_collapse
from reports.collapse_criteria import CollapseThresholds, RunCurves, SuccessCurve
from reports.schema import CollapseRecord, EvaluationRecord, UpdateRecord
from tests.reports.test_collapse_exact import MANY, success

LIMITS = CollapseThresholds()
NAN = float("nan")


def update(index: int, values: Mapping[str, float], level: str = "T1", phase: str = "rl") -> UpdateRecord:
    return UpdateRecord("s", "c", 3, phase, index, level, dict(values))


def evaluation(
    at: int, solved: bool, key: str = "a", *, level: str = "T1", phase: str = "rl", interface: str = "macro",
    split: str = "validation", variant: str = "",
) -> EvaluationRecord:  # fmt: skip
    row = EvaluationRecord("s", "c", 3, phase, at, "sudoku", interface, level, 5, key, 0, solved, 5, 5, 50, "solved")
    return replace(row, split=split, variant=variant)


def test_measurements_stand_in_the_order_of_their_updates_and_may_be_missing() -> None:
    rows = [
        update(3, {"loss": 3.0}),
        update(1, {"loss": 1.0, "entropy": 0.5}),
        update(2, {}),
        update(1, {}, phase="sft"),
    ]
    curves = curves_of(rows)
    assert curves.updates == (1, 2, 3)
    assert set(curves.metrics) == {"loss", "loss:given", "entropy"}
    np.testing.assert_array_equal(curves.metrics["loss"], [1.0, NAN, 3.0])
    np.testing.assert_array_equal(curves.metrics["loss:given"], [1.0, 0.0, 3.0])
    np.testing.assert_array_equal(curves.metrics["entropy"], [0.5, NAN, NAN])
    assert curves.success == (SuccessCurve("all", (), (), ()),)
    norms = curves_of([update(1, {"gradient_norm": NAN}), update(2, {})])
    np.testing.assert_array_equal(norms.metrics["gradient_norm:given"], [NAN, 0.0])


def test_rollouts_are_pooled_in_whole_blocks_of_five_updates() -> None:
    rows = [update(index, {"success": index / 100, "groups": 4.0}) for index in range(1, 13)]
    _, curve = curves_of(rows).success
    assert (curve.level, curve.updates, curve.puzzles) == ("rollout", (5, 10), (20, 20))
    assert curve.success == pytest.approx((0.03, 0.08))
    assert curves_of(rows[:4]).success[1].updates == ()
    _, pairs = curves_of(rows, replace(LIMITS, rollout_block=2)).success
    assert pairs.updates == (2, 4, 6, 8, 10, 12)


def test_another_level_or_updates_without_success_begin_no_block_in_between() -> None:
    rows = [update(index, {"success": 0.5}, level="T1" if index <= 6 else "T2") for index in range(1, 13)]
    gap = update(13, {"loss": 1.0}, level="T3")
    _, first, second = curves_of([*rows, gap]).success
    assert (first.updates, second.updates) == ((5,), (11,))
    assert detect([*rows, gap]) == ()


@pytest.mark.parametrize(
    ("values", "puzzles"),
    [({"groups": 7.0}, 35), ({"episodes": 8.0}, 10), ({}, 50), ({"groups": 0.0}, 5), ({"groups": 0.5}, 2)],
)
def test_puzzles_of_a_block_are_counted_by_groups_or_by_four_episodes_each(values, puzzles) -> None:
    _, curve = curves_of([update(index, {"success": 0.5, **values}) for index in range(5)]).success
    assert curve.puzzles == (puzzles,)


def test_evaluations_make_one_curve_over_all_levels_and_one_for_each() -> None:
    rows = [
        evaluation(at, solved, key, level=level)
        for at in (10, 0)
        for level, outcomes in {"T1": (True, at == 0), "T2": (False, False)}.items()
        for key, solved in zip("ab", outcomes, strict=True)
    ]
    curves = {curve.level: curve for curve in curves_of([*rows, evaluation(0, True, "a", level="T1")]).success}
    assert list(curves) == ["all", "T1", "T2"]
    assert curves["all"].updates == (0, 10)
    assert curves["all"].success == (3 / 5, 1 / 4)
    assert curves["all"].puzzles == (2, 2)
    assert curves["T1"].success == (1.0, 0.5)
    assert curves["T2"].success == (0.0, 0.0)


def test_a_lone_level_has_only_the_curve_over_all() -> None:
    (curve,) = curves_of([evaluation(0, True), evaluation(10, False)]).success
    assert (curve.level, curve.success, curve.puzzles) == ("all", (1.0, 0.0), (1, 1))


def test_a_level_that_not_every_evaluation_covers_is_left_out_of_all() -> None:
    rows = [evaluation(0, True), evaluation(10, True), evaluation(10, False, level="T2")]
    curves = {curve.level: curve for curve in curves_of(rows).success}
    assert curves["all"].success == (1.0, 1.0)
    assert (curves["T2"].updates, curves["T2"].success) == ((10,), (0.0,))


def test_only_the_first_interface_plain_and_of_the_two_phases_is_looked_at() -> None:
    good = [evaluation(0, True, phase="sft"), evaluation(10, True)]
    bad = [
        evaluation(20, False, interface="atomic"),
        evaluation(20, False, variant="blind"),
        evaluation(20, False, split="test"),
        evaluation(20, False, phase="baseline"),
    ]
    (curve,) = curves_of([good[0], *bad, good[1]]).success
    assert (curve.updates, curve.success) == ((0, 10), (1.0, 1.0))


def test_the_test_split_serves_where_there_is_no_validation() -> None:
    rows = [evaluation(0, True, split="test"), evaluation(0, False, split="train"), evaluation(10, True, split="test")]
    (curve,) = curves_of(rows).success
    assert curve.success == (1.0, 1.0)


def test_records_carry_the_labels_and_the_thresholds_into_the_findings() -> None:
    rows = [update(index, {"masked_share": 0.6}) for index in range(1, 4)]
    (found,) = detect(rows)
    assert (found.study, found.cell, found.seed, found.criterion) == ("s", "c", 3, "masked-share")
    assert detect(rows, replace(LIMITS, masked_share=0.7)) == ()
    assert detect([]) == ()
    pairs = [update(index, {"success": 0.6 if index < 7 else 0.1, "groups": 999.0}) for index in range(1, 13)]
    assert detect(pairs) == ()
    assert [row.criterion for row in detect(pairs, replace(LIMITS, rollout_block=2))] == ["success-halved"]


def test_runs_that_do_not_belong_together_are_both_named() -> None:
    other = replace(update(1, {}), seed=5)
    with pytest.raises(ValueError, match=r"one run at a time, not in \('s', 'c', 3\) and \('s', 'c', 5\) together$"):
        detect([update(1, {}), other])


def test_a_finding_says_whose_it_is_where_and_when() -> None:
    run = success(0.6, 0.6, 0.6, 0.25, 0.25, 0.25)
    (found,) = detect_curves(run, study="horizon", cell="macro", seed=4)
    assert found == CollapseRecord(
        study="horizon", cell="macro", seed=4, phase="rl", criterion="success-halved", level="all", fatal=True,
        onset=30, update=50, value=found.value, threshold=found.threshold,
        message="all levels: success fell to 25.0%, below 30.0%, half of the rate already reached "
        "(from update 30, certain at 50)",
    )  # fmt: skip
    assert (found.value, found.threshold) == pytest.approx((0.25, 0.3))
    (unnamed,) = detect_curves(run)
    assert (unnamed.study, unnamed.cell, unnamed.seed) == ("", "", 0)


@pytest.mark.parametrize(
    ("level", "words", "fatal"), [("all", "all levels", True), ("rollout", "training", True), ("T1", "level T1", False)]
)
def test_a_loss_on_a_single_level_is_a_warning(level: str, words: str, fatal: bool) -> None:
    (found,) = detect_curves(success(0.6, 0.6, 0.6, 0.25, 0.25, 0.25, level=level))
    assert found.message.startswith(f"{words}: success fell")
    assert found.fatal is fatal


def test_a_symptom_alone_is_no_collapse_and_stands_behind_one_of_the_same_update() -> None:
    points = tuple(range(1, 7))
    lost = SuccessCurve("all", points, (0.6, 0.6, 0.6, 0.25, 0.25, 0.25), (MANY,) * 6)
    run = RunCurves((lost,), points, {"masked_share": np.array([0.0] * 5 + [0.9])})
    found = detect_curves(run)
    assert [(row.criterion, row.update, row.fatal) for row in found] == [
        ("success-halved", 6, True),
        ("masked-share", 6, False),
    ]
    later = RunCurves((lost,), points, {"masked_share": np.array([0.0] * 2 + [0.9] * 4)})
    found = detect_curves(later)
    assert [row.criterion for row in found] == ["masked-share", "success-halved"]
    collapse = first_collapse(found)
    assert collapse is not None
    assert collapse.criterion == "success-halved"
    assert first_collapse(found[:1]) is None
    assert first_collapse([replace(found[1], update=9), found[1]]) == found[1]
