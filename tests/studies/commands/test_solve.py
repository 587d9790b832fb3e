"""`solve`: one puzzle a line in, one answer a line out, errors by line number."""

import io

import pytest

from studies.cli import main

BOARD = "BB...CD..E.CDAAE.CD..E..F...GGF.HHH."
UNSOLVABLE = "BBBCCDEEEF.DGAAFHDGI.FH..IJ.KLMMJ.KL"


@pytest.fixture
def run(run, monkeypatch):
    """Run the command line on text as standard input; returns exit status, rows and error lines."""

    def on_text(text, *words):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        return run(*words)

    return on_text


def test_sudokus_are_counted_up_to_the_limit(run):
    text = "1.3434122.43.321\n................\n1234341221434321\n11..............\n"
    status, rows, errors = run(text, "solve", "sudoku", "--limit", "1000")
    assert (status, errors) == (0, [])
    assert rows == [
        ["givens", "solutions", "solution"],
        ["1.3434122.43.321", "1", "1234341221434321"],
        ["................", "288", "-"],
        ["1234341221434321", "1", "1234341221434321"],
        ["11..............", "0", "-"],
    ]
    assert [row[1] for row in run(text, "solve", "sudoku")[1][1:]] == ["1", ">=2", "1", "0"]
    assert [row[1] for row in run(text, "solve", "sudoku", "--limit", "1")[1][1:]] == ["1", ">=1", "1", "0"]
    assert run(text, "solve", "sudoku", "--limit", "0")[0] == 1


@pytest.mark.parametrize(("metric", "optimal"), [("steps", "16"), ("slides", "8")])
def test_boards_are_solved_in_either_metric(run, metric, optimal):
    status, rows, _ = run(f"{BOARD}\n{UNSOLVABLE}\n", "solve", "rush-hour", "--metric", metric)
    assert status == 0
    assert rows[0] == ["board", "optimal", "path"]
    assert rows[1][:2] == [BOARD, optimal]
    assert len(rows[1][2].split(";")) == int(optimal)
    assert rows[2] == [UNSOLVABLE, "-1", "-"]


def test_bad_lines_are_named_and_good_ones_answered(run):
    status, rows, errors = run(f"{BOARD}\n\nnonsense\n# remark\n{BOARD}", "solve", "rush-hour")
    assert status == 1
    assert [row[0] for row in rows] == ["board", BOARD, BOARD]
    assert [error.split(":")[0] for error in errors] == ["line 2", "line 3"]
    assert "8 characters" in errors[1]


def test_no_input_gives_the_header(run):
    assert run("", "solve", "rush-hour") == (0, [["board", "optimal", "path"]], [])
    assert run("", "solve", "sudoku") == (0, [["givens", "solutions", "solution"]], [])


def test_tables_of_other_commands_can_be_piped_in(run):
    status, rows, _ = run(f"board\tlevel\n{BOARD}\tR4\n", "solve", "rush-hour")
    assert status == 0
    assert [row[0] for row in rows] == ["board", BOARD]


def test_budgets_and_other_shapes(run):
    status, _, errors = run(UNSOLVABLE, "solve", "rush-hour", "--max-states", "100")
    assert status == 1
    assert errors[0].startswith("line 1: no answer within max_states=100")
    status, rows, _ = run("....AA..........", "solve", "rush-hour", "--rows", "4", "--columns", "4")
    assert (status, rows[1][1]) == (0, "2")


def test_a_file_is_read_and_a_missing_one_named(run, tmp_path):
    file = tmp_path / "boards.txt"
    file.write_bytes(BOARD.encode() + b"\n\xff\xfe\n")
    status, rows, errors = run("", "solve", "rush-hour", str(file))
    assert (status, len(rows), len(errors)) == (1, 2, 1)
    status, _, errors = run("", "solve", "rush-hour", str(tmp_path / "missing"))
    assert status == 1
    assert len(errors) == 1


def test_a_byte_order_mark_is_no_part_of_the_first_line(run, tmp_path):
    file = tmp_path / "boards.txt"
    file.write_bytes(b"\xef\xbb\xbf1.3434122.43.321\r\n")
    for answer in (run("", "solve", "sudoku", str(file)), run("\ufeff1.3434122.43.321\n", "solve", "sudoku")):
        assert answer[0] == 0
        assert answer[1][1] == ["1.3434122.43.321", "1", "1234341221434321"]


def test_closed_input_and_an_unreadable_file_are_one_clear_line(run, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("sys.stdin", None)
    assert main(["solve", "sudoku"]) == 1
    assert capsys.readouterr().err.startswith("horizon-bench: standard input is closed")
    status, rows, errors = run("", "solve", "rush-hour", str(tmp_path))
    assert (status, rows, len(errors)) == (1, [], 1)


def test_a_time_budget_that_is_no_number_is_refused(run):
    assert run(f"{BOARD}\n", "solve", "rush-hour", "--max-seconds", "nan")[0] == 1
