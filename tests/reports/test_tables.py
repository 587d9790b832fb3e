from __future__ import annotations

import csv
import io
import math
from dataclasses import replace
from pathlib import Path

import pytest

from reports.comparisons import compare
from reports.conditions import conditions_of
from reports.results import load_results
from reports.table import MISSING
from reports.tables import Table, all_tables, amount, collapse_table, write_tables

ODD = Table(
    "odd", "100 % & more", ("a_b", "c|d"), (("x, y", 'say "5 %"'), ("\N{MINUS SIGN}1 | 2", "~{}$#^\\")), "n < 3"
)


@pytest.fixture(scope="module")
def tables(small: Path) -> dict[str, Table]:
    results = load_results(small)
    conditions = conditions_of(results)
    return {table.name: table for table in all_tables(results, conditions, compare(conditions))}


def test_every_table_is_made(tables: dict[str, Table]) -> None:
    assert set(tables) == {
        "h50",
        "conditions",
        "levels",
        "comparisons",
        "gaps",
        "equal-cost",
        "collapse",
        "diagnostics",
        "failures",
        "published",
    }
    for table in tables.values():
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_comma_separated_values_read_back_with_ascii_minus(tables: dict[str, Table]) -> None:
    for table in (*tables.values(), ODD):
        found = list(csv.DictReader(io.StringIO(table.to_csv())))
        assert len(found) == len(table.rows)
        for line, row in zip(found, table.rows, strict=True):
            for name, cell in zip(table.columns, row, strict=True):
                if name not in table.estimates:
                    assert line[name] == cell.replace("\N{MINUS SIGN}", "-")


def test_comma_separated_values_hold_each_estimate_as_three_numbers(tables: dict[str, Table]) -> None:
    row = ("a", "\N{MINUS SIGN}25.8 [\N{MINUS SIGN}39.6, +12.1]", MISSING)
    made = Table("x", "x", ("name", "gap", "rate"), (row,), estimates=("gap", "rate"))
    (line,) = csv.DictReader(io.StringIO(made.to_csv()))
    assert list(line) == ["name", "gap", "gap low", "gap high", "rate", "rate low", "rate high"]
    assert [float(line[name]) for name in ("gap", "gap low", "gap high")] == [-25.8, -39.6, 12.1]
    assert math.isnan(float(line["rate low"]))
    for table in tables.values():
        for line in csv.DictReader(io.StringIO(table.to_csv())):
            for name in table.estimates:
                value, low, high = (float(line[name + ending]) for ending in ("", " low", " high"))
                assert math.isnan(value) or low <= value <= high
    named = {name: table.estimates for name, table in tables.items() if table.estimates}
    assert set(named) == {"conditions", "levels", "comparisons", "gaps", "collapse"}


def test_an_interval_that_cannot_be_had_is_no_number() -> None:
    made = Table("x", "x", ("gap",), ((f"75.4 [{MISSING}]",),), estimates=("gap",))
    assert made.to_csv().splitlines()[1] == "75.4,nan,nan"


def test_markdown_has_a_cell_for_each_column() -> None:
    lines = ODD.to_markdown().splitlines()
    assert lines[0] == "| a_b | c\\|d |"
    assert lines[3] == "| \N{MINUS SIGN}1 \\| 2 | ~{}$#^\\ |"
    assert lines[-1] == "n < 3"


def test_latex_escapes_what_it_must() -> None:
    text = ODD.to_latex()
    assert r"100 \% \& more. n $<$ 3" in text
    assert r"a\_b & c|d \\" in text
    assert r"\textasciitilde{}\{\}\$\#\textasciicircum{}\textbackslash{}" in text
    assert text.count(r"\\") == 3


def test_costs_compare_at_what_the_cheapest_condition_spent(tables: dict[str, Table]) -> None:
    rows = {row[1]: row for row in tables["equal-cost"].rows}
    assert rows["macro, trained on T3"][2].endswith(" at 553k")
    assert rows["atomic, trained on T3"][2].endswith(" at 415k")
    assert all("[" in cell for row in rows.values() for cell in row[2:])


def test_collapsed_runs_are_counted_and_named(tables: dict[str, Table]) -> None:
    row = next(row for row in tables["collapse"].rows if row[1] == "atomic, trained on T3")
    assert row[2] == "1 of 2"
    assert "seed 1: success-" in row[4]


def test_cells_that_share_a_label_are_counted_apart(small: Path) -> None:
    results = load_results(small)
    alike = tuple(replace(run, cell=replace(run.cell, label="alike")) for run in results.runs)
    assert [row[1:3] for row in collapse_table(replace(results, runs=alike)).rows] == [
        ("alike", "1 of 2"),
        ("alike", "0 of 2"),
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (999.4, "999"), (999.6, "1k"), (1234, "1.23k"), (999_600, "1M"), (2.5e9, "2.5G"), (math.nan, MISSING)],
)
def test_amounts_are_written_with_three_digits_and_the_unit_that_fits(value: float, text: str) -> None:
    assert amount(value) == text


def test_published_numbers_stand_beside_ours_and_say_that_the_scale_differs(tables: dict[str, Table]) -> None:
    table = tables["published"]
    assert "Different scale" in table.note
    assert table.rows[0][:2] == ("published", "macro, SFT only")
    assert table.rows[0][3].startswith("L3 26.25; L4 8.75")
    assert table.rows[1][0] == "ours"


def test_tables_are_written_in_three_forms(tables: dict[str, Table], tmp_path: Path) -> None:
    paths = write_tables(tuple(tables.values()), tmp_path)
    assert {path.suffix for path in paths} == {".csv", ".md", ".tex"}
    assert len(paths) == 3 * len(tables)
    assert (tmp_path / "h50.md").read_text(encoding="utf8") == tables["h50"].to_markdown()
