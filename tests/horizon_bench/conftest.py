"""The documentation's worked puzzle, and a language model with random weights for all that prompts or trains one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

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
