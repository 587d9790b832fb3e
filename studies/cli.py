"""The `horizon-bench` command: finds the command, lets tyro read its arguments, turns failures into one line.

A command is a frozen dataclass with `run() -> int` in a module of `studies.commands`. Modules are imported only when
their command is called, so that `horizon-bench solve` starts without torch and matplotlib.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import inspect
import io
import logging
import os
import re
import shlex
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from horizon_bench.extras import missing_package
from horizon_bench.files import in_words
from puzzles.names import did_you_mean, unknown_name

PROGRAM = "horizon-bench"


class Runnable(Protocol):
    """A command whose arguments have been read."""

    def run(self) -> int:
        """Do the work and return the exit status."""


@dataclass(frozen=True)
class Command:
    """Where a command lives and what it is for."""

    module: str
    name: str
    """Name of the dataclass in `module`."""
    summary: str
    example: str
    """Arguments of an example call, after the command's own words."""
    resumable: bool = False


COMMANDS: dict[str, Command] = {
    "study list": Command("studies.commands.study", "StudyList", "Show the studies, their cells and their cost.", ""),
    "study run": Command(
        "studies.commands.study",
        "StudyRun",
        "Run a study or one cell; running it again resumes.",
        "smoke --results results --workers 2 --seeds 1",
        resumable=True,
    ),
    "results migrate": Command(
        "studies.commands.results",
        "ResultsMigrate",
        "Rewrite results of an older version in the form of today.",
        "results --dry-run",
    ),
    "eval": Command(
        "studies.commands.eval",
        "Evaluate",
        "Measure a policy: avg@k, pass@k and H50 with intervals.",
        "noisy-expert --puzzle sudoku --level L1 L2 L3",
    ),
    "report": Command("studies.commands.report", "Report", "Draw the report of a results folder.", "results"),
    "failures": Command(
        "studies.commands.failures", "Failures", "Say why attempts failed, before and after training.", "results"
    ),
    "milestones": Command(
        "studies.commands.milestones", "Milestones", "Say how well milestones foretell success.", "results"
    ),
    "solve sudoku": Command(
        "studies.commands.solve", "SolveSudoku", "Solve and count Sudoku puzzles, one a line.", "puzzles.txt"
    ),
    "solve rush-hour": Command(
        "studies.commands.solve", "SolveRushHour", "Find shortest Rush Hour plans, one board a line.", "boards.txt"
    ),
    "solve shop": Command(
        "studies.commands.solve", "SolveShop", "Find shortest plans for shopping lists, one a line.", "lists.txt"
    ),
    "grade": Command("studies.commands.grade", "Grade", "Name the hardest technique a Sudoku needs.", "puzzles.txt"),
    "generate sudoku": Command(
        "studies.commands.generate", "GenerateSudoku", "Make new Sudoku puzzles of a level.", "--level L3 --count 10"
    ),
    "generate rush-hour": Command(
        "studies.commands.generate",
        "GenerateRushHour",
        "Make new Rush Hour boards of a level.",
        "--level R2 --count 10",
    ),
    "generate shop": Command(
        "studies.commands.generate", "GenerateShop", "Make new shopping lists of a level.", "--level S2 --count 10"
    ),
    "bank build": Command("studies.commands.bank", "BankBuild", "Build banks of checked instances.", "--level L3"),
    "bank verify": Command("studies.commands.bank", "BankVerify", "Prove every line of a bank again.", "--level L3"),
    "bank import": Command("studies.commands.bank", "BankImport", "Turn your own puzzles into a bank.", "mine.txt"),
    "bank list": Command("studies.commands.bank", "BankList", "Show the banks at hand.", ""),
    "export": Command(
        "studies.commands.export",
        "Export",
        "Write banks or expert traces as data sets for other trainers.",
        "traces --level L3 --interface macro --format jsonl --out traces.jsonl",
    ),
    "play": Command("studies.commands.play", "Play", "Play an instance yourself in the terminal.", "--level T1"),
    "replay": Command(
        "studies.commands.replay", "Replay", "Watch recorded episodes board by board.", "results/smoke/CELL/0"
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status.

    Args:
        arguments: words after the program's name; the process's own by default.

    Returns:
        0 done, 1 failed with one clear line, 2 wrong usage, 130 interrupted, 141 reader went away, 143 terminated.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that lacks a character shows another one; that is no reason to stop.
            stream.reconfigure(errors="replace")
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", level=logging.WARNING)
    try:
        with _terminable():
            status = dispatch(words)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt as stop:
        _complain(_interruption(words))
        return 143 if isinstance(stop, Terminated) else 130
    except BrokenPipeError:
        _give_up_output()
        return 141
    except ImportError as error:
        advice = missing_package(error) if isinstance(error, ModuleNotFoundError) else None
        _complain(f"{PROGRAM}: {advice or in_words(error)}")
        return 1
    except (ValueError, OSError) as error:
        _complain(f"{PROGRAM}: {in_words(error)}")
        _give_up_output()
        return 1


class Terminated(KeyboardInterrupt):
    """The process was asked to end (SIGTERM), which stops a command as Ctrl-C does."""


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM raise `Terminated`, unless somebody has settled already what it does."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _terminate(number: int, frame: object) -> None:
    raise Terminated


def _give_up_output() -> None:
    """Drop what cannot be printed: the interpreter flushes once more at exit and would print a second complaint."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def dispatch(words: list[str]) -> int:
    """Find the command that `words` begin with, read its arguments, and run it."""
    if not words or words[0] in ("-h", "--help"):
        print(help_text(COMMANDS, PROGRAM))
        return 0 if words else 2
    if words[0] == "--version":
        print(f"{PROGRAM} {importlib.metadata.version(PROGRAM)}")
        return 0
    name = _named(words)
    return _unknown(words) if name is None else _run(name, words[len(name.split()) :])


def _named(words: list[str]) -> str | None:
    """Return the command that `words` begin with, or None."""
    return next((name for name in (" ".join(words[:2]), words[0]) if name in COMMANDS), None)


def help_text(commands: Iterable[str], program: str) -> str:
    """Return the help of a group of commands: what each is for, with one example each."""
    chosen = {name: COMMANDS[name] for name in commands}
    width = max(len(name) for name in chosen)
    lines = [f"usage: {program} COMMAND [ARGUMENTS]", "", "Commands:"]
    lines += [f"  {name:<{width}}  {command.summary}" for name, command in chosen.items()]
    lines += ["", "Examples:"]
    lines += [f"  {PROGRAM} {name} {command.example}".rstrip() for name, command in chosen.items()]
    lines += ["", f"`{PROGRAM} COMMAND --help` explains the arguments of one command."]
    return "\n".join(lines)


def _run(name: str, words: list[str]) -> int:
    import tyro

    command = COMMANDS[name]
    kind = getattr(importlib.import_module(command.module), command.name)
    complaint = io.StringIO()
    program = f"{PROGRAM} {name}"
    description = f"{inspect.getdoc(kind)}\n\nExample: {program} {command.example}".rstrip()
    try:
        with contextlib.redirect_stderr(complaint):
            call = cast(Runnable, tyro.cli(kind, args=words, prog=program, description=description))
    except SystemExit as stop:
        if stop.code in (None, 0):
            return 0
        _complain(f"{program}: {condense(complaint.getvalue())} (`{program} --help` explains)")
        return 2
    return call.run()


def _unknown(words: list[str]) -> int:
    group = [name for name in COMMANDS if name.split()[0] == words[0]]
    if group and (len(words) == 1 or words[1] in ("-h", "--help")):
        print(help_text(group, f"{PROGRAM} {words[0]}"))
        return 0 if len(words) > 1 else 2
    asked = f"{words[0]} {words[1]}" if group else words[0]
    known = group or list(dict.fromkeys(name.split()[0] for name in COMMANDS))
    _complain(f"{PROGRAM}: {unknown_name('command', asked, known)}")
    return 2


def condense(box: str) -> str:
    """Return tyro's framed complaint as one line: what is wrong, and the nearest match where it names one."""
    sections = re.split(r"[\u2500-]{8,}", re.sub("[\u2502\u256d\u256e\u2570\u256f]", " ", box))
    texts = [" ".join(section.split()) for section in sections]
    text = texts[1] if len(texts) > 1 else texts[0]
    text = text[:1].lower() + text[1:]
    if number := re.search(r"parsing (\S+):.*(literal for int\(\) with base 10|string to float): ('[^']*')", text):
        return f"{number[1]} is {number[3]}, must be a {'whole ' if 'int' in number[2] else ''}number"
    for section in texts[2:]:
        match = re.search(r"Perhaps you meant:?\s+(--?[\w-]+)", section)
        if match:
            return f"{text}; did you mean {match.group(1)}?"
    choice = re.search(r"invalid choice '([^']*)'.*?\((.*)\)", text)
    return text + did_you_mean(choice.group(1), re.findall(r"'([^']*)'", choice.group(2))) if choice else text


def _interruption(words: list[str]) -> str:
    name = _named(words) if words else None
    if name is not None and COMMANDS[name].resumable:
        return f"stopped; nothing finished is lost. To go on: {PROGRAM} {shlex.join(words)}"
    return "stopped"


def _complain(line: str) -> None:
    print(line, file=sys.stderr)


if __name__ == "__main__":
    raise SystemExit(main())
