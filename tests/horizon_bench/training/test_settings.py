"""The settings exist for every board of the suite, and say no to others."""

from __future__ import annotations

import pytest

from horizon_bench.training.settings import MODEL_SIZES, tiny_model, tiny_settings


def test_every_board_has_settings_and_a_model() -> None:
    for board in MODEL_SIZES:
        puzzle, _, size = board.rpartition("-")
        sft, rollout, update = tiny_settings(int(size), puzzle)
        assert tiny_model(int(size), puzzle).hidden_size % 16 == 0
        assert not sft.targets.thoughts
        assert rollout.attempts >= 2
        assert update.updates > 0


def test_thoughts_take_more_steps() -> None:
    with_thoughts = tiny_settings(4, thoughts=True).sft
    assert with_thoughts.targets.thoughts
    assert with_thoughts.steps > tiny_settings(4).sft.steps


def test_untried_boards_and_thoughts_are_refused() -> None:
    with pytest.raises(ValueError, match="no settings of the small model for sudoku-16"):
        tiny_settings(16)
    with pytest.raises(ValueError, match="has no compact thoughts"):
        tiny_settings(6, "rush-hour", thoughts=True)
