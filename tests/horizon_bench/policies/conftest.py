"""An untrained small policy and prompts for it."""

from __future__ import annotations

import pytest

from horizon_bench.policies.tiny import TinyPolicy
from puzzles.sudoku import Sudoku


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
