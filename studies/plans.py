"""What a study of a language model does and takes, said before it starts; a dry run builds all but the weights."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from horizon_bench.policies.expert import ExpertPolicy
from horizon_bench.rollout import rollout
from horizon_bench.training.estimates import Estimate, Load, ModelShape, estimate, find_shape
from reports.panels import counted
from studies.language import LanguageTraining, played
from studies.named_policies import expert_actions
from studies.recipe import instances, test_levels

if TYPE_CHECKING:
    from studies.runner import CellJob

CHARACTERS_A_TOKEN = 2.5
"""Of boards and rules, where no tokenizer is at hand; Qwen3's and SmolLM2's lie near it."""
USED_SHARE = 0.25
"""Tokens of a usual reply as a share of its cap; ours, to be replaced by what the first updates record."""


def training_of(job: CellJob) -> LanguageTraining:
    """Return the settings of a run of a language model."""
    from studies.training_settings import resolved_training

    return cast(LanguageTraining, resolved_training(job))


def load_of(job: CellJob, tokenizer: Any = None) -> Load:
    """Return how much a run plays and learns.

    Args:
        job: cell, preset and seed.
        tokenizer: the model's; without it tokens are guessed from characters.
    """
    cell, preset, training = job.cell, job.preset, training_of(job)
    pool = instances(cell, cell.train_levels or training.sft_levels, "train", 4)
    expert = ExpertPolicy(expert_actions(cell.interface))
    episodes = rollout(expert, pool, played(cell, cell.interface, preset))
    prompts = [turn.observation for episode in episodes for turn in episode.turns]
    tokens = [_tokens(prompt, tokenizer) for prompt in prompts]
    played_episodes = len(test_levels(cell)) * preset.attempts * preset.evaluated_puzzles(cell)
    return Load(
        prompt_tokens=round(float(np.mean(tokens))),
        reply_tokens=max(1, round(USED_SHARE * training.max_new_tokens)),
        longest_reply=training.max_new_tokens,
        decisions=float(np.mean([episode.decisions for episode in episodes])),
        episodes=preset.puzzles_per_update * preset.attempts_per_puzzle,
        updates=preset.updates if cell.trained else 0,
        evaluated_episodes=played_episodes,
        sft_traces=round(training.sft.traces * training.sft.epochs),
        micro_batch=training.sft.micro_batch,
    )


def _tokens(text: str, tokenizer: Any) -> int:
    return math.ceil(len(text) / CHARACTERS_A_TOKEN) if tokenizer is None else len(tokenizer(text)["input_ids"])


def estimated(
    job: CellJob, gpu: str, count: int, *, sharded: bool, config: Any = None, tokenizer: Any = None
) -> Estimate:
    """Return memory and time of one run.

    Args:
        job: cell, preset and seed.
        gpu: kind of GPU.
        count: GPUs of the run.
        sharded: whether they share the training state out.
        config: the model's configuration; a model that is not at hand must have a known shape.
        tokenizer: the model's, if at hand.

    Raises:
        ValueError: if the model's shape is not known.
    """
    shape = find_shape(job.preset.model) if config is None else ModelShape.of(config)
    if shape is None:
        raise ValueError(f"the shape of {job.preset.model} is not known; give a folder that holds its config.json")
    return estimate(shape, load_of(job, tokenizer), gpu, count, sharded=sharded)


def announced(jobs: Sequence[CellJob], gpu: str, count: int, *, sharded: bool) -> Iterator[str]:
    """Yield what is said before a study of a language model starts: the run that takes most memory, and all hours.

    Raises:
        ValueError: naming a cell that a language model cannot be trained in, before any hour is spent.
    """
    trained = [job for job in jobs if job.cell.trained] or list(jobs[:1])
    for job in trained:
        training_of(job)
    model = trained[0].preset.model
    config, tokenizer = at_hand(model)
    kinds: dict[Any, list[CellJob]] = {}
    for job in trained:
        kinds.setdefault((job.cell.interface, job.cell.train, job.cell.run_as), []).append(job)
    made = [
        (estimated(alike[0], gpu, count, sharded=sharded, config=config, tokenizer=tokenizer), alike)
        for alike in kinds.values()
    ]
    largest, alike = max(made, key=lambda one: one[0].gib)
    name = alike[0].cell.name
    yield f"{model}: estimate of the run that takes most memory ({name}), see docs/scale.md for the formula"
    yield from (f"  {line}" for line in largest.lines(gpu, count, sharded=sharded))
    hours = sum(one.hours * len(alike) for one, alike in made)
    yield f"  {counted([len(trained)], 'trained run')}, one after another on these GPUs: about {hours:.0f} h"


def at_hand(model: str) -> tuple[Any, Any]:
    """Return configuration and tokenizer of a model in a folder; None and None for a name on a hub."""
    if not (Path(model) / "config.json").is_file():
        return None, None
    from transformers import AutoConfig, AutoTokenizer

    return (
        AutoConfig.from_pretrained(model, trust_remote_code=False),
        AutoTokenizer.from_pretrained(model, trust_remote_code=False),
    )


def dry_run(jobs: Sequence[CellJob], gpu: str, count: int, *, sharded: bool) -> Iterator[str]:
    """Yield what a study would do, after building model, optimiser, data and plan without a single weight in memory.

    Args:
        jobs: every run of the study.
        gpu: kind of GPU.
        count: GPUs of a run.
        sharded: whether they share the training state out.
    """
    yield from announced(jobs, gpu, count, sharded=sharded)
    job = next((job for job in jobs if job.cell.trained), jobs[0])
    training = training_of(job)
    yield from _model_lines(job, training)
    yield from _data_lines(job, training)
    yield "plan:"
    yield f"  SFT: {training.sft.steps} steps of {training.sft.batch} traces, rate {training.sft.learning_rate:g}" + (
        f", LoRA of rank {training.sft.lora_rank}" if training.sft.lora_rank else ", all weights"
    )
    update, rollouts = training.update, training.rollout
    yield f"  RL: {update.updates} updates of {rollouts.groups} puzzles x {rollouts.attempts}, {update.estimator}, "
    yield f"      {update.correction}, rate {update.learning_rate:g}, KL 0, temperature {rollouts.temperature:g}, "
    yield f"      replies up to {training.max_new_tokens} tokens"
    yield f"  evaluation: {job.preset.test_puzzles} puzzles a level x {job.preset.attempts}, every "
    yield f"      {job.preset.evaluate_every} updates {job.preset.interval_puzzles} a level"
    yield "runs:"
    yield from (f"  {each.cell.name}/{each.seed}" for each in jobs)
    yield "launch:"
    yield from (f"  {line}" for line in launch_lines(job))


def _model_lines(job: CellJob, training: LanguageTraining) -> Iterator[str]:
    import torch
    from transformers import AutoModelForCausalLM, Qwen3Config

    config = at_hand(job.preset.model)[0]
    if config is None:
        shape = cast(ModelShape, find_shape(job.preset.model))
        config = Qwen3Config(
            vocab_size=shape.vocabulary, hidden_size=shape.hidden_size, intermediate_size=shape.intermediate_size,
            num_hidden_layers=shape.layers, num_attention_heads=shape.heads, head_dim=shape.head_size,
            num_key_value_heads=shape.key_value_heads, tie_word_embeddings=shape.tied,
        )  # fmt: skip
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=getattr(torch, training.dtype))
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=training.update.learning_rate, betas=(0.9, 0.99))
    numbers = sum(weight.numel() for group in optimiser.param_groups for weight in group["params"])
    yield f"model: {type(model).__name__}, {numbers:,} weights in {training.dtype}, built without memory"
    yield f"optimiser: AdamW on {len(trained)} tensors, {2 * 4 * numbers / 2**30:.1f} GiB of moments"


def _data_lines(job: CellJob, training: LanguageTraining) -> Iterator[str]:
    from horizon_bench.training.language_sft import expert_traces

    cell = job.cell
    taught = instances(cell, training.sft_levels, "train")
    prompt, reply = expert_traces(taught[:8], training.environment, 1, training.sft.seed)[0]
    yield f"SFT data: {len(taught)} puzzles of {'+'.join(training.sft_levels)}, {training.sft.traces} traces"
    for number, levels in enumerate(cell.train, start=1):
        yield f"RL data, phase {number}: {len(instances(cell, levels, 'train'))} puzzles of {'+'.join(levels)}"
    yield f"test data: {len(instances(cell, test_levels(cell), 'test', job.preset.test_puzzles))} puzzles"
    yield f"first prompt: {len(prompt)} characters; its expert reply: {reply}"


def launch_lines(job: CellJob) -> list[str]:
    """Return the commands for 1 GPU, 8 GPUs of one machine, sharded ones, and a Ray cluster."""
    name = job.cell.name if job.study == "single" else job.study
    command = f"horizon-bench study run {name} --preset {job.preset.name} --model {job.preset.model}"
    return [
        f"1 GPU:        {command} --workers 1",
        f"8 GPUs:       {command} --workers 1 --processes 8",
        f"8, sharded:   {command} --workers 1 --launcher 'accelerate launch --config_file fsdp.yaml'",
        f"Ray cluster:  {command} --ray auto --workers 4",
    ]
