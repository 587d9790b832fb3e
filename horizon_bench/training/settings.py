"""Settings of the small model that were found by trying, for each board. Torch-free.

Figures are seconds of one core (4x4, real banks, seed 0):

* 4x4 without thoughts: SFT on T1-T3 takes 15 s and reaches 88 % right first actions (atomic 88, macro 88, fixed 84); 40
  updates on T3 take 21 s and lift T4 from 22 to 40 % (atomic), 22 to 52 % (macro), 22 to 44 % (own-box subgoals) under
  `on_error="semi"`.
* 4x4 with checked thoughts: SFT on T1-T3 takes 115 s and reaches 98, 96 and 97 % (atomic, macro, fixed), thoughts true
  in over 99 %. A slip of 0.01 a thought token voids 8 to 10 % of the turns, 0.02 some 15 %.
* 6x6 without thoughts: SFT on M1-M3 takes 72 s and reaches 91, 88 and 91 % right first actions (atomic, macro, fixed).
* 6x6 with checked thoughts: 400 s; 94, 87 and 93 %, thoughts true in over 99 %. After 1500 steps: 70, 63 and 76 %.
* Shop without thoughts: SFT on S1-S3 takes 16 s (350 steps) and reaches 91, 92 and 91 % right first actions (atomic,
  macro, fixed); of searches some 45 %. 12 updates of 192 episodes on S3 take 10 s and lift S1 from 40 to 42 %, S2 from
  34 to 44, S3 from 19 to 30, S4 from 16 to 26 (100 lists each, one attempt; `benchmarks/shop_trial.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from horizon_bench.training.configs import RolloutConfig, SftConfig, UpdateConfig
from horizon_bench.training.traces import TargetSettings


@dataclass(frozen=True)
class ModelSize:
    """Sizes of the small model, as `TinyPolicy.create` takes them."""

    hidden_size: int
    """Width."""
    layers: int
    """Number of blocks."""


class TinySettings(NamedTuple):
    """What it takes to train the small model on one board: SFT, then RL."""

    sft: SftConfig
    rollout: RolloutConfig
    update: UpdateConfig


MODEL_SIZES: dict[str, ModelSize] = {
    "sudoku-4": ModelSize(48, 3),
    "sudoku-6": ModelSize(64, 3),
    "sudoku-9": ModelSize(96, 4),
    "rush-hour-6": ModelSize(64, 4),
    "shop-3000": ModelSize(48, 3),
    "textworld-0": ModelSize(48, 3),
}
"""Model sizes by puzzle and rows of the board, or products of the shop."""

_SETTINGS: dict[str, TinySettings] = {
    "sudoku-4": TinySettings(SftConfig(steps=300), RolloutConfig(), UpdateConfig(updates=40)),
    "sudoku-6": TinySettings(SftConfig(steps=900), RolloutConfig(groups=40), UpdateConfig(updates=60)),
    "sudoku-9": TinySettings(
        SftConfig(steps=1500, learning_rate=2e-3), RolloutConfig(groups=32), UpdateConfig(updates=60)
    ),
    "rush-hour-6": TinySettings(
        SftConfig(steps=1500, learning_rate=2e-3), RolloutConfig(groups=32), UpdateConfig(updates=60)
    ),
    "textworld-0": TinySettings(SftConfig(steps=300, learning_rate=3e-3), RolloutConfig(), UpdateConfig(updates=40)),
    "shop-3000": TinySettings(SftConfig(steps=350, learning_rate=3e-3), RolloutConfig(), UpdateConfig(updates=40)),
}

_THOUGHT_STEPS = {"sudoku-4": 1300, "sudoku-6": 2600, "sudoku-9": 6000}
"""SFT steps with thoughts; those of 9x9 are extrapolated, not measured."""


def tiny_model(size: int, puzzle: str = "sudoku") -> ModelSize:
    """Return the size of the small model for a board.

    Args:
        size: rows of the board; products of a shop.
        puzzle: name of the puzzle.

    Raises:
        ValueError: if nobody has tried that board.
    """
    return MODEL_SIZES[_board(size, puzzle)]


def tiny_settings(size: int, puzzle: str = "sudoku", *, thoughts: bool = False) -> TinySettings:
    """Return the settings of SFT, rollouts and updates for a board.

    Args:
        size: rows of the board.
        puzzle: name of the puzzle.
        thoughts: whether replies begin with a thought, which takes more SFT.

    Raises:
        ValueError: if nobody has tried that board, or the puzzle has no thoughts.
    """
    board = _board(size, puzzle)
    chosen = _SETTINGS[board]
    if not thoughts:
        return chosen
    if board not in _THOUGHT_STEPS:
        raise ValueError(f"puzzle {puzzle!r} has no compact thoughts; use thoughts=False")
    return chosen._replace(sft=replace(chosen.sft, steps=_THOUGHT_STEPS[board], targets=TargetSettings(thoughts=True)))


def _board(size: int, puzzle: str) -> str:
    board = f"{puzzle}-{size}"
    if board not in MODEL_SIZES:
        raise ValueError(f"no settings of the small model for {board}; known: {', '.join(MODEL_SIZES)}")
    return board
