"""The whole way once, in small, under whatever versions are installed: `tox -e compat-oldest`, `compat-newest`, ...

Chosen to meet every package at the places where its versions differ. Together with it run the tests of credit, of a
language model's SFT and of TRL's trainer; `tox -e compat-oldest -- tests` runs all.
"""

from __future__ import annotations

import importlib.metadata
import platform
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import horizon_bench
from curricula import load_bank
from horizon_bench.envs import INTERFACES
from horizon_bench.policies import ExpertPolicy
from horizon_bench.testing import check_puzzle
from solvers import rush_hour, sudoku_solve
from studies.cli import main

PACKAGES = [
    "gymnasium",
    "numpy",
    "numba",
    "scipy",
    "pyarrow",
    "matplotlib",
    "pillow",
    "jinja2",
    "rich",
    "tyro",
    "hypothesis",
    "bm25s",
    "torch",
    "transformers",
    "trl",
    "accelerate",
    "datasets",
    "safetensors",
]
BOARD = "..B.CC..B...AAB...DDD..E.....E.....E"
"""A Rush Hour board whose goal is 21 steps away."""


def test_versions_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    with capsys.disabled():
        print(f"\nPython {platform.python_version()}", *(f"{name} {version}" for name, version in versions.items()))
    assert importlib.metadata.version("horizon-bench") == horizon_bench.__version__


@pytest.mark.parametrize("level", ["T1", "L1", "R1", "S1"])
@pytest.mark.parametrize("interface", INTERFACES)
def test_an_expert_solves_every_puzzle_under_every_interface(level: str, interface: str) -> None:
    env: Any = gymnasium.make(horizon_bench.ready_id(level, interface)).unwrapped
    observation, info = env.reset(seed=1)
    over, generator = False, np.random.default_rng(0)
    while not over:
        reply = ExpertPolicy(2 if interface.startswith("macro") else 1).reply([observation], [env], [generator])[0]
        observation, _, terminated, truncated, info = env.step(reply.text)
        over = terminated or truncated
    assert info["end_reason"] == "solved"


@pytest.mark.parametrize("observation", ["text", "compact", "array"])
def test_the_checker_of_gymnasium_passes(observation: str) -> None:
    check_env(gymnasium.make("horizon_bench/Sudoku-v0", level="T1", observation=observation).unwrapped)


@pytest.mark.parametrize(("family", "level"), [("Sudoku", "T1"), ("RushHour", "R1")])
def test_batched_environments_step(family: str, level: str) -> None:
    vector = gymnasium.make_vec(f"horizon_bench/{family}-v0", num_envs=3, level=level, observation="array")
    _, infos = vector.reset(seed=3)
    actions = infos["action_mask"].argmax(axis=1)
    _, rewards, terminated, truncated, later = vector.step(actions)
    assert rewards.shape == terminated.shape == truncated.shape == (3,)
    assert not np.array_equal(later["action_mask"], infos["action_mask"])
    vector.close()


def test_solvers_find_what_is_known() -> None:
    assert rush_hour.distance(BOARD) == 21
    instance = load_bank("L7", split="test")[0]
    assert sudoku_solve.solve(instance.start) == instance.solution
    assert sudoku_solve.count_solutions(instance.start) == 1


def test_the_laws_of_a_puzzle_hold() -> None:
    check_puzzle("sudoku", starts=["12..3.....4....2"], max_examples=5)


def test_a_study_trains_and_draws_its_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["puzzles_per_update=4", "attempts_per_puzzle=2", "test_puzzles=2", "interval_puzzles=2", "attempts=2"]
    words = ["study", "run", "study-sudoku-macro-t3-subgoal", "--preset", "smoke", "--seeds", "1", "--updates", "2"]
    assert main([*words, "--workers", "0", "--results", str(tmp_path), "--sizes", *sizes]) == 0, capsys.readouterr().err
    assert main(["report", str(tmp_path)]) == 0, capsys.readouterr().err
    assert "<svg" in (tmp_path / "report.html").read_text(encoding="utf8")
