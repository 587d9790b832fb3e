from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

from studies.locks import locked

HOLD = """
import pathlib, sys
from studies.locks import locked
with locked(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_is_refused_with_the_first_ones_id_and_served_after_its_death(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "run"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(ValueError, match=f"in use by process {holder.pid}"), locked(folder):
        pass
    holder.kill()
    holder.communicate()
    with locked(folder, wait=True):
        assert (folder / "lock").read_text() == str(os.getpid())


def test_a_lock_ends_with_its_block(tmp_path: pathlib.Path) -> None:
    for _ in range(2):
        with locked(tmp_path), pytest.raises(ValueError, match="in use"), locked(tmp_path):
            pass
