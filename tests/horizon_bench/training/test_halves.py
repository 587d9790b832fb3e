"""The halves of an action: what the environment asks for is what the traces teach."""

from __future__ import annotations

import pytest

from curricula import Instance
from horizon_bench.envs.puzzle_env import PuzzleEnv
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.configs import SftConfig
from horizon_bench.training.halves import HALF_MODES, half_target, half_tokens
from horizon_bench.training.sft import train_sft
from puzzles.sudoku import Sudoku


@pytest.mark.parametrize(("puzzle", "level"), [("sudoku", "T2"), ("sudoku", "L1"), ("rush-hour", "R1")])
def test_both_halves_in_turn_carry_out_the_move(puzzle: str, level: str) -> None:
    env = PuzzleEnv(puzzle=puzzle, level=level, interface="split", observation="compact")
    observation, _ = env.reset(seed=3)
    for move in env.oracle.plan(env.state) or ():
        for mode in HALF_MODES:
            asks, *reply = half_target(env.puzzle, move, mode)
            assert observation.split()[-1] == asks
            observation, _, terminated, _, info = env.step(" ".join(reply))
            assert info["legal"]
    assert terminated
    assert info["goal"]


def test_a_puzzle_without_two_halves_is_refused() -> None:
    class Whole(Sudoku):
        def compact_action(self, move: object) -> tuple[str, ...]:
            return ("all",)

    puzzle = Whole(4)
    with pytest.raises(ValueError, match="has no two halves"):
        half_tokens(puzzle, puzzle.all_moves()[0])


def test_halves_are_learned_beside_other_modes(instances: tuple[Instance, ...]) -> None:
    policy = TinyPolicy.create(Sudoku(4), 16, hidden_size=16, layers=2, seed=1)
    modes = ("atomic", *HALF_MODES)
    config = SftConfig(
        steps=200, boards=32, modes=modes, learning_rate=1e-2, warmup_steps=10, accuracy_states=100, seed=1
    )
    accuracy = train_sft(policy, Sudoku(4), instances, config).accuracy
    assert {"atomic_first_action", "what_first_action", "where_first_action"} <= set(accuracy)
    assert accuracy["what_first_action"] > 0.5
    assert accuracy["where_first_action"] > 1.5 / 16
