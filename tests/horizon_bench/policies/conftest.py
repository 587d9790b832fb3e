"""An untrained small policy and prompts for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from horizon_bench.policies.tiny import TinyPolicy
from puzzles.sudoku import Sudoku

if TYPE_CHECKING:
    from horizon_bench.policies.hf import HfPolicy


@pytest.fixture(scope="session")
def policy() -> TinyPolicy:
    return TinyPolicy.create(Sudoku(4), 16, value_head=True, seed=3)


@pytest.fixture(scope="session")
def observations() -> list[str]:
    boards = (". 4 . 2 3 2 1 . 2 1 4 3 4 . 2 1", "4 3 . 1 2 1 . . 1 . 3 2 . 2 1 .", ". . 3 . . . . 1 4 . 1 . 2 1 4 3")
    return [
        f"{board} {feedback} {mode}"
        for board in boards
        for feedback, mode in (("<ok>", "<atomic>"), ("<void>", "<macro>"))
    ]


@pytest.fixture(scope="session")
def random_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from horizon_bench.policies.random_model import write_random_model

    return write_random_model(tmp_path_factory.mktemp("random-model"))


@pytest.fixture(scope="session")
def language_policy(random_model: Path) -> HfPolicy:
    from horizon_bench.policies.chat import ChatSampling
    from horizon_bench.policies.hf import HfPolicy

    return HfPolicy.load(random_model, sampling=ChatSampling(max_new_tokens=12))
