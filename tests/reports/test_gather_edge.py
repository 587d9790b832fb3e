from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from reports.conditions import conditions_of
from reports.gather_edge import ALL, edge_panels, edges
from reports.results import load_results
from reports.study_tables import edge_table


@pytest.fixture(scope="module")
def risky(tmp_path_factory: pytest.TempPathFactory, make) -> Path:  # type: ignore[no-untyped-def]
    """Results whose macros gain more the more decisions are lost: 0, then 40 points of success a level on average."""
    folder = tmp_path_factory.mktemp("risky")
    for voided, gain in ((0.01, 0.0), (0.1, 0.06)):
        for interface in ("atomic", "macro"):
            skill = 0.9 - voided + (gain if interface == "macro" else 0.0)
            arm = make.arm(f"study-{interface}-{voided}", f"{interface} {voided}", interface, before=skill, after=skill)
            arm = replace(arm, study="turn-risk", voided=voided)
            for seed in range(2):
                make.run(folder, arm, seed, 30, 2)
    return folder


def test_the_edge_is_paired_by_risk_and_rises_with_it(risky: Path) -> None:
    found = edges(conditions_of(load_results(risky)))
    assert [(edge.phase, edge.rule) for edge in found] == [("sft", "semi")] * 2 + [("rl", "semi")] * 2
    for safe, unsafe in (found[:2], found[2:]):
        assert safe.risk == pytest.approx(1.0, abs=0.6)
        assert unsafe.risk == pytest.approx(10.0, abs=2.0)
        assert set(safe.gaps) == {ALL, "T1", "T2", "T3", "T4", "T5"}
        assert safe.gaps[ALL].low < 0 < safe.gaps[ALL].high
        assert unsafe.gaps[ALL].low > 0
        assert unsafe.gaps[ALL].value == pytest.approx(0.17, abs=0.08)


def test_each_panel_has_a_curve_for_every_distance_and_one_over_all(risky: Path) -> None:
    panels = edge_panels(conditions_of(load_results(risky)))
    assert [panel.title for panel in panels] == [
        "turn-risk: SFT only, on error: semi",
        "turn-risk: after RL, on error: semi",
    ]
    labels = [series.label for series in panels[0].series]
    assert labels[0] == "T1, distance 4.5"
    assert labels[-1] == ALL
    assert all(len(series.points) == 2 for series in panels[0].series)
    assert "n = 30 puzzles" in panels[0].note


def test_the_table_holds_what_the_figure_draws(risky: Path) -> None:
    table = edge_table(conditions_of(load_results(risky)))
    assert [row[1] for row in table.rows] == ["SFT only", "SFT only", "after RL", "after RL"]
    assert all("T5 " in row[5] for row in table.rows)


def test_untrained_policies_are_called_by_their_name_and_attempts_are_counted(risky: Path) -> None:
    conditions = [
        replace(one, phase="noisy-expert", records=tuple(row for row in one.records if row.attempt < 2))
        for one in conditions_of(load_results(risky))
        if one.phase == "sft"
    ]
    (panel,) = edge_panels(conditions)
    assert panel.title == "turn-risk: noisy expert, on error: semi"
    assert "2 attempts a point" in panel.note
    assert {row[1] for row in edge_table(conditions).rows} == {"noisy expert"}


def test_without_a_spread_of_risk_there_is_no_curve(small: Path) -> None:
    conditions: Sequence[object] = conditions_of(load_results(small))
    assert edge_panels(conditions) == ()  # type: ignore[arg-type]
