from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from pathlib import Path

import pytest
from corridor import Corridor

from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.outside import Simulator
from horizon_bench.outside.child import ChildSimulator

SERVER = """
from corridor import CorridorSimulator
from horizon_bench.outside.child import serve
{start}
serve(start)
"""
Start = Callable[..., ChildSimulator]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Return what starts a child that plays the corridor; its body may do something first."""
    monkeypatch.syspath_prepend(tmp_path)

    def child(body: str = "return CorridorSimulator()") -> ChildSimulator:
        written = SERVER.format(start=f"def start():\n{textwrap.indent(body, '    ')}")
        (tmp_path / "corridor_server.py").write_text(written)
        return ChildSimulator("corridor_server")

    return child


@pytest.mark.parametrize("noticed_late", [False, True])
def test_a_child_that_is_killed_is_one_failed_episode_and_leaves_no_process(start: Start, noticed_late: bool) -> None:
    class Apart(Corridor):
        def start_simulator(self) -> Simulator:
            return start()

    env = PuzzleEnv(puzzle=Apart, instance="hall 3")
    env.reset(seed=0)
    env.step("take brass key")
    stage = env.puzzle.stage  # type: ignore[attr-defined]
    child = stage._live[0][1].process
    os.kill(child, signal.SIGKILL)
    if noticed_late:
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    observation, _, terminated, _, info = env.step("go east")
    assert (terminated, info["end_reason"]) == (True, "crashed")
    assert "ended with status -9" in observation
    env.reset()
    for command in env.oracle.plan(env.state):
        info = env.step(command)[4]
    assert info["end_reason"] == "solved"
    last = stage._live[0][1].process
    env.puzzle.close()  # type: ignore[attr-defined]
    assert not any(Path(f"/proc/{process}").exists() for process in (child, last))


def test_an_exception_in_the_child_is_told_and_leaves_it_running(start: Start) -> None:
    child = start()
    child.reset("hall 2")
    with pytest.raises(RuntimeError, match="OSError: broken pipe"):
        child.step("smash mirror")
    assert child.reset("hall 2").text == "Room 1 of 2."
    child.close()
    with pytest.raises(RuntimeError, match="closed"):
        child.step("go east")


def test_a_child_that_hangs_is_ended_and_counts_as_down(start: Start) -> None:
    child = start()
    child.reset("hall 2")
    child._patience = 0.01
    os.kill(child.process, signal.SIGSTOP)
    with pytest.raises(RuntimeError, match=r"gave no answer in 0\.01 s"):
        child.step("take brass key")
    child.close()
    assert not _runs(child.process)


NOISY = """
import os, sys
os.system("echo loud; cat; head -c 10")
print("louder", sys.stdin.read(), os.read(0, 10))
return CorridorSimulator()
"""
HUGE = """
class Huge(CorridorSimulator):
    def commands(self):
        return tuple(f"take thing {number} \\ud800\\n" for number in range(100_000))
return Huge()
"""


def test_a_world_that_prints_and_reads_disturbs_nothing(start: Start) -> None:
    child = start(NOISY)
    assert child.reset("hall 2").text == "Room 1 of 2."
    assert child.step("take brass key").subgoals == (True, False)
    child.close()
    child.close()


def test_an_answer_may_be_of_any_length(start: Start) -> None:
    child = start(HUGE)
    assert len(child.reset("hall 2").commands) == 100_000
    child.close()


def test_a_child_that_stops_in_the_middle_of_an_answer_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "halfway.py").write_text("import time\nprint('[', end='', flush=True)\ntime.sleep(1000)")
    child = ChildSimulator("halfway", patience=0.01)
    assert child._child.stdout is not None
    assert wait([child._child.stdout], 60.0)
    with pytest.raises(RuntimeError, match=r"gave no answer in 0\.01 s"):
        child.reset("hall 2")
    child.close()
    assert not _runs(child.process)


def test_an_interruption_is_left_to_the_parent(start: Start) -> None:
    child = start()
    child.reset("hall 2")
    os.kill(child.process, signal.SIGINT)
    assert child.step("take brass key").subgoals == (True, False)
    child.close()


def test_a_child_ends_with_its_parent_however_that_ends(start: Start) -> None:
    start().close()
    script = (
        f"import sys, time\nsys.path[:] = {sys.path}\n"
        "from horizon_bench.outside.child import ChildSimulator\n"
        "child = ChildSimulator('corridor_server')\nchild.reset('hall 2')\n"
        "print(child.process, flush=True)\ntime.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, encoding="utf8")
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    for _ in range(600):
        if not _runs(child):
            break
        time.sleep(0.1)
    assert not _runs(child)


def _runs(process: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
