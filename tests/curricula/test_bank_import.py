"""Import: every format, every refused row with its line and reason, nothing dropped."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curricula.bank_import import guess_puzzle, import_instances

BOARD = "BB...CD..E.CDAAE.CD..E..F...GGF.HHH."
UNSOLVABLE = "BBBCCDEEEF.DGAAFHDGI.FH..IJ.KLMMJ.KL"
EASY = "9.2.6..75..62.7.94745981263...6.2.18.64..3.5.32.5...46.89.3.52...1..8.3.273495.81"
SMALL = ["1.3434122.43.321", "123434122.43.3.1"]


def write(tmp_path, text, name="list.txt"):
    file = tmp_path / name
    file.write_text(text, encoding="utf8")
    return file


def refused(rejected):
    return {row.line: row.reason for row in rejected}


def test_one_board_a_line(tmp_path):
    text = f"# my own\n{SMALL[0]}\n\n{SMALL[1].replace('.', '0')}\nnonsense\n{SMALL[0]}\n................\n"
    accepted, rejected = import_instances(write(tmp_path, text), "sudoku")
    assert [each.start for each in accepted] == SMALL
    reasons = refused(rejected)
    assert list(reasons) == [5, 6, 7]
    assert "character 'n'" in reasons[5]
    assert reasons[6] == "the same board as in line 2"
    assert "exactly one solution" in reasons[7]


def test_rush_hour_boards(tmp_path):
    text = f"{BOARD}\n{UNSOLVABLE}\n{BOARD[:-1]}\n"
    accepted, rejected = import_instances(write(tmp_path, text), "rush-hour")
    assert [each.distance for each in accepted] == [16]
    assert list(refused(rejected)) == [2, 3]
    assert rejected[0].text == UNSOLVABLE


def test_database_lines_are_checked_against_what_they_state(tmp_path):
    text = f"8 {BOARD} 1247\n9 {BOARD} 1247\n8 {BOARD} 1248\n"
    accepted, rejected = import_instances(write(tmp_path, text), "rush-hour")
    assert [(each.slides, each.distance) for each in accepted] == [(8, 16)]
    assert refused(rejected) == {
        2: "slides stated is 9, proven is 8",
        3: "1248 reachable states stated, there are 1247",
    }


@pytest.mark.parametrize("mark", [",", "\t", ";"])
def test_tables_with_named_columns(tmp_path, mark):
    lines = [
        ("id", "Quizzes", "solutions", "blanks"),
        ("a", SMALL[0], "1234341221434321", "3"),
        ("b", SMALL[1], "4321341221431234", ""),
        ("c", SMALL[1], "-", "5"),
        ("d",),
        ("e", f'"{SMALL[1]}"', "", ""),
    ]
    accepted, rejected = import_instances(write(tmp_path, "\n".join(map(mark.join, lines))), "sudoku")
    assert [each.start for each in accepted] == SMALL
    assert list(refused(rejected)) == [3, 4, 5]
    assert "solution stated" in rejected[0].reason
    assert "distance stated is 5, proven is 3" in rejected[1].reason


def test_a_level_asked_for_refuses_other_distances(tmp_path):
    file = write(tmp_path, f"{BOARD}\n...B.....B..AA.B..CCDD..E.....EFFF..\n")
    accepted, rejected = import_instances(file, "rush-hour", level="R4")
    assert [each.level for each in accepted] == ["R4"]
    assert refused(rejected) == {2: "distance 12 is not in level R4 (16 to 18)"}


def test_a_level_refuses_other_sizes_techniques_and_puzzles(tmp_path):
    small = ".1......1.4.3..2"
    reasons = {}
    for level, board in (("L1", small), ("L5-fish", EASY)):
        accepted, rejected = import_instances(write(tmp_path, board), "sudoku", level=level)
        assert accepted == ()
        reasons[level] = rejected[0].reason
    assert reasons == {
        "L1": "level L1 holds sudoku of size 9, this is sudoku of size 4",
        "L5-fish": "hardest technique 'Naked Single' is not one of level L5-fish",
    }
    for level, reason in (("L2", "level L2 is one of sudoku"), ("L9", "unknown level")):
        with pytest.raises(ValueError, match=reason):
            import_instances(write(tmp_path, BOARD), "rush-hour", level=level)


@pytest.mark.parametrize("claim", ["solution", "solutions"])
def test_solutions_stated_in_part_or_in_another_number_are_refused(tmp_path, claim):
    rows = [f"givens,{claim}", f"{SMALL[0]},1234 3412 2143 4321", f"{SMALL[1]},123434122143", f"{SMALL[1]},2"]
    accepted, rejected = import_instances(write(tmp_path, "\n".join(rows)), "sudoku")
    assert [each.start for each in accepted] == SMALL[:1]
    assert refused(rejected) == dict.fromkeys((3, 4), "the solution stated is not the puzzle's")


def test_plans_and_numbers_are_read_as_they_are_written(tmp_path):
    (proven,), _ = import_instances(write(tmp_path, BOARD), "rush-hour")
    broken = proven.solution.rpartition(";")[0]
    rows = ["board\tsteps\tpath", f"{BOARD}\t16\t{broken}", f"{BOARD}\t16.0\t{proven.solution}"]
    accepted, rejected = import_instances(write(tmp_path, "\n".join(rows)), "rush-hour")
    assert accepted == (proven,)
    assert refused(rejected) == {2: "the plan stated does not lead to the goal"}


def test_the_letters_of_large_sudokus_are_no_vehicles(tmp_path):
    assert guess_puzzle(write(tmp_path, "123456789ABCDEFG" + "." * 240)) == "sudoku"


def test_the_puzzle_is_guessed_from_the_boards(tmp_path):
    assert guess_puzzle(write(tmp_path, f"{BOARD}\nnonsense\n{BOARD}")) == "rush-hour"
    assert guess_puzzle(write(tmp_path, "\n".join(SMALL))) == "sudoku"


def test_what_is_no_list_is_refused(tmp_path):
    file = tmp_path / "list.bin"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="no UTF-8 text"):
        import_instances(file, "sudoku")
    with pytest.raises(FileNotFoundError):
        import_instances(tmp_path / "missing", "sudoku")
    with pytest.raises(ValueError, match="unknown puzzle"):
        import_instances(write(tmp_path, ""), "chess")


@settings(max_examples=40)
@given(st.lists(st.sampled_from([SMALL[0], SMALL[1], "x", BOARD]) | st.text(st.characters(codec="utf8"), max_size=20)))
def test_every_row_is_either_accepted_or_refused(tmp_path_factory, rows):
    text = "\n".join(row.replace("\n", " ").replace("\r", " ") for row in rows)
    file = tmp_path_factory.mktemp("lists") / "list.txt"
    file.write_text("first\n" + text, encoding="utf8", newline="")
    accepted, rejected = import_instances(file, "sudoku")
    held = [line for line in ("first\n" + text).split("\n") if line.strip() and line[0] != "#"]
    assert len(accepted) + len(rejected) == len(held)
    assert len({row.line for row in rejected}) == len(rejected)
