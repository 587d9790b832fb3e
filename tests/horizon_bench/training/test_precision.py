"""The report on rounding: exact against itself, and honest about what rounding does."""

from __future__ import annotations

import pytest
import torch

from curricula import load_bank
from horizon_bench.envs import Settings
from horizon_bench.policies.hf import HfPolicy
from horizon_bench.training.precision import precision_report

SETTINGS = Settings(max_decisions=2, on_error="stay")


def test_a_model_agrees_with_itself_but_not_with_its_rounded_self(
    language_policy: HfPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = precision_report(language_policy, load_bank("T1")[:3], SETTINGS)
    assert report["replies"] == 6
    assert 0 < report["token_error"] < 0.1
    assert report["ratio_low"] < report["ratio_median"] < report["ratio_high"]
    monkeypatch.setattr(torch, "bfloat16", torch.float32)
    same = precision_report(language_policy, load_bank("T1")[:3], SETTINGS)
    assert (same["token_error"], same["outside"], same["ratio_low"]) == (0.0, 0.0, 1.0)
