from __future__ import annotations

import pathlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from puzzles.sudoku import Sudoku
from solvers.sudoku import solve
from solvers.techniques import TECHNIQUES, CandidateState, find, grade
from solvers.techniques.table import code_of

# A state and one result per technique, as the official HoDoKu 2.2.0 reports it (labels are facts of running it).
CASES = [
    ("X-Wing", "..98.56.7..46...85.5.....91.8...67...917.25867..1.89.8...64.59..45.97..8.95.8..64"),
]


def candidates(text: str) -> frozenset[tuple[int, int]]:
    """Return candidates written as digit, row, column."""
    return frozenset(((int(entry[1]) - 1) * 9 + int(entry[2]) - 1, int(entry[0])) for entry in text.split())


def table(path: pathlib.Path) -> list[dict[str, str]]:
    lines = [line for line in path.read_text(encoding="utf8").splitlines() if line and not line.startswith("#")]
    head = lines[0].split("\t")
    return [dict(zip(head, line.split("\t"), strict=True)) for line in lines[1:]]


def known(name: str) -> bool:
    try:
        code_of(name)
    except ValueError:
        return False
    return True


def test_the_listed_result_of_every_shared_case_is_found(shared_data: pathlib.Path) -> None:
    missed = []
    rows = [row for row in table(shared_data / "hodoku_reglib_shared.tsv") if known(row["technique"])]
    for row in rows:
        state = CandidateState.parse(row["values"], row["givens"], row["deleted"])
        results = {(frozenset(step.eliminations), frozenset(step.placements)) for step in find(state, row["technique"])}
        wanted = (candidates(row["eliminations"]), candidates(row["placements"]))
        if bool(results) if row["variant"] == "x" else wanted not in results:
            missed.append((row["id"], row["technique"]))
    assert len(rows) > 150
    assert missed == []


def test_shared_states_have_the_listed_step_and_nothing_simpler(shared_data: pathlib.Path) -> None:
    givens = {row["id"]: row["givens"] for row in table(shared_data / "hodoku_grades_shared.tsv")}
    names = {technique.name for technique in TECHNIQUES}
    off = []
    for row in table(shared_data / "hodoku_states_shared.tsv"):
        state = CandidateState.parse(row["values"], givens[row["id"]], row["deleted"])
        if row["technique"] in names:
            results = {frozenset(step.eliminations) for step in find(state, row["technique"])}
            if candidates(row["eliminations"]) not in results:
                off.append((row["id"], row["step"], "not found"))
        off += [
            (row["id"], row["step"], technique.name)
            for technique in TECHNIQUES
            if technique.graded and technique.order < int(row["order"]) and find(state, technique.name)
        ]
    assert off == []
