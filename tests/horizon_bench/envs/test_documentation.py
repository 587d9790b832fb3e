"""The examples of docstrings run, and every key of an info is documented."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import gymnasium
import pytest

import horizon_bench.envs
import horizon_bench.testing
from horizon_bench.envs.infos import INFO


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
