"""Runs that are killed at random moments, on full disks, side by side, and with workers that die: `tox -e faults`.

Moments come from a seed, which is printed with what every kill hit; HORIZON_BENCH_FAULTS_SEED sets it, and
HORIZON_BENCH_FAULTS_KILLS the number of kills.
"""

from __future__ import annotations

import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from reports.records import read
from studies.cell import finished, run_job
from studies.factors import parse_name
from studies.pool import Report
from studies.presets import find_preset, resized
from studies.runner import CellJob, run_study
from tests.studies.broken_runs import (
    CELL,
    MIRA_CELL,
    SIZES,
    STAGES,
    Ended,
    Fault,
    Runner,
    differences,
    left_behind,
    words_of,
)

KILLS = int(os.environ.get("HORIZON_BENCH_FAULTS_KILLS", "50"))
SEED = int(os.environ.get("HORIZON_BENCH_FAULTS_SEED", "0")) or secrets.randbelow(2**31)
DEPTHS = {"sft": 5000, "rollout": 3000, "update": 1500, "append": 20, "checkpoint": 2000, "evaluation": 4000}
"""Functions called in a stage, at most; kills within it come after fewer."""


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(tmp_path_factory.mktemp("runs"))


class Whole:
    """A run that nobody disturbed, made twice: the second one tells how long it takes."""

    def __init__(self, runner: Runner, cell: str, *, report: bool = False) -> None:
        """Make the runs and check that they are equal."""
        self.runner, self.cell, self.report = runner, cell, report
        ends = [self.make(f"whole-{cell}-{index}") for index in range(2)]
        self.left, again = (left_behind(runner.folder / f"whole-{cell}-{index}") for index in range(2))
        assert differences(self.left, again) == []
        self.ended = ends[1]

    def make(self, name: str, fault: Fault | None = None, after: float | None = None) -> Ended:
        """Run to the end or to the kill."""
        words = words_of(self.runner.folder / name, self.cell, report=self.report)
        ended = self.runner.run(words, fault, after=after)
        assert fault is not None or after is not None or ended.status == 0, ended.output
        return ended

    def killed(self, name: str, fault: Fault | None = None, after: float | None = None) -> tuple[Ended, list[str]]:
        """Kill a run, resume it, and return how it was killed and what differs from the unbroken one."""
        ended = self.make(name, fault, after)
        self.make(name)
        found = differences(left_behind(self.runner.folder / name), self.left)
        shutil.rmtree(self.runner.folder / name)
        return ended, found


@pytest.fixture(scope="module")
def whole(runner: Runner) -> Whole:
    return Whole(runner, CELL)


def random_kills(whole: Whole, count: int, seed: int) -> Counter[str]:
    """Kill runs at moments spread evenly over a run's time; returns how many kills hit what.

    A kill that came too late for its run does not count.
    """
    rng = np.random.default_rng(seed)
    hit: Counter[str] = Counter()
    print(f"\n{count} kills of {whole.cell}, seed {seed}, a run takes {whole.ended.seconds:.1f} s")
    tries = 0
    while sum(hit.values()) < count:
        moment = rng.random() * whole.ended.seconds
        ended, found = whole.killed(f"random-{tries}", after=moment)
        tries += 1
        assert found == [], f"kill {tries} after {moment:.3f} s, at {ended.stage}"
        hit[ended.stage] += ended.status == -signal.SIGKILL
        if tries % 10 == 0:
            print(f"{tries} runs, {sum(hit.values())} killed in time: {dict(hit)}", flush=True)
    print(f"all {count} ended as the unbroken run; hit: {dict(hit)}", flush=True)
    return hit


def test_a_run_killed_at_random_moments_leaves_what_an_unbroken_one_leaves(whole: Whole) -> None:
    assert sum(random_kills(whole, KILLS, SEED).values()) == KILLS


def test_a_run_killed_at_every_stage_leaves_what_an_unbroken_one_leaves(whole: Whole) -> None:
    rng = np.random.default_rng(SEED + 1)
    for stage, depth in DEPTHS.items():
        for entry in range(1 if stage == "sft" else 2):
            fault = Fault(stage=stage, entry=entry, calls=int(rng.integers(depth)))
            ended, found = whole.killed(f"{stage}-{entry}", fault)
            print(f"{fault}: {ended.status} at {ended.stage}", flush=True)
            assert (ended.status, found) == (-signal.SIGKILL, [])


def test_a_run_killed_in_the_middle_of_a_record_leaves_what_an_unbroken_one_leaves(whole: Whole) -> None:
    for write in np.random.default_rng(SEED + 2).choice(whole.ended.writes, 5, replace=False):
        ended, found = whole.killed(f"torn-{write}", Fault(write=int(write)))
        assert (ended.status, ended.stage, found) == (-signal.SIGKILL, "append", [])


def test_a_run_killed_before_any_operation_on_its_files_leaves_what_an_unbroken_one_leaves(whole: Whole) -> None:
    every = os.environ.get("HORIZON_BENCH_FAULTS_EVERY_OPERATION")
    count = whole.ended.operations if every else 12
    places = np.random.default_rng(SEED + 3).choice(whole.ended.operations, count, replace=False)
    for place in sorted(places):
        ended, found = whole.killed(f"operation-{place}", Fault(operation=int(place)))
        assert (ended.status, found) == (-signal.SIGKILL, []), f"operation {place}, at {ended.stage}"


