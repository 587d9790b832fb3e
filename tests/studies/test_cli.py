from __future__ import annotations

import importlib
import io
import pathlib
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import pytest
import tyro

from studies import cli
from studies.cli import COMMANDS, Command, condense, main


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_of_every_command_is_one_that_it_reads(name: str) -> None:
    command = COMMANDS[name]
    kind = getattr(importlib.import_module(command.module), command.name)
    call = tyro.cli(kind, args=shlex.split(command.example))
    assert callable(call.run)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*name.split(), "--help"]) == 0
    out = capsys.readouterr().out
    assert f"Example: horizon-bench {name} {COMMANDS[name].example}".rstrip() in " ".join(out.split())


@pytest.mark.parametrize("words", [["--help"], ["study", "--help"], ["bank", "-h"]])
def test_groups_list_their_commands(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    out = capsys.readouterr().out
    group = [name for name in COMMANDS if words[0] in ("--help", name.split()[0])]
    assert all(name in out and COMMANDS[name].summary in out for name in group)


@pytest.mark.parametrize("words", [[], ["study"], ["bank"]])
def test_without_a_command_the_help_is_shown_and_the_status_says_wrong_usage(words: list[str]) -> None:
    assert main(words) == 2


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["stduy", "run"], ["unknown command 'stduy'", "did you mean 'study'"]),
        (["study", "rnu", "smoke"], ["unknown command 'study rnu'", "did you mean 'study run'"]),
        (["study", "run", "smoke", "--worker", "3"], ["--worker", "did you mean --workers?"]),
        (["study", "run", "smoke", "--workers", "many"], ["--workers", "'many'"]),
        (["eval", "expert", "--puzzles", "two"], ["eval: --puzzles is 'two', must be a whole number"]),
        (["eval", "expert", "--error-rate", "two"], ["--error-rate is 'two', must be a number"]),
        (["study", "run", "smoke", "--updates", "two"], ["--updates is 'two', must be a whole number"]),
        (["study", "run"], ["STUDY", "missing"]),
        (["eval", "expert", "--split", "tset"], ["invalid choice 'tset'", "did you mean 'test'?"]),
        (["eval", "expert", "surplus"], ["surplus"]),
    ],
)
def test_wrong_usage_gives_one_clear_line_and_status_2(
    words: list[str], parts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    for part in parts:
        assert part in err


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["study", "run", "smok"], "did you mean 'smoke'"),
        (["study", "run", "study-sudoku-marco-t3-outcome"], "did you mean 'macro'"),
        (["study", "run", "smoke", "--preset", "cup"], "did you mean 'cpu'"),
        (["study", "run", "smoke", "--seeds", "0"], "seeds at least 1"),
        (["study", "run", "horizon", "--puzzle", "nowhere_at_all:Thing"], "in the folder that holds nowhere_at_all"),
        (["study", "run", "horizon", "--puzzle", "thing"], "MODULE:NAME"),
        (["study", "list", "--family", "x"], "unknown family"),
        (["report", "no/such/folder"], "no results folder at no/such/folder"),
        (["eval", "exprt"], "did you mean 'expert'"),
        (["eval", "expert", "--level", "R1", "T1"], "belongs to sudoku"),
        (["solve", "sudoku", "no/such/file"], "no/such/file"),
    ],
)
def test_a_failure_gives_one_clear_line_and_status_1(
    words: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 1
    _, err = capsys.readouterr()
    assert err.count("\n") == 1
    assert err.startswith("horizon-bench: ")
    assert part in err


def test_studies_are_listed_with_cost_question_and_cells(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "list", "--cells", "--words", "--preset", "smoke"]) == 0
    out = capsys.readouterr().out
    for part in ("horizon", "min", "macro", "study-sudoku-macro-t3-outcome", "study-PUZZLE-INTERFACE", "slip5"):
        assert part in out


BOX = """╭─ Unrecognized options ────────────────────────────────╮
│ Unrecognized options: --levls, L1                     │
│ ───────────────────────────────────────────────────── │
│ Perhaps you meant:                                    │
│     --levels [STR [STR ...]]                          │
│         Levels. (default: )                           │
╰───────────────────────────────────────────────────────╯"""
PLAIN_BOX = """ Unrecognized options
 ----------------------------------------
  Unrecognized options: --levls, L1
  ---------------------------------------
  Perhaps you meant:
      --levels [STR [STR ...]]
  ---------------------------------------
  For full helptext, run --help
"""


@pytest.mark.parametrize("box", [BOX, PLAIN_BOX])
def test_a_box_of_the_argument_parser_becomes_one_line(box: str) -> None:
    assert condense(box) == "unrecognized options: --levls, L1; did you mean --levels?"


@dataclass(frozen=True)
class Hurdle:
    """A command that ends as it is told."""

    how: tyro.conf.Positional[str]

    def run(self) -> int:
        """End."""
        if self.how == "interrupt":
            raise KeyboardInterrupt
        if self.how == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
        return 7


@pytest.fixture
def hurdle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "COMMANDS", {"hurdle": Command(__name__, "Hurdle", "Ends.", "fast", resumable=True)})


@pytest.mark.usefixtures("hurdle")
@pytest.mark.parametrize(
    ("how", "status", "part"),
    [
        ("interrupt", 130, "To go on: horizon-bench hurdle interrupt"),
        ("torch", 1, 'python -m pip install "horizon-bench[train]"'),
        ("well", 7, ""),
    ],
)
def test_interruption_says_how_to_go_on_and_a_missing_package_how_to_get_it(
    how: str, status: int, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["hurdle", how]) == status
    assert part in capsys.readouterr().err


def test_a_terminal_that_lacks_a_character_is_no_reason_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(terminal, encoding="ascii"))
    assert main(["--version"]) == 0
    print("9\u00d79", flush=True)
    assert terminal.getvalue().splitlines()[-1] == b"9?9"


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = [sys.executable, "-m", "studies.cli", "study", "list", "--cells"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait() == 141
    assert process.stderr is not None
    assert process.stderr.read() == b""


def test_solving_starts_without_training_or_plotting() -> None:
    program = (
        "import sys; sys.argv = ['horizon-bench', 'solve', 'sudoku', '--help'];"
        "from horizon_bench.__main__ import main; status = main();"
        "print(status, sorted({'torch', 'matplotlib', 'transformers'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "0 []"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_and_kill_end_a_study_with_its_workers(
    tmp_path: pathlib.Path, number: signal.Signals, status: int
) -> None:
    command = [sys.executable, "-m", "studies.cli", "study", "run", "execution", "--results", str(tmp_path)]
    # Background jobs of a shell, and so some CI runners, start with Ctrl-C ignored, which children inherit.
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert "jobs" in process.stdout.readline()
    time.sleep(1.0)
    process.send_signal(number)
    assert process.wait(timeout=30) == status
    error = process.stderr.read()
    assert f"To go on: horizon-bench study run execution --results {tmp_path}" in error
    assert "Traceback" not in error
    assert subprocess.run(["pgrep", "--parent", str(process.pid)], check=False).returncode == 1


def test_a_failing_file_is_named_first_then_the_reason(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "none.txt"
    assert main(["solve", "sudoku", str(missing)]) == 1
    assert capsys.readouterr().err == f"horizon-bench: {missing}: No such file or directory\n"
