from __future__ import annotations

from collections.abc import Callable

import pytest

from studies.cli import main

Answer = tuple[int, list[list[str]], list[str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Run the command line; returns exit status, rows and error lines."""

    def run(*words: object) -> Answer:
        status = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return status, [line.split("\t") for line in out.splitlines()], err.splitlines()

    return run
