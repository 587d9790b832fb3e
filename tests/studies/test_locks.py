from __future__ import annotations

import errno
import fcntl
import os
import pathlib
import platform
import subprocess
import sys
import threading
import time

import pytest

from studies import locks
from studies.locks import LOCK_NAME, locked

HOLD = """
import pathlib, sys
from studies.locks import locked
with locked(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""
HERE = f"{os.getpid()} {platform.node()}"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "BEAT", 0.05)
    monkeypatch.setattr(locks, "SILENCE", 0.5)


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a machine on a shared disk that does not pass locks on, with signs of life ten times as quick."""
    monkeypatch.setattr(fcntl, "flock", lambda handle, operation: None)


def test_a_second_process_is_refused_with_the_first_ones_id_and_served_after_its_death(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "run"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(ValueError, match=f"in use by process {holder.pid};"), locked(folder):
        pass
    holder.kill()
    holder.communicate()
    assert (folder / LOCK_NAME).read_text() == f"{holder.pid} {platform.node()}"
    with locked(folder, wait=True):
        assert (folder / LOCK_NAME).read_text() == HERE
    assert (folder / LOCK_NAME).read_text() == ""


def test_a_lock_ends_with_its_block(tmp_path: pathlib.Path) -> None:
    for _ in range(2):
        with locked(tmp_path), pytest.raises(ValueError, match="in use"), locked(tmp_path):
            pass
    with pytest.raises(KeyError), locked(tmp_path):
        raise KeyError
    assert (tmp_path / LOCK_NAME).read_text() == ""


@pytest.mark.parametrize(
    "content",
    [f"1 {platform.node()}", HERE, "99999999", "\0\0\0", "not a number", "\udcff" * 400],
    ids=["process 1", "this process", "no process", "zeros", "words", "no text"],
)
def test_what_a_dead_process_wrote_holds_nothing_though_its_number_lives_again(
    tmp_path: pathlib.Path, content: str
) -> None:
    (tmp_path / LOCK_NAME).write_text(content, errors="surrogateescape")
    with locked(tmp_path):
        assert (tmp_path / LOCK_NAME).read_text() == HERE


def test_a_holder_that_died_on_another_machine_is_waited_for_once(
    tmp_path: pathlib.Path, impatient: None, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / LOCK_NAME).write_text("7 far-away")
    began = time.monotonic()
    with locked(tmp_path):
        assert time.monotonic() - began >= locks.SILENCE
    assert "held by process 7 on far-away" in caplog.text
    caplog.clear()
    with locked(tmp_path):
        assert caplog.text == ""


def test_a_holder_that_lives_on_another_machine_is_seen_where_the_disk_passes_no_locks_on(
    tmp_path: pathlib.Path, impatient: None, deaf: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    holding, over = threading.Event(), threading.Event()

    def hold() -> None:
        with locked(tmp_path):
            holding.set()
            over.wait(60)

    other = threading.Thread(target=hold)
    other.start()
    holding.wait(60)
    monkeypatch.setattr(platform, "node", lambda: "elsewhere")
    with pytest.raises(ValueError, match=f"in use by process {os.getpid()} on "), locked(tmp_path):
        pass
    waited: list[str] = []
    waiting = threading.Thread(target=lambda: waited.append(_text_once_held(tmp_path)))
    waiting.start()
    time.sleep(3 * locks.SILENCE)
    assert waited == []
    over.set()
    for thread in (other, waiting):
        thread.join(60)
    assert waited == [f"{os.getpid()} elsewhere"]


def _text_once_held(folder: pathlib.Path) -> str:
    with locked(folder, wait=True):
        return (folder / LOCK_NAME).read_text()


def test_a_disk_without_locks_is_named(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(handle: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(OSError, match="No locks available") as caught, locked(tmp_path):
        pass
    assert caught.value.filename == str(tmp_path / LOCK_NAME)


def test_a_folder_in_the_place_of_the_lock_is_named(tmp_path: pathlib.Path) -> None:
    (tmp_path / LOCK_NAME).mkdir()
    with pytest.raises(IsADirectoryError, match="lock"), locked(tmp_path):
        pass
