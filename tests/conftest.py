"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable

import hypothesis
import pytest

# How long an example takes says nothing on a busy machine.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")
# Few examples, always the same, and the first failure is enough: for mutation testing, which runs each test many times.
hypothesis.settings.register_profile(
    "mutation",
    derandomize=True,
    max_examples=20,
    deadline=None,
    phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
    suppress_health_check=list(hypothesis.HealthCheck),
)

ROOT = pathlib.Path(__file__).resolve().parent.parent


def shared_folder() -> pathlib.Path | None:
    """Return the folder of checked tables beside the checkout, or None where there is none."""
    folder = pathlib.Path(os.environ.get("HORIZON_BENCH_SHARED", ROOT.parent / "shared")) / "data"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def shared_data() -> pathlib.Path:
    """Return the folder of checked tables; skips the test where the tables are not at hand."""
    folder = shared_folder()
    if folder is None:
        pytest.skip("the shared tables are not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def shared_table(shared_data: pathlib.Path) -> Callable[[str], list[dict[str, str]]]:
    """Return what reads a checked table by its file name: its rows by column, `#` lines left out."""

    def read(name: str) -> list[dict[str, str]]:
        lines = (shared_data / name).read_text(encoding="utf8").split("\n")
        head, *rows = [line.split("\t") for line in lines if line and line[0] != "#"]
        return [dict(zip(head, row, strict=False)) for row in rows]

    return read
