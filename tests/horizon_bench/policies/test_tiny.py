"""The policy `tiny` loads by name, for every puzzle, and torch stays out until it is asked for."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import numpy as np
import pytest

from curricula import load_bank
from curricula.levels import find_level
from horizon_bench.envs import Settings
from horizon_bench.policies import make_policy
from horizon_bench.policies.tiny import TinyPolicy, reply_room
from horizon_bench.rollout import rollout
from puzzles.sudoku import Sudoku


@pytest.mark.parametrize("level", ["T2", "M1", "L1", "R1"])
@pytest.mark.parametrize("interface", ["atomic", "macro", "macro-fixed-2"])
def test_an_untrained_model_plays_every_puzzle(level: str, interface: str) -> None:
    puzzle = find_level(level).make_puzzle()
    instances = load_bank(level, "test")[:2]
    policy = TinyPolicy.create(puzzle, len(puzzle.compact(puzzle.parse(instances[0].start))), hidden_size=32, layers=2)
    settings = Settings(interface=interface, observation="compact", max_decisions=3)
    for episode in rollout(policy, instances, settings, attempts=2):
        assert 1 <= episode.decisions <= 3
        assert all(len(turn.reply_ids) == len(turn.sampling_logprobs) > 0 for turn in episode.turns)


def test_a_saved_policy_loads_by_name(policy: TinyPolicy, observations: list[str], tmp_path: pathlib.Path) -> None:
    policy.save(tmp_path)
    loaded = make_policy("tiny", folder=tmp_path, temperature=policy.sampling.temperature)
    texts = [
        [reply.text for reply in one.reply(observations, (), np.random.default_rng(0).spawn(len(observations)))]
        for one in (policy, loaded)
    ]
    assert texts[0] == texts[1]


def test_an_empty_folder_is_named(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="no saved model"):
        make_policy("tiny", folder=tmp_path)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
@pytest.mark.parametrize("part", [0.0, 0.5])
def test_a_damaged_model_is_named(name: str, part: float, tmp_path: pathlib.Path) -> None:
    TinyPolicy.create(Sudoku(4), 16, hidden_size=32, layers=1).save(tmp_path)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: int(len(content) * part)])
    with pytest.raises(ValueError, match="is damaged"):
        make_policy("tiny", folder=tmp_path)


def test_equal_seeds_give_equal_weights() -> None:
    first, again, other = (TinyPolicy.create(Sudoku(4), 16, seed=seed).model.state_dict() for seed in (1, 1, 2))
    assert all((first[name] == again[name]).all() for name in first)
    assert any((first[name] != other[name]).any() for name in first)


def test_room_for_a_thought_and_four_actions() -> None:
    assert reply_room(Sudoku(4)) == 2 + 2 * 5 + 4 * 2 + 1


def test_policies_import_without_torch() -> None:
    modules = "horizon_bench.policies, horizon_bench.rollout, horizon_bench.training.configs"
    program = f"import {modules}, sys; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