def test_a_run_killed_again_and_again_gets_there(runner: Runner, whole: Whole) -> None:
    rng = np.random.default_rng(SEED + 4)
    words, kills, status = words_of(runner.folder / "chain", CELL), 0, -signal.SIGKILL
    while status == -signal.SIGKILL and kills < 30:
        status = runner.run(words, after=float(rng.uniform(0.2, 0.7)) * whole.ended.seconds).status
        kills += status == -signal.SIGKILL
    assert status == 0 or runner.run(words).status == 0
    print(f"\nkilled {kills} times on its way")
    assert differences(left_behind(runner.folder / "chain"), whole.left) == []


def test_phases_with_critics_and_a_replay_buffer_survive_kills(runner: Runner) -> None:
    random_kills(Whole(runner, MIRA_CELL), max(1, KILLS // 5), SEED + 5)


def test_a_report_killed_in_the_making_is_made_again(runner: Runner) -> None:
    drawn = Whole(runner, "study-sudoku-atomic-t-expert", report=True)
    rng = np.random.default_rng(SEED + 6)
    for index in range(3):
        fault = Fault(stage="report", calls=int(rng.integers(100_000)))
        ended, found = drawn.killed(f"report-{index}", fault)
        assert (ended.status, ended.stage, found) == (-signal.SIGKILL, "report", [])


@pytest.fixture
def small_disk(tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """Return a disk of a size that a test may change."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=40k", "none", str(tmp_path)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small disk, where it may at all")
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_disk_that_fills_up_stops_a_run_which_goes_on_once_there_is_room(
    runner: Runner, whole: Whole, small_disk: pathlib.Path
) -> None:
    stops: Counter[str] = Counter()
    words = words_of(small_disk / "results", CELL)
    for size in range(48, 2000, 24):
        ended = runner.run(words)
        if ended.status == 0:
            break
        assert "Traceback" not in ended.output
        assert "No space left on device; free some space there" in ended.output, ended.output
        stops[ended.output.split("failed: ")[-1].split(": No space")[0].rpartition("/")[2]] += 1
        subprocess.run(["mount", "-o", f"remount,size={size}k", str(small_disk)], check=True)
    print(f"\nfull at: {dict(stops)}")
    assert sum(stops.values()) > 3
    assert differences(left_behind(small_disk / "results"), whole.left) == []


DAMAGES = {
    "empty": lambda content: b"",
    "cut off": lambda content: content[: len(content) // 2],
    "rubbish inside": lambda content: content[:40] + bytes(range(256)) + content[43:],
    "zeros": lambda content: bytes(len(content)),
}


def test_every_damaged_file_of_a_checkpoint_is_named_and_an_earlier_one_goes_on(runner: Runner, whole: Whole) -> None:
    whole.make("halfway", Fault(stage="checkpoint", entry=1))
    halfway, damaged = runner.folder / "halfway", runner.folder / "damaged"
    words = words_of(damaged, CELL)
    (checkpoint,) = halfway.rglob("update-*")
    for path in sorted(checkpoint.iterdir()):
        for name, damage in DAMAGES.items():
            shutil.copytree(halfway, damaged)
            there = damaged / path.relative_to(halfway)
            there.write_bytes(damage(path.read_bytes()))
            ended = runner.run(words)
            assert "Traceback" not in ended.output, (path.name, name)
            if ended.status:
                assert "delete that folder to resume from an earlier one" in ended.output, (
                    path.name,
                    name,
                    ended.output,
                )
                shutil.rmtree(there.parent)
                assert runner.run(words).status == 0
            assert differences(left_behind(damaged), whole.left) == [], (path.name, name)
            shutil.rmtree(damaged)


def test_of_two_runs_on_one_folder_the_second_is_refused(runner: Runner, whole: Whole) -> None:
    words = words_of(runner.folder / "shared", CELL)
    process, _marks, _ = runner.start(words)
    while not (runner.folder / "shared" / "single" / CELL / "lock").exists():
        time.sleep(0.01)
    second = runner.run(words)
    assert second.status == 1
    assert f"in use by process {process.pid}; wait until it has finished" in second.output
    process.join()
    assert process.exitcode == 0
    assert differences(left_behind(runner.folder / "shared"), whole.left) == []


CELLS = [parse_name(f"study-sudoku-{interface}-t-expert") for interface in ("atomic", "macro", "fixed2")]
PRESET = resized(find_preset("smoke"), [*SIZES, "untrained_puzzles=2"])


def die_once(job: Any, report: Report) -> str:
    """Do a job; the macro's worker dies half way, the first time."""
    told = pathlib.Path(job.results) / "died"

    def deadly(share: float, note: str) -> None:
        if job.cell.interface == "macro" and not told.exists():
            told.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        report(share, note)

    return run_job(job, deadly)


@pytest.mark.parametrize("address", ["", "local"])
def test_a_worker_that_dies_costs_its_run_only_and_the_next_command_does_it(
    tmp_path: pathlib.Path, address: str
) -> None:
    if address:
        pytest.importorskip("ray")
    ends = [run_study("three", CELLS, [0], PRESET, tmp_path, die_once, 2, finished, ray=address) for _ in range(2)]
    assert [[failure.key for failure in end] for end in ends] == [["study-sudoku-macro-t-expert/0"], []]
    assert "died" in ends[0][0].error or "killed" in ends[0][0].error
    for cell in CELLS:
        alone = CellJob(str(tmp_path / "alone"), "three", cell, 0, PRESET)
        run_job(alone, lambda share, note: None)
        written = [tmp_path / place / "three" / cell.name / "0" / "records.jsonl" for place in (".", "alone")]
        assert read(written[0]) == read(written[1])


def test_every_stage_was_meant() -> None:
    assert {*STAGES} == {*DEPTHS, "elsewhere", "report"}
