"""The report on rounding: exact against itself, and honest about what rounding does."""

from __future__ import annotations

import pytest
import torch

from curricula import load_bank
from horizon_bench.envs import Settings
from horizon_bench.policies.chat import ChatSampling
from horizon_bench.policies.hf import HfPolicy
from horizon_bench.policies.random_model import write_random_model
from horizon_bench.training.language_sft import LanguageSftConfig, expert_traces, mixed_traces, trace_rows
from horizon_bench.training.precision import precision_report

SETTINGS = Settings(max_decisions=2, on_error="stay")


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> HfPolicy:
    folder = write_random_model(tmp_path_factory.mktemp("model"), layers=1)
    return HfPolicy.load(folder, sampling=ChatSampling(max_new_tokens=8))


def test_a_model_agrees_with_itself_but_not_with_its_rounded_self(
    policy: HfPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = precision_report(policy, load_bank("T1")[:3], SETTINGS)
    assert report["replies"] == 6
    assert 0 < report["token_error"] < 0.1
    assert report["ratio_low"] < report["ratio_median"] < report["ratio_high"]
    monkeypatch.setattr(torch, "bfloat16", torch.float32)
    same = precision_report(policy, load_bank("T1")[:3], SETTINGS)
    assert (same["token_error"], same["outside"], same["ratio_low"]) == (0.0, 0.0, 1.0)


def test_rows_hold_the_prompt_as_played_and_learn_the_reply_alone(policy: HfPolicy) -> None:
    traces = expert_traces(load_bank("T1")[:3], Settings(), 4, 0)
    for row, (prompt, reply) in zip(trace_rows(policy, traces), traces, strict=True):
        learned = [token for token in row["labels"] if token != -100]
        assert policy.decode(learned) == reply
        assert learned[-1] in policy.end_ids
        start = row["input_ids"][: len(row["input_ids"]) - len(learned)]
        assert start == policy.encode([prompt])[0].tolist()
        assert row["labels"][: len(start)] == [-100] * len(start)


def test_later_prompts_remember_earlier_turns() -> None:
    traces = expert_traces(load_bank("T1")[:3], Settings(), 30, 0)
    assert any("Your last turns:" in prompt and "Action: value(" in prompt for prompt, _ in traces)


def test_several_environments_share_the_traces() -> None:
    config = LanguageSftConfig(traces=20, seed=2)
    traces = mixed_traces(load_bank("T2")[:3], [Settings(), Settings(interface="macro-fixed-2")], config)
    single = sum("Reply with exactly one action" in prompt for prompt, _ in traces)
    assert (len(traces), single) == (20, 10)
    assert traces == mixed_traces(load_bank("T2")[:3], [Settings(), Settings(interface="macro-fixed-2")], config)


@pytest.mark.parametrize("changes", [{"traces": 0}, {"learning_rate": 0.0}, {"lora_rank": -1}])
def test_settings_out_of_range_are_refused(changes: dict) -> None:
    with pytest.raises(ValueError, match=r"must be"):
        LanguageSftConfig(**changes)
