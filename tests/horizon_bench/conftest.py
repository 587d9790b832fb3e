"""A language model with random weights, for the tests of everything that prompts, samples, trains or serves one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

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
