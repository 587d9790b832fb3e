"""What the README shows works as it stands there."""

from __future__ import annotations

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf8")


def test_the_first_example_carries_out_both_actions(capsys: pytest.CaptureFixture[str]) -> None:
    block = re.findall(r"```python\n(.*?)```", README, flags=re.S)[0]
    exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out == "('value(2, r1c3)', 'value(1, r2c6)') 19\n"


def test_every_file_that_the_readme_links_is_there() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
