"""Damaged results: the command line says file, place and way out in one line, keeps what is good, and goes on after."""

from __future__ import annotations

import contextlib
import itertools
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from curricula.banks import DATA
from reports.records import TimingRecord, read
from studies.cli import main
from studies.commands.report import damages

CELL = "study-sudoku-atomic-t-expert"
WORDS = ["study", "run", CELL, "--preset", "smoke", "--seeds", "1", "--workers", "0", "--no-report"]
SIZES = ["--sizes", "untrained_puzzles=1", "attempts=2", "stored_puzzles=1"]

Damage = Callable[[pathlib.Path], None]


def command(results: pathlib.Path) -> list[str]:
    return [*WORDS, *SIZES, "--results", str(results)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    results = tmp_path_factory.mktemp("made")
    assert main(command(results)) == 0
    return results


@pytest.fixture
def results(made: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    return pathlib.Path(shutil.copytree(made, tmp_path / "results"))


def run_of(results: pathlib.Path) -> pathlib.Path:
    return results / "single" / CELL / "0"


def emptied(path: pathlib.Path) -> None:
    path.write_bytes(b"")


def cut_off(path: pathlib.Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def halved(path: pathlib.Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + b"\n")


def rubbish_inside(path: pathlib.Path) -> None:
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(content[:middle] + bytes(range(256)) + content[middle + 3 :])


def zeroed(path: pathlib.Path) -> None:
    path.write_bytes(bytes(len(path.read_bytes())))


def a_folder(path: pathlib.Path) -> None:
    path.unlink()
    path.mkdir()


def another_encoding(path: pathlib.Path) -> None:
    path.write_bytes(path.read_bytes().decode("latin1").encode("utf-16"))


def a_huge_line(path: pathlib.Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b'{"kind":"' + b"x" * 100_000_000 + b'"}\n', *lines[2:]]))


def deeply_nested(path: pathlib.Path) -> None:
    path.write_bytes(b"[" * 200_000 + b"\n" + path.read_bytes())


def of_the_future(path: pathlib.Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"schema":2', b'"schema":9').replace(b'"schema": 2', b'"schema": 9'))


def one_digit_changed(path: pathlib.Path) -> None:
    content = path.read_bytes()
    place = content.rindex(b'"tokens":') + len(b'"tokens":')
    path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])


ANYWHERE = (emptied, halved, rubbish_inside, zeroed, a_folder, another_encoding, deeply_nested)
HARMLESS = {("timings.jsonl", emptied), ("cell.json", another_encoding), ("done.json", another_encoding)}
"""No times at all are nothing wrong, and a file that is one JSON value says its own encoding."""
CASES = [
    *[
        (name, damage)
        for name in ("records.jsonl", "timings.jsonl", "cell.json", "done.json")
        for damage in ANYWHERE
        if (name, damage) not in HARMLESS
    ],
    *[("episodes.parquet", damage) for damage in ANYWHERE],
    *[(name, of_the_future) for name in ("records.jsonl", "timings.jsonl", "cell.json")],
    ("records.jsonl", a_huge_line),
    ("records.jsonl", one_digit_changed),
    ("records.jsonl", cut_off),
]
NOTED_ONLY = {"timings.jsonl", "episodes.parquet"}
"""What a finished run is not looked into for."""


@pytest.mark.parametrize(("name", "damage"), CASES, ids=[f"{name}-{damage.__name__}" for name, damage in CASES])
def test_damage_is_one_line_that_names_the_file_and_the_way_out(
    results: pathlib.Path, capsys: pytest.CaptureFixture[str], name: str, damage: Damage
) -> None:
    path = run_of(results) / name
    damage(path)
    others = {each: each.read_bytes() for each in results.rglob("*") if each.is_file() and each != path}
    status = main(command(results))
    output, complaint = capsys.readouterr()
    assert "Traceback" not in output + complaint
    if status == 0:
        # Nobody needs the damaged file any more: the report names it.
        assert name in NOTED_ONLY
        complaint = "\n".join(damages(results))
    assert name in complaint
    assert len(complaint) < 1500
    for line in complaint.splitlines():
        assert ";" in line, "no way out"
    for each, content in others.items():
        if each.name != "lock":
            assert each.read_bytes() == content


@pytest.mark.parametrize("damage", [emptied, cut_off, halved, rubbish_inside, zeroed, a_folder, another_encoding])
@pytest.mark.parametrize("name", ["records.jsonl", "timings.jsonl", "episodes.parquet"])
def test_an_unfinished_run_goes_on_or_says_what_stands_in_its_way(
    made: pathlib.Path, results: pathlib.Path, capsys: pytest.CaptureFixture[str], name: str, damage: Damage
) -> None:
    run = run_of(results)
    (run / "done.json").unlink()
    damage(run / name)
    status = main(command(results))
    said = "".join(capsys.readouterr())
    assert "Traceback" not in said
    if status:
        assert str(run / name) in said
        assert ";" in said
        path = run / name
        path.replace(results / "moved away")
        assert main(command(results)) == 0
    assert read(run / "records.jsonl") == read(run_of(made) / "records.jsonl")
    assert len(read(run / "timings.jsonl")) == len(read(run_of(made) / "timings.jsonl"))


