"""The gallery is made by its command, and the example report loads nothing."""

from __future__ import annotations

import re
from pathlib import Path

import make_gallery
import pytest
from PIL import Image

REPORT = make_gallery.REPORT


def boards(path: Path) -> list[bytes]:
    """Return the pixels of each board of a moving picture."""
    found = []
    with Image.open(path) as picture:
        for index in range(getattr(picture, "n_frames", 1)):
            picture.seek(index)
            found.append(picture.convert("RGB").tobytes())
    return found


@pytest.mark.parametrize("name", make_gallery.PLAYED)
def test_an_episode_is_drawn_again_as_it_is(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = make_gallery.EPISODES / f"{name}.gif"
    monkeypatch.setattr(make_gallery, "EPISODES", tmp_path)
    assert boards(make_gallery.write_episode(name)) == boards(kept), "run `python docs/make_gallery.py`"
    assert kept.stat().st_size < 100_000


def test_the_example_report_is_one_small_file_that_loads_nothing() -> None:
    text = REPORT.read_text(encoding="utf8")
    assert len(text.encode()) <= make_gallery.LARGEST
    assert re.findall(r"""(?:src|href)=["'](?!#|data:)([^"']+)""", text) == []
    assert re.findall(r"@import|url\((?!['\"]?(?:#|data:))", text) == []


def test_the_pages_show_pictures_of_the_example_report() -> None:
    assert sorted(path.stem for path in make_gallery.FIGURES.glob("*.png")) == sorted(make_gallery.SHOWN)
