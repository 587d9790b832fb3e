from __future__ import annotations

import pathlib
import re

import pytest

from reports.records import read_cell
from studies.cli import main
from studies.factors import FAMILIES
from studies.matrix import SCALES, STUDIES
from studies.presets import LanguageScale, find_preset, resized


def test_a_cell_runs_to_its_report_is_kept_and_refuses_another_preset(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["study", "run", "study-rush-atomic-r-expert", "--results", str(tmp_path), "--workers", "0", "--seeds", "1"]
    assert main([*words, "--preset", "smoke"]) == 0
    page = tmp_path / "report.html"
    assert f"report: {page}" in capsys.readouterr().out
    assert page.read_text().startswith("<!doctype html>")
    page.unlink()
    records = tmp_path / "single" / "study-rush-atomic-r-expert" / "0" / "records.jsonl"
    before = records.read_bytes()

    assert main([*words, "--preset", "smoke", "--no-report"]) == 0
    assert "1 finished run" in capsys.readouterr().out
    assert not page.exists()

    assert main([*words, "--preset", "cpu"]) == 1
    assert "preset is 'smoke' there, 'cpu' now" in capsys.readouterr().err
    assert records.read_bytes() == before

    assert main(["report", str(tmp_path), "--out", str(tmp_path / "again.html")]) == 0
    assert (tmp_path / "again.html").exists()


def test_a_failed_cell_gives_status_1_and_its_reason(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["study", "run", "study-sudoku-macro-l34-subgoal", "--results", str(tmp_path), "--workers", "0"]
    assert main([*words, "--preset", "paper"]) == 1
    out, err = capsys.readouterr()
    assert "failed: sft l-qwen3-1.7b/0: " in out + err
    assert "study-sudoku-macro-l34-subgoal/0: not started, because sft l-qwen3-1.7b/0 failed" in out + err
    assert not list(tmp_path.glob("**/done.json"))


def test_a_corrupt_results_folder_is_named_and_left_as_it_was(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "single" / "study-rush-atomic-r-expert" / "0"
    folder.mkdir(parents=True)
    (folder / "cell.json").write_text("{broken")
    words = ["study", "run", "study-rush-atomic-r-expert", "--results", str(tmp_path), "--workers", "0"]
    assert main(words) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "cell.json" in err
    assert (folder / "cell.json").read_text() == "{broken"


def test_the_list_states_every_study_and_its_cost_at_each_preset(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == ["study", "cells", "smoke", "cpu", "question"]
    shown = {line.split()[0]: line.split()[1:4] for line in lines[3:]}
    assert set(shown) == set(STUDIES)
    for cells, smoke, cpu in shown.values():
        assert int(cells) > 0
        assert 0 <= float(smoke) < float(cpu)


def test_costs_that_nobody_measured_and_studies_without_cells_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "list", "--preset", "paper", "--cells"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(line.split()[2] == "?" for line in lines[3:] if not line.startswith("  "))
    assert any(line.startswith("  study-sudoku-macro-l34-outcome ") for line in lines)
    assert main(["study", "list", "--family", "r"]) == 0
    assert next(line for line in capsys.readouterr().out.splitlines() if line.startswith("turn-risk")).split()[2] == "-"


@pytest.mark.parametrize(
    "options", [["--dry-run"], ["--updates", "0"], ["--preset", "smal"], ["--puzzle", "none:None"]]
)
def test_a_mistyped_name_is_named_before_anything_else(capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    assert main(["study", "run", "study-sudoku-marco-t3-outcome", *options]) == 1
    assert "unknown interface 'marco'; did you mean 'macro'?" in capsys.readouterr().err
    assert main(["study", "run", "horizo", *options]) == 1
    assert "unknown study 'horizo'; did you mean 'horizon'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["study-sudoku-macro-t3-outcome", "--family", "m"],
            "which --family cannot change; name the cell",
        ),
        (["study-sudoku-macro-t3-outcome", "--puzzle", "mine:Mine"], "which --puzzle cannot change"),
        (["horizon", "--puzzle", "mine:Mine", "--family", "m"], "brings its own levels; leave --family m out"),
        (
            ["horizon", "--thinking", "on", "--reply-cap", "9"],
            "only a policy of --policy is asked with --reply-cap, --thinking",
        ),
        (["horizon", "--gpus", "2"], "--gpus go with --preset paper"),
        (["horizon", "--policy", "hf:any", "--sft-only"], "plays every cell as it is; leave --sft-only out"),
    ],
)
def test_options_without_effect_are_refused(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert main(["study", "run", *words]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("command", ["list", "run"])
def test_the_help_of_family_names_every_family(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert main(["study", command, "--help"]) == 0
    words = " ".join(re.sub(r"[^ -~]", " ", capsys.readouterr().out).split())
    for key, family in FAMILIES.items():
        assert f"{key} ({family.puzzle}, size {family.size}, {family.levels[0]} to {family.levels[-1]})" in words


@pytest.mark.parametrize("family", SCALES)
def test_the_costs_of_cells_stand_below_each_other(capsys: pytest.CaptureFixture[str], family: str) -> None:
    assert main(["study", "list", "--cells", "--family", family]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  study-")]
    assert len({line.index("   a seed, without SFT") for line in lines}) == 1


def test_the_number_of_updates_can_be_chosen(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["study", "run", "study-rush-atomic-r-expert", "--results", str(tmp_path), "--workers", "0", "--seeds", "1"]
    assert main([*words, "--preset", "smoke", "--no-report", "--updates", "7"]) == 0
    folder = tmp_path / "single" / "study-rush-atomic-r-expert" / "0"
    assert read_cell(folder).settings["preset"]["updates"] == 7
    capsys.readouterr()
    assert main([*words, "--updates", "0"]) == 1
    assert "updates must be at least 1, not 0" in capsys.readouterr().err


def test_sizes_of_a_preset_can_be_changed(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["study", "run", "study-rush-atomic-r-expert", "--results", str(tmp_path), "--workers", "0", "--seeds", "1"]
    sizes = ["--preset", "smoke", "--no-report", "--sizes", "untrained_puzzles=2", "attempts=3"]
    assert main([*words, *sizes]) == 0
    preset = read_cell(tmp_path / "single" / "study-rush-atomic-r-expert" / "0").settings["preset"]
    assert (preset["untrained_puzzles"], preset["attempts"]) == (2, 3)
    assert preset["test_puzzles"] == find_preset("smoke").test_puzzles
    capsys.readouterr()
    assert main([*words, "--sizes", "attempt=3"]) == 1
    assert "unknown size 'attempt'; did you mean 'attempts'?" in capsys.readouterr().err


@pytest.mark.parametrize("change", ["attempts=0", "attempts=1.5", "attempts", "temperature=nan", "sft_rate=-1"])
def test_what_is_no_size_is_refused(change: str) -> None:
    with pytest.raises(ValueError, match=f"{change.partition('=')[0]} is .*, must be a"):
        resized(find_preset("paper"), [change])
    assert resized(find_preset("paper"), ["lora_rank=0", "traces=7"]).language == LanguageScale(traces=7)
