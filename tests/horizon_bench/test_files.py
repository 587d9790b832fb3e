from __future__ import annotations

import errno
import os
import pathlib

import pytest

from horizon_bench import files
from horizon_bench.files import DROPPED, drop_folder, in_words, naming, put_in_place, sweep, way_out, write_whole


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_whole(tmp_path / "a.json", "old")
    assert path.read_text() == "old"

    def fail(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left") as caught:
        write_whole(path, "new")
    assert caught.value.filename == str(path)
    assert path.read_text() == "old"


def test_a_folder_takes_the_place_of_another(tmp_path: pathlib.Path) -> None:
    for name, content in (("there", "old"), ("draft", "new")):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "deep" / name).write_text(content)
    put_in_place(tmp_path / "draft", tmp_path / "there")
    assert [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.rglob("*"))] == [
        "there",
        "there/deep",
        "there/deep/draft",
    ]


def test_a_folder_is_never_half_removed_under_its_name(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "update-1").mkdir()
    (tmp_path / "update-1" / "weights").touch()
    monkeypatch.setattr(files.shutil, "rmtree", lambda path, ignore_errors=False: None)
    drop_folder(tmp_path / "update-1")
    assert [path.name for path in tmp_path.iterdir()] == [f"{DROPPED}update-1"]
    monkeypatch.undo()
    (tmp_path / ".draft-2").mkdir()
    (tmp_path / "kept").touch()
    (tmp_path / ".draft-file").touch()
    (tmp_path / "done.json.part").touch()
    sweep(tmp_path, ".draft-")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    drop_folder(tmp_path / "absent")
    sweep(tmp_path / "absent")


@pytest.mark.parametrize("message", ["I/O error: No space left on device (os error 28)", "writing: File too large"])
def test_a_librarys_own_words_for_a_full_disk_become_the_systems(tmp_path: pathlib.Path, message: str) -> None:
    with pytest.raises(OSError, match=r"No space left|File too large") as caught, naming(tmp_path / "model"):
        raise RuntimeError(message)
    assert caught.value.filename == str(tmp_path / "model")
    assert "free some space" in way_out(caught.value)


def test_other_errors_pass_as_they_are(tmp_path: pathlib.Path) -> None:
    with pytest.raises(KeyError), naming(tmp_path):
        raise KeyError("No such key")
    named = FileNotFoundError(errno.ENOENT, "No such file", "other")
    with pytest.raises(FileNotFoundError) as caught, naming(tmp_path):
        raise named
    assert caught.value is named
    assert way_out(named) == ""
    assert in_words(named) == "other: No such file"
    assert in_words(OSError("no number at all")) == "no number at all"
    assert in_words(ValueError("two\nlines")) == "two lines"
    assert in_words(AssertionError()) == "AssertionError"
