"""SFT of a language model through its trainer: both ways learn, and what they leave behind plays on after loading."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from curricula import load_bank
from horizon_bench.credit import ESTIMATORS
from horizon_bench.envs import Settings
from horizon_bench.policies.chat import ChatSampling
from horizon_bench.policies.hf import HfPolicy
from horizon_bench.rollout import rollout
from horizon_bench.training.configs import RolloutConfig, UpdateConfig
from horizon_bench.training.language_sft import (
    LanguageSftConfig,
    collate,
    collate_shared,
    collator_of,
    expert_traces,
    mixed_traces,
    trace_rows,
    train_language_sft,
)
from horizon_bench.training.rl import train_rl

SETTINGS = Settings(max_decisions=2, on_error="stay", memory_turns=0)
SAMPLING = ChatSampling(max_new_tokens=6)
BOARDS = load_bank("T1")[:4]
RATE = 3e-3


def taught(model: Path, rank: int) -> tuple[HfPolicy, tuple[float, ...]]:
    policy = HfPolicy.load(model, sampling=SAMPLING)
    config = LanguageSftConfig(traces=40, batch=4, micro_batch=2, learning_rate=RATE, lora_rank=rank, seed=1)
    told: list[float] = []
    losses = train_language_sft(policy, BOARDS, SETTINGS, config, told.append).losses
    assert told == [(step + 1) / 10 for step in range(10)]
    return policy, losses


def written(policy: HfPolicy) -> list[list[int]]:
    episodes = rollout(policy, BOARDS, SETTINGS, seed=5)
    return [turn.reply_ids.tolist() for episode in episodes for turn in episode.turns]


def gradients(model: torch.nn.Module, batch: dict[str, torch.Tensor]) -> tuple[float, list[torch.Tensor]]:
    model.zero_grad()
    loss = model(**batch).loss
    loss.backward()
    return loss.item(), [weight.grad.clone() for weight in model.parameters()]


def test_rows_hold_the_prompt_as_played_and_learn_the_reply_alone(language_policy: HfPolicy) -> None:
    traces = expert_traces(BOARDS, Settings(), 4, 0)
    for row, (prompt, reply) in zip(trace_rows(language_policy, traces), traces, strict=True):
        learned = [token for token in row["labels"] if token != -100]
        assert language_policy.decode(learned) == reply
        assert learned[-1] in language_policy.end_ids
        start = row["input_ids"][: len(row["input_ids"]) - len(learned)]
        assert start == language_policy.encode([prompt])[0].tolist()
        assert row["labels"][: len(start)] == [-100] * len(start)


def test_later_prompts_remember_earlier_turns() -> None:
    traces = expert_traces(BOARDS, Settings(), 30, 0)
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


def test_a_beginning_that_is_read_once_changes_neither_loss_nor_gradients(random_model: Path) -> None:
    policy = HfPolicy.load(random_model)
    assert collator_of(policy.model) is collate_shared
    rows = list(trace_rows(policy, expert_traces(BOARDS, Settings(interface="macro"), 5, 0)))
    together = collate_shared(rows)
    assert together["input_ids"].numel() < 0.7 * collate(rows)["input_ids"].numel()
    loss, slopes = gradients(policy.model, collate(rows))
    shared_loss, shared_slopes = gradients(policy.model, together)
    assert shared_loss == pytest.approx(loss, abs=1e-5)
    for one, two in zip(slopes, shared_slopes, strict=True):
        torch.testing.assert_close(one, two, atol=1e-5, rtol=1e-4)


def test_rows_without_a_common_beginning_are_not_joined(random_model: Path) -> None:
    policy = HfPolicy.load(random_model)
    rows = list(trace_rows(policy, [("one thing", "Action: a"), ("another", "Action: b")]))
    alone = [{name: row[name][3 * index :] for name in row} for index, row in enumerate(rows)]
    assert collate_shared(alone)["input_ids"].tolist() == collate(alone)["input_ids"].tolist()
    assert collate_shared(rows[:1])["input_ids"].shape[0] == 1
    policy.model.config.sliding_window = 8
    assert collator_of(policy.model) is collate


@pytest.mark.parametrize("rank", [0, 8])
def test_what_sft_leaves_plays_the_same_once_it_is_loaded(rank: int, random_model: Path, tmp_path: Path) -> None:
    if rank:
        pytest.importorskip("peft")
    before = HfPolicy.load(random_model, sampling=SAMPLING)
    policy, losses = taught(random_model, rank)
    assert losses[-1] < losses[0]
    policy.save(tmp_path)
    assert (tmp_path / "adapter_config.json").is_file() == bool(rank)
    loaded = HfPolicy.load(tmp_path, sampling=SAMPLING)
    assert written(loaded) == written(policy) != written(before)


def test_rl_goes_on_with_an_adapter_and_resumes_it(
    random_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("peft")
    policy, _ = taught(random_model, 8)
    policy.save(tmp_path / "adapter")
    rollouts = RolloutConfig(groups=2, attempts=2, temperature=2.0)
    # Random weights solve nothing and write nothing readable, so that all other estimators would give zeros.
    monkeypatch.setitem(ESTIMATORS, "ones", lambda batch: np.ones(len(batch.rewards)))
    updates = UpdateConfig(updates=1, learning_rate=RATE, warmup_updates=0, correction="none", estimator="ones")

    def trained() -> tuple[HfPolicy, int]:
        loaded = HfPolicy.load(tmp_path / "adapter", sampling=SAMPLING)
        report = train_rl(loaded, BOARDS, SETTINGS, rollouts, updates, seed=2, folder=tmp_path / "run")
        return loaded, report.resumed_from

    start, (once, fresh), (again, resumed) = policy.model.state_dict(), trained(), trained()
    assert (fresh, resumed) == (0, 1)
    end, same = once.model.state_dict(), again.model.state_dict()
    assert all(torch.equal(end[name], same[name]) for name in end)
    changed = {name for name in end if not torch.equal(end[name], start[name])}
    assert changed == {name for name in end if "lora_" in name}
