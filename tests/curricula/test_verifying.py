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
        ("grade", "-", "grade is '-'"),
        ("level", "T1", "not in level T1"),
        ("level", "L2-fish", "level L2-fish holds sudoku of size 9"),
        ("level", "-", "level is '-', proven is 'T3'"),
        ("level", "nowhere", "level is 'nowhere', proven is 'T3'"),
        ("seed", "bogus", "seed 'bogus' is not SEED/T3/INDEX"),
        ("seed", "1/T2/0", "seed '1/T2/0' is not SEED/T3/INDEX"),
        ("start", "." * 16, "exactly one solution"),
        ("puzzle", "chess", "unknown puzzle"),
    ],
)
def test_false_facts_of_sudokus_are_found(sudokus, field, value, reason):
    assert any(reason in fault for fault in row_faults(replace(sudokus[0], **{field: value})))


def test_a_technique_level_wants_its_technique():
    easy = build_bank(find_level("L2"), 1, WANTED)[0]
    faults = row_faults(replace(easy, level="L2-fish", seed="-"))
    assert faults == [f"hardest technique {easy.grade!r} is not one of level L2-fish"]
    assert row_faults(replace(easy, level="L2-single", seed="-")) == []


def test_rows_of_another_level_or_seed_than_their_file_are_found(tmp_path, sudokus):
    file = tmp_path / "T3.tsv"
    save_bank(sudokus, file, level="T2", seed="2")
    reasons = {problem.reason for problem in verify_banks([file])[1]}
    assert "level is 'T3', the file's is 'T2'" in reasons
    assert f"seed is {sudokus[0].seed!r}, the file's is '2'" in reasons


def test_a_file_that_was_cut_off_is_refused(tmp_path, sudokus):
    file = tmp_path / "T3.tsv"
    save_bank(sudokus, file, level="T3")
    lines = file.read_text().splitlines(keepends=True)
    for text, reason in (("".join(lines[:-1]), "2 rows, its first lines say 3"), ("".join(lines)[:-2], "cut off")):
        file.write_text(text)
        with pytest.raises(ValueError, match=reason):
            verify_banks([file])


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
    assert (5, "the same board as in T3.tsv:4") in found
    assert (6, "key of T3.tsv:4, which is in split train, not test") in found
    assert str(problems[0]).startswith(str(tmp_path / "T3.tsv:5"))


def test_a_file_that_is_no_text_is_no_bank(tmp_path):
    file = tmp_path / "bank.tsv"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"bank\.tsv: no bank file, it is no text"):
        verify_banks([file])
