"""Every shell command in the documentation is one that its program takes; the quick ones run."""

from __future__ import annotations

import configparser
import importlib
import importlib.util
import itertools
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import tyro
from written_pages import PAGES, ROOT, blocks, commands

from studies import cli
from studies.matrix import SCALES, STUDIES, only, select

QUICK = ("study list", "bank list", "solve sudoku", "solve rush-hour", "solve shop", "grade")
"""Commands of `horizon-bench` that are run as they stand, in a folder with the files that pages name."""
TO_WARN = {("docs/studies.md", "horizon-bench study run study-sudoku-marco-t3-outcome")}
"""Shown for the complaint that they give."""
OTHER_PROGRAMS = {".", "accelerate", "alfworld-download", "apt-get", "cd", "git", "mkdocs", "pip", "python"} | {
    *("python3", "ray", "tensorboard", "torchrun", "tox", "vllm"),
}
"""Programs of others: what pages ask of pip, python and tox is looked up, the rest is only known by name."""
PUZZLES = {
    "puzzles.txt": "12..3.....4....2\n",
    "boards.txt": "AA...OP..Q.OPXXQ.OP..Q..B...CCB.RRR.\n",
    "lists.txt": "nordal insulated rug <=15 red\n",
}

ALL = [(page, line, text) for page in PAGES for line, text in commands(page)]


def calls(text: str) -> list[list[str]]:
    """Return the programs that a line calls, each with its words, without settings of the environment before them."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    words = list(lexer)
    found = [
        list(part) for apart, part in itertools.groupby(words, lambda word: set(word) <= set("|&;<>")) if not apart
    ]
    kept = [list(itertools.dropwhile(lambda word: re.fullmatch(r"[A-Z_]+=.*", word), call)) for call in found]
    return [call for call in kept if call]


def our_calls() -> list[tuple[str, int, tuple[str, ...]]]:
    found = [
        (page, line, tuple(call[1:])) for page, line, text in ALL for call in calls(text) if call[0] == "horizon-bench"
    ]
    return list({call: (page, line, call) for page, line, call in reversed(found)}.values())


OURS = our_calls()


def name_of(words: tuple[str, ...]) -> str | None:
    return next((name for name in (" ".join(words[:2]), words[0]) if name in cli.COMMANDS), None)


@pytest.mark.parametrize(("page", "line", "words"), OURS, ids=lambda value: value if isinstance(value, str) else None)
def test_the_command_line_reads_it(page: str, line: int, words: tuple[str, ...]) -> None:
    if words in (("--help",), ("COMMAND", "--help")):
        return
    said = tuple(word for word in words if word != "\N{HORIZONTAL ELLIPSIS}")
    name = name_of(said)
    rest = said[len(name.split()) :] if name else said[1:]
    if not rest and (name or any(known.startswith(f"{words[0]} ") for known in cli.COMMANDS)):
        return  # named in passing, without its arguments
    assert name, f"{page}:{line}: no command of horizon-bench begins with {' '.join(words[:2])}"
    if rest == ("--help",):
        return
    command = cli.COMMANDS[name]
    asked = tyro.cli(getattr(importlib.import_module(command.module), command.name), args=rest)
    if name == "study run" and (page, f"horizon-bench {' '.join(words)}") not in TO_WARN:
        assert cells_of(asked), f"{page}:{line}: no cells"


def cells_of(asked: object) -> object:
    """Return the cells that a call of `study run` chooses; those of a reader's own puzzle are taken on trust."""
    name, family = vars(asked)["name"], vars(asked)["family"]
    if vars(asked)["puzzle"] and name in STUDIES:
        return True
    scale = SCALES[family or "t"]
    cells = select(name, scale)[1]
    return only(cells, vars(asked)["only"], vars(asked)["without"])


@pytest.mark.parametrize("words", [words for _, _, words in OURS if name_of(words) in QUICK], ids=" ".join)
def test_a_quick_one_runs(words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in PUZZLES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    named = [word for word in words[2:] if word.endswith(".txt")]
    if named and not all((tmp_path / word).exists() for word in named):
        pytest.skip("reads a file that the page makes up")
    assert cli.main(words) == 0


def test_the_complaint_is_the_one_that_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    for page, text in TO_WARN:
        assert cli.main(shlex.split(text)[1:]) == 1
        assert capsys.readouterr().err.strip() in " ".join(block.code for block in blocks(page))


@pytest.mark.parametrize(("page", "line", "text"), ALL, ids=lambda value: value if isinstance(value, str) else None)
def test_what_is_asked_of_other_programs_is_there(page: str, line: int, text: str) -> None:
    for program, *words in calls(text):
        if program == "horizon-bench":
            continue
        where = f"{page}:{line}: {text}"
        assert program in OTHER_PROGRAMS, f"{where}: no program that pages may name"
        if program in ("pip", "python", "python3", "tox"):
            assert not problem(program, words, page), f"{where}: {problem(program, words, page)}"


def problem(program: str, words: list[str], page: str) -> str:
    """Return what is wrong with a call of pip, python or tox, or nothing."""
    if program == "tox" or words[:2] == ["-m", "tox"]:
        return missing_environment(words)
    if program == "pip" or words[:2] == ["-m", "pip"]:
        return missing_extra(words)
    if words[:1] == ["-m"]:
        return missing_module(words[1], words[2:])
    script = next((word for word in words if word.endswith(".py")), None)
    if script is None:
        return ""
    saved = {block.reason for block in blocks(page) if block.mark == "file"}
    path = ROOT / script
    if not path.is_file() and script not in saved:
        return f"there is no {script}"
    return missing_option(path, words) if path.is_file() else ""


def missing_environment(words: list[str]) -> str:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "tox.ini", encoding="utf8")
    sections = [name.removeprefix("testenv:") for name in parser.sections()]
    known = {"tests"} | {name for section in sections for name in expanded(section)}
    asked = [name for word in words[words.index("-e") + 1 : words.index("-e") + 2] for name in word.split(",")]
    for name in asked:
        study = name.removeprefix("study-")
        if name not in known and study not in STUDIES and not select(name, SCALES["t"])[1]:
            return f"there is no tox environment {name}"
    return ""


def expanded(section: str) -> list[str]:
    """Return the names of a section such as `compat-{oldest,py312}`."""
    before, brace, rest = section.partition("{")
    choices, _, after = rest.partition("}")
    return [f"{before}{choice}{after}" for choice in choices.split(",")] if brace else [section]


def missing_extra(words: list[str]) -> str:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]["optional-dependencies"]
    for word in words:
        for name in re.findall(r"^(?:horizon-bench|\.)\[([\w,]+)\]$", word):
            unknown = set(name.split(",")) - set(extras)
            if unknown:
                return f"there is no extra {', '.join(unknown)}"
    return ""


def missing_module(name: str, words: list[str]) -> str:
    if name in ("venv", "pytest"):
        return ""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return f"there is no module {name}"
    return missing_option(Path(spec.origin), words)


def missing_option(path: Path, words: list[str]) -> str:
    """Return an option that a script's source does not name, neither as `--option` nor as a field."""
    source = path.read_text(encoding="utf8")
    for word in words:
        if word.startswith("--"):
            option = word.split("=")[0]
            if option not in source and not re.search(rf"\b{option[2:].replace('-', '_')}\b", source):
                return f"{path.name} has no option {option}"
    return ""
