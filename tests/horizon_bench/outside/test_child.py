from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.outside import Simulator
from horizon_bench.outside.child import ChildSimulator

SERVER = """
from functools import partial
from corridor import CorridorSimulator
from horizon_bench.outside.child import serve
serve(CorridorSimulator)
"""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the child's module and the corridor importable in children."""
    (tmp_path / "corridor_server.py").write_text(SERVER)
    places = [str(tmp_path), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, places)))


@pytest.mark.parametrize("noticed_late", [False, True])
@pytest.mark.usefixtures("path")
def test_a_child_that_is_killed_is_one_failed_episode_and_leaves_no_process(noticed_late: bool) -> None:
    from corridor import Corridor

    class Apart(Corridor):
        def start_simulator(self) -> Simulator:
            return ChildSimulator("corridor_server")

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


@pytest.mark.usefixtures("path")
def test_an_exception_in_the_child_is_told_and_leaves_it_running() -> None:
    child = ChildSimulator("corridor_server")
    child.reset("hall 2")
    with pytest.raises(RuntimeError, match="OSError: broken pipe"):
        child.step("smash mirror")
    assert child.reset("hall 2").text == "Room 1 of 2."
    child.close()
    with pytest.raises(RuntimeError, match="closed"):
        child.step("go east")


@pytest.mark.usefixtures("path")
def test_a_child_that_hangs_is_ended_and_counts_as_down() -> None:
    child = ChildSimulator("corridor_server", patience=30.0)
    child.reset("hall 2")
    child._patience = 0.01
    os.kill(child.process, signal.SIGSTOP)
    with pytest.raises(RuntimeError, match=r"gave no answer in 0\.01 s"):
        child.step("take brass key")
    child.close()
    assert not _runs(child.process)


def test_what_a_world_prints_does_not_reach_its_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    talking = "import os\nos.system('echo loud')\nprint('louder')\nreturn CorridorSimulator()"
    body = talking.replace("\n", "\n    ")
    (tmp_path / "talking_server.py").write_text(
        f"from corridor import CorridorSimulator\nfrom horizon_bench.outside.child import serve\n"
        f"def start():\n    {body}\nserve(start)\n"
    )
    places = [str(tmp_path), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, places)))
    child = ChildSimulator("talking_server")
    assert child.reset("hall 2").text == "Room 1 of 2."
    child.close()
    child.close()


@pytest.mark.usefixtures("path")
def test_a_child_ends_with_its_parent_however_that_ends() -> None:
    script = (
        "import os, time\nfrom horizon_bench.outside.child import ChildSimulator\n"
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