@contextlib.contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("size", [0, 100, 700, 2500, 6000])
def test_a_full_disk_stops_a_run_with_its_way_out_and_the_same_command_goes_on(
    made: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], size: int
) -> None:
    with files_no_larger_than(size):
        assert main(command(tmp_path)) == 1
    said = "".join(capsys.readouterr())
    assert "Traceback" not in said
    assert "File too large; free some space there and give the same command again" in said
    assert str(tmp_path) in said
    for path in tmp_path.rglob("*.jsonl"):
        read(path)  # nothing is left torn
    assert main(command(tmp_path)) == 0
    assert read(run_of(tmp_path) / "records.jsonl") == read(run_of(made) / "records.jsonl")
    names = [{path.relative_to(root).as_posix() for path in root.rglob("*")} for root in (made, tmp_path)]
    assert names[0] == names[1]


@pytest.fixture
def sealed(made: pathlib.Path, tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """Return a copy of the results in which nothing can be written."""
    folder = tmp_path / "sealed"
    folder.mkdir()
    mounted = os.geteuid() == 0
    if (
        mounted
        and subprocess.run(["mount", "-t", "tmpfs", "none", folder], capture_output=True, check=False).returncode
    ):
        pytest.skip("root may write anywhere, and no file system can be mounted here")
    try:
        shutil.copytree(made, folder, dirs_exist_ok=True)
        (run_of(folder) / "done.json").unlink()
        if mounted:
            subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        else:
            for path in [folder, *folder.rglob("*")]:
                path.chmod(0o500 if path.is_dir() else 0o400)
        yield folder
    finally:
        if mounted:
            subprocess.run(["umount", folder], check=True)
        else:
            for path in [folder, *folder.rglob("*")]:
                path.chmod(0o700)


def test_a_folder_that_may_not_be_written_is_named(sealed: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (command(sealed), ["results", "migrate", str(sealed)], ["report", str(sealed)]):
        status = main(words)
        said = "".join(capsys.readouterr())
        assert "Traceback" not in said
        assert status == 1
        assert str(sealed) in said
        assert "allow it for your user, or choose another folder" in said


def test_a_clock_that_jumps_changes_no_record_no_order_and_makes_no_time_negative(
    made: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jumps = itertools.cycle([4e9, -5.0, 1e9, 0.0])
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: next(jumps))
        patch.setattr(time, "time_ns", lambda: int(next(jumps) * 1e9))
        assert main(command(tmp_path)) == 0
    run, whole = run_of(tmp_path), run_of(made)
    assert (run / "records.jsonl").read_bytes() == (whole / "records.jsonl").read_bytes()
    for row in read(run / "timings.jsonl"):
        assert isinstance(row, TimingRecord)
        assert min(row.seconds, row.total_seconds, row.rollout_seconds, row.decisions_per_second) >= 0
    for each in (run / "done.json", run / "records.jsonl"):
        os.utime(each, (4e9, 4e9))
    os.utime(run / "cell.json", (0, 0))
    (run / "done.json").unlink()
    assert main(command(tmp_path)) == 0
    assert (run / "records.jsonl").read_bytes() == (whole / "records.jsonl").read_bytes()


WALL_CLOCKS = re.compile(r"\b(time\.time(_ns)?|datetime\.(utc)?now|date\.today)\(")
TOLD_THE_TIME = {"horizon_bench/policies/endpoint/answers.py"}
"""Where a moment counts and no span does: a server says until when to wait."""


def test_no_span_is_measured_by_a_clock_that_can_be_set() -> None:
    root = pathlib.Path(__file__).parents[2]
    packages = ("puzzles", "solvers", "curricula", "horizon_bench", "reports", "studies")
    sources = [path for package in packages for path in (root / package).rglob("*.py")]
    using = {path.relative_to(root).as_posix() for path in sources if WALL_CLOCKS.search(path.read_text("utf8"))}
    assert using == TOLD_THE_TIME


@pytest.mark.parametrize(
    "damage", [emptied, cut_off, rubbish_inside, zeroed, another_encoding, deeply_nested, a_folder]
)
@pytest.mark.parametrize(
    "words", [["bank", "verify"], ["bank", "list"], ["bank", "import"], ["eval", "random", "--bank"]]
)
def test_a_damaged_bank_is_named(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], words: list[str], damage: Damage
) -> None:
    bank = tmp_path / "T1.tsv"
    shutil.copy(DATA / "T1.tsv", bank)
    bank.write_text("\n".join(bank.read_text(encoding="utf8").split("\n")[:9]).replace("rows: 940", "rows: 4") + "\n")
    damage(bank)
    if words[1] == "import" and damage in (emptied, cut_off):
        return  # a list may be empty, and says nothing of its keys
    status = main([*words, str(tmp_path if words[1] == "list" else bank)])
    said = "".join(capsys.readouterr())
    assert "Traceback" not in said
    assert status == 1
    assert "T1.tsv" in said or "line " in said
    assert len(said) < 3000


@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="the system has no device that is always full")
def test_output_that_cannot_be_written_is_one_line(tmp_path: pathlib.Path) -> None:
    words = [sys.executable, "-m", "studies.cli", "results", "migrate", str(tmp_path)]
    with pathlib.Path("/dev/full").open("wb") as full:
        ended = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1
    assert "No space left on device" in ended.stderr
