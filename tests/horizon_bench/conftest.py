"""The worked puzzle, a language model with random weights for all that uses one, and boards that are nearly solved."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curricula import Instance
from puzzles.sudoku import Sudoku
from solvers import oracle

# Makes the worked puzzle importable, as a user's own package would be.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))

if TYPE_CHECKING:
    from horizon_bench.policies.hf import HfPolicy


@pytest.fixture(scope="session")
def random_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from horizon_bench.policies.random_model import write_random_model

    return write_random_model(tmp_path_factory.mktemp("random-model"))


@pytest.fixture(scope="session")
def language_policy(random_model: Path) -> HfPolicy:
    from horizon_bench.policies.chat import ChatSampling
    from horizon_bench.policies.hf import HfPolicy

    return HfPolicy.load(random_model, sampling=ChatSampling(max_new_tokens=12))


@pytest.fixture(scope="session")
def nearly_solved() -> Callable[[Sequence[Instance], int], list[Instance]]:
    """Return what fills boards up to a few blanks: short enough for a policy that has learned for seconds."""

    def filled(instances: Sequence[Instance], blanks: int) -> list[Instance]:
        ending, puzzle = [], Sudoku(4)
        for instance in instances:
            state = puzzle.parse(instance.start)
            for move in (oracle(puzzle, state).plan(state) or ())[:-blanks]:
                state = puzzle.apply(state, move)
            ending.append(replace(instance, start=puzzle.format(state), distance=blanks))
        return ending

    return filled
