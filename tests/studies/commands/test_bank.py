"""`bank build`, `verify`, `import` and `list`, end to end."""

BOARD = "BB...CD..E.CDAAE.CD..E..F...GGF.HHH."


def test_a_bank_is_built_verified_and_listed(run, tmp_path):
    few = ("--train", 3, "--validation", 1, "--test", 1, "--workers", 1)
    status, rows, _ = run("bank", "build", "--level", "T2", "R1", "--out", tmp_path, "--seed", 5, *few)
    assert status == 0
    assert [row[:4] for row in rows[1:]] == [["T2", "3", "1", "1"], ["R1", "3", "1", "1"]]
    assert run("bank", "verify", tmp_path, "--workers", 1)[:2] == (0, [["rows", "proven", "failed"], ["10", "10", "0"]])
    assert run("bank", "verify", tmp_path, "--level", "T2", "--workers", 1)[1][1] == ["5", "5", "0"]
    status, rows, errors = run("bank", "verify", tmp_path, "--level", "T2", "R2")
    assert (status, rows, len(errors)) == (1, [], 1)
    assert "unknown level of these banks 'R2'; did you mean" in errors[0]
    assert [row[0] for row in run("bank", "list", tmp_path)[1]] == ["level", "R1", "T2"]
    file = tmp_path / "T2.tsv"
    file.write_text(file.read_text().replace("\ttrain\t", "\ttest\t", 1))
    status, rows, errors = run("bank", "verify", file)
    assert (status, rows[1]) == (1, ["5", "4", "1"])
    assert f"{file}:6: split is 'test', proven is 'train'" in errors


def test_what_does_not_exist_is_said(run, tmp_path):
    (tmp_path / "empty").mkdir()
    words = ("--train", 0, "--validation", 0, "--test", 0)
    assert run("bank", "build", "--level", "T2", "--out", tmp_path, *words)[1][1][:4] == ["T2", "0", "0", "0"]
    for wrong in (
        ("verify", tmp_path / "none.tsv"),
        ("list", tmp_path / "none"),
        ("list", tmp_path / "empty"),
        ("build", "--level", "T9"),
    ):
        status, _, errors = run("bank", *wrong)
        assert status == 1
        assert len(errors) == 1


def test_ones_own_list_becomes_a_bank(run, tmp_path):
    source, out = tmp_path / "mine.txt", tmp_path / "mine.tsv"
    source.write_text(f"{BOARD}\nnonsense\n8 {BOARD} 1247\n")
    status, rows, errors = run("bank", "import", source, "--out", out)
    assert status == 1
    assert rows == [[f"{out}: 1 accepted, 2 rejected"]]
    assert errors[0].startswith("line 2: board has 8 characters")
    assert errors[1].startswith("line 3: the same board as in line 1")
    assert run("bank", "verify", out)[0] == 0
    source.write_text(BOARD)
    status, rows, errors = run("bank", "import", source)
    assert (status, errors) == (0, [])
    assert rows[-1][:6] == ["rush-hour", "6", "R4", rows[-1][3], BOARD, "16"]
