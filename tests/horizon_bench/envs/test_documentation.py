"""The pages are what the code says, and their examples run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import gymnasium
import make_environment_pages as pages
import pytest

import horizon_bench.envs
import horizon_bench.testing
from horizon_bench.envs.infos import INFO


@pytest.mark.parametrize("puzzle", pages.PAGES)
def test_pages_are_up_to_date(puzzle):
    assert (pages.FOLDER / f"{puzzle}.md").read_text(encoding="utf8") == pages.page(puzzle), (
        "run `python docs/make_environment_pages.py`"
    )


@pytest.mark.parametrize("name", ["environments/index.md", "your_puzzle.md"])
def test_examples_of_the_pages_run(name):
    failures, tried = doctest.testfile(str(pages.FOLDER.parent / name), module_relative=False)
    assert tried > 0
    assert failures == 0


@pytest.mark.parametrize(
    "module",
    [
        f"{package.__name__}.{found.name}"
        for package in (horizon_bench.envs, horizon_bench.testing)
        for found in pkgutil.iter_modules(package.__path__)
    ],
)
def test_examples_of_docstrings_run(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_every_info_key_is_documented():
    env = gymnasium.make("horizon_bench/Sudoku-v0", level="T1", observation="array")
    assert set(env.reset(seed=0)[1]) == set(INFO)
