"""Verification finds every kind of false row."""

from dataclasses import replace

import pytest

from curricula.banks import build_bank, save_bank
from curricula.instances import SPLITS
from curricula.levels import find_level
from curricula.verifying import row_faults, verify_banks

WANTED = {"train": 2, "validation": 0, "test": 1}


@pytest.fixture(scope="module")
def sudokus():
    return build_bank(find_level("T3"), 1, WANTED)


@pytest.fixture(scope="module")
def boards():
    return build_bank(find_level("R1"), 1, WANTED)


def test_true_banks_hold(tmp_path, sudokus, boards):
    for name, instances in (("T3", sudokus), ("R1", boards)):
        save_bank(instances, tmp_path / f"{name}.tsv", level=name)
    files = [tmp_path / "T3.tsv", tmp_path / "R1.tsv"]
    assert verify_banks(files) == verify_banks(files, workers=2) == (6, [])


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("distance", 5, "distance is 5"),
        ("slides", 7, "slides is 7"),
        ("grade", "X-Wing", "grade is 'X-Wing'"),
        ("solution", "1234" * 4, "solution is not"),
        ("key", "1", "key is '1'"),
        ("size", 9, "size is 9"),
        ("level", "T1", "not in level T1"),
        ("level", "L2-fish", "is not one of level L2-fish"),
        ("start", "." * 16, "exactly one solution"),
        ("puzzle", "chess", "unknown puzzle"),
    ],
)
def test_false_facts_of_sudokus_are_found(sudokus, field, value, reason):
    assert any(reason in fault for fault in row_faults(replace(sudokus[0], **{field: value})))


def test_false_splits_are_found(sudokus):
    for split in SPLITS[1:]:
        assert any("split is" in fault for fault in row_faults(replace(sudokus[0], split=split)))


def test_false_plans_are_found(boards):
    board = boards[0]
    moves = board.solution.split(";")
    for plan in (
        moves[:-1],
        [*moves, moves[-1]],
        ["nothing"],
        [*moves, "move(A, left, 1)", "move(A, right, 1)"],
    ):
        assert any("plan" in fault for fault in row_faults(replace(board, solution=";".join(plan))))
    assert any("slides is" in fault for fault in row_faults(replace(board, slides=board.slides + 1)))


def test_repeated_boards_and_keys_in_two_splits_are_found(tmp_path, sudokus):
    first = sudokus[0]
    other = replace(sudokus[1], key=first.key, split="test")
    save_bank([first, first, other], tmp_path / "T3.tsv", level="T3")
    rows, problems = verify_banks([tmp_path / "T3.tsv"])
    found = {(problem.line, problem.reason) for problem in problems}
    assert rows == 3
    assert (4, "the same board as in T3.tsv:3") in found
    assert (5, "key of T3.tsv:3, which is in split train, not test") in found
    assert str(problems[0]).startswith(str(tmp_path / "T3.tsv:4"))
