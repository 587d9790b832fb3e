"""Supervised fine-tuning of a language model on expert traces, through `trl.SFTTrainer`: all weights, or LoRA by peft.

An expert plays; its prompts become token ids as they will when the model plays, its replies become ids once, and the
labels leave the prompt out. The trainer gets ids and labels and tokenises nothing.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from horizon_bench.checks import check_least, check_positive
from horizon_bench.envs.interfaces import find_interface
from horizon_bench.envs.settings import Settings
from horizon_bench.extras import extra_needed, install
from horizon_bench.policies.base import Reply, Seat, Tokenless
from horizon_bench.policies.expert import expert_moves, write_reply
from horizon_bench.policies.hf import HfPolicy
from horizon_bench.policies.language_sampling import LEAST_SHARED, shared_length
from horizon_bench.rollout import Playable, rollout
from horizon_bench.training.collator import IGNORED
from horizon_bench.training.sft import QUIET_ARGUMENTS, LossLog, Progress, restored_generators, untold
from horizon_bench.training.team import Team

with extra_needed():
    import torch
    from datasets import Dataset
    from torch import Tensor
    from transformers import PrinterCallback
    from trl import SFTConfig as TrlConfig
    from trl import SFTTrainer

LORA_TARGETS = "all-linear"
"""Layers that LoRA adapts: all linear ones but the head."""


@dataclass(frozen=True)
class LanguageSftConfig:
    """How a language model learns from expert traces. All defaults are ours."""

    traces: int = 2000
    """States, each with one expert reply."""
    epochs: float = 1.0
    """Passes over the traces."""
    batch: int = 32
    """Traces in an optimiser step, over all processes."""
    micro_batch: int = 8
    """Traces in one forward pass of a process; changes nothing but memory."""
    learning_rate: float = 1e-5
    """Peak learning rate; LoRA usually takes ten times as much."""
    warmup_share: float = 0.05
    """Share of the steps with linear warm-up; a cosine down to a tenth follows."""
    weight_decay: float = 0.01
    """Decoupled weight decay."""
    gradient_clip: float = 1.0
    """Largest gradient norm."""
    lora_rank: int = 0
    """Rank of LoRA's matrices; 0 trains all weights."""
    lora_alpha: int = 32
    """LoRA's scale: alpha over rank."""
    macro_length: int = 4
    """Most actions in a macro; each length from 1 on is equally likely."""
    seed: int = 0
    """Seed of traces and order."""

    def __post_init__(self) -> None:
        """Check the fields."""
        check_least(self, 1, "traces", "batch", "micro_batch", "macro_length")
        check_positive(self, "epochs", "learning_rate")
        if self.lora_rank < 0:
            raise ValueError(f"lora_rank must be at least 0, not {self.lora_rank}; 0 trains all weights")

    @property
    def steps(self) -> int:
        """Optimiser steps."""
        return max(1, round(self.epochs * self.traces / self.batch))


@dataclass(frozen=True)
class LanguageSftReport:
    """What SFT did."""

    losses: tuple[float, ...]
    """Mean loss of each tenth of the training, in nats per reply token."""
    traces: int
    tokens: int
    """Reply tokens in the traces."""
    trained_weights: int
    """Numbers that were trained."""
    seconds: float
    """Wall-clock, traces included."""


@dataclass(frozen=True)
class TraceExpert(Tokenless):
    """An expert that writes as the prompt asks, macros of varying length."""

    longest: int
    """Most actions in a reply."""
    fixed: bool = False
    """All replies have the most actions."""

    def reply(
        self, observations: Sequence[str], seats: Sequence[Seat], generators: Sequence[np.random.Generator]
    ) -> list[Reply]:
        """Return one reply for each lane."""
        return [self._reply(seat, generator) for seat, generator in zip(seats, generators, strict=True)]

    def _reply(self, seat: Seat, generator: np.random.Generator) -> Reply:
        count = self.longest if self.fixed else int(generator.integers(1, self.longest + 1))
        return Reply(f"Action: {write_reply(seat.puzzle, expert_moves(seat, count, generator)).text}")


def expert_traces(
    instances: Sequence[Playable], settings: Settings, count: int, seed: int, macro_length: int = 4
) -> list[tuple[str, str]]:
    """Return prompts with expert replies, drawn from whole episodes, memory of earlier turns included.

    Args:
        instances: played in random order, again and again until there are enough states.
        settings: the environment's settings; `split` has no expert.
        count: number of states.
        seed: of order, ties and lengths.
        macro_length: most actions in a macro.

    Raises:
        ValueError: without instances, or for the interface `split`.
    """
    if not instances:
        raise ValueError("SFT needs at least one instance")
    interface = find_interface(settings.interface)
    if interface.name == "split":
        raise ValueError("interface 'split' has no expert traces in text; teach 'atomic' or 'macro'")
    capped = interface.most_carried if interface.name != "macro-stepwise" else None
    longest = interface.fixed or (1 if interface.single else min(capped or macro_length, macro_length))
    expert = TraceExpert(longest, fixed=bool(interface.fixed))
    order, play = np.random.SeedSequence(seed).spawn(2)
    rng = np.random.default_rng(order)
    found: list[tuple[str, str]] = []
    while len(found) < count:
        drawn = [instances[index] for index in rng.permutation(len(instances))[:64]]
        episodes = rollout(expert, drawn, settings, seed=int(play.spawn(1)[0].generate_state(1)[0]))
        found += [(turn.observation, turn.reply) for episode in episodes for turn in episode.turns]
    return [found[index] for index in rng.permutation(len(found))[:count]]


def mixed_traces(
    instances: Sequence[Playable], settings: Sequence[Settings], config: LanguageSftConfig
) -> list[tuple[str, str]]:
    """Return expert traces of several environments in random order, of each equally many."""
    order, *seeds = np.random.SeedSequence(config.seed).spawn(len(settings) + 1)
    share = -(-config.traces // len(settings))
    found = [
        trace
        for one, seed in zip(settings, seeds, strict=True)
        for trace in expert_traces(instances, one, share, int(seed.generate_state(1)[0]), config.macro_length)
    ]
    return [found[index] for index in np.random.default_rng(order).permutation(len(found))[: config.traces]]


def trace_rows(policy: HfPolicy, traces: Sequence[tuple[str, str]]) -> Dataset:
    """Return one row of `input_ids` and `labels` for each trace; learned are the reply and its end token."""
    end = policy.tokenizer.eos_token_id
    ids, labels = [], []
    for prompt, (_, reply) in zip(policy.encode([observation for observation, _ in traces]), traces, strict=True):
        answer = [*policy.tokenizer(reply, add_special_tokens=False)["input_ids"], end]
        ids.append([*prompt.tolist(), *answer])
        labels.append([*[IGNORED] * len(prompt), *answer])
    return Dataset.from_dict({"input_ids": ids, "labels": labels})


def collate(rows: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
    """Return a batch filled up at the end."""
    width = max(len(row["input_ids"]) for row in rows)

    def filled(name: str, value: int) -> Tensor:
        return torch.tensor([[*row[name], *[value] * (width - len(row[name]))] for row in rows])

    lengths = torch.tensor([len(row["input_ids"]) for row in rows])
    return {
        "input_ids": filled("input_ids", 0),
        "labels": filled("labels", IGNORED),
        "attention_mask": (torch.arange(width) < lengths[:, None]).long(),
    }


def collate_shared(rows: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
    """Return a batch in which what all prompts begin with (the rules of the game) stands once, before what follows it.

    One line of tokens: the common beginning, then the rest of each row. Positions and attention are those of separate
    rows, so loss and gradients are those of `collate`.
    """
    starts = [next(place for place, label in enumerate(row["labels"]) if label != IGNORED) for row in rows]
    prompts = [np.array(row["input_ids"][:start]) for row, start in zip(rows, starts, strict=True)]
    shared = shared_length(prompts) if len(rows) > 1 else 0
    if shared < LEAST_SHARED:
        return collate(rows)
    rests = [len(row["input_ids"]) - shared for row in rows]
    owner = torch.cat([torch.zeros(shared), *(torch.full((rest,), row + 1.0) for row, rest in enumerate(rests))])
    positions = torch.cat([torch.arange(shared), *(torch.arange(shared, shared + rest) for rest in rests)])
    earlier = torch.ones(len(owner), len(owner), dtype=torch.bool).tril()
    seen = earlier & ((owner[:, None] == owner) | (owner == 0))
    # Each rest begins with a token of the prompt, so that no row's end is asked for the beginning of the next.
    ids = [*rows[0]["input_ids"][:shared], *(token for row in rows for token in row["input_ids"][shared:])]
    labels = [*[IGNORED] * shared, *(label for row in rows for label in row["labels"][shared:])]
    return {
        "input_ids": torch.tensor([ids]),
        "labels": torch.tensor([labels]),
        "position_ids": positions[None],
        "attention_mask": seen[None, None],
    }


def collator_of(model: Any) -> Callable[[Sequence[dict[str, Any]]], dict[str, Tensor]]:
    """Return how batches are made for a model: beginnings are shared on a processor, where attention is the usual one.

    Fast attention kernels of GPUs take no mask of two dimensions, and layers that see a window have masks of their own.
    """
    config = model.config
    windows = getattr(config, "sliding_window", None) or set(getattr(config, "layer_types", None) or ()) - {
        "full_attention"
    }
    plain = config._attn_implementation == "sdpa" and not windows
    return collate_shared if plain and model.device.type == "cpu" else collate


def train_language_sft(
    policy: HfPolicy,
    instances: Sequence[Playable],
    settings: Settings | Sequence[Settings],
    config: LanguageSftConfig,
    progress: Progress = untold,
) -> LanguageSftReport:
    """Train the policy's model in place and return the report; with `lora_rank` its model then carries an adapter.

    Started by `torchrun` or `accelerate launch`, all processes must call this; they share each batch.

    Args:
        policy: the language model.
        instances: training instances.
        settings: the environment's settings, `observation="text"`; several share the traces evenly, mixed.
        config: every choice.
        progress: told the share of the steps that are done, now and then.

    Raises:
        ValueError: without instances, or if peft is needed and missing.
    """
    started = time.perf_counter()
    traces = mixed_traces(instances, [settings] if isinstance(settings, Settings) else settings, config)
    rows = trace_rows(policy, traces)
    if config.lora_rank and not hasattr(policy.model, "peft_config"):
        policy.model = with_adapter(policy.model, config)
    losses = LossLog(progress)
    with tempfile.TemporaryDirectory() as folder, restored_generators():
        trainer = SFTTrainer(
            model=policy.model,
            args=trainer_arguments(config, folder, on_gpu=policy.model.device.type != "cpu"),
            train_dataset=rows,
            data_collator=collator_of(policy.model),
            processing_class=policy.tokenizer,
            callbacks=[losses],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        policy.model = trainer.accelerator.unwrap_model(trainer.model)
    policy.model.eval()
    learned = sum(sum(label != IGNORED for label in row) for row in rows["labels"])
    trained = sum(weight.numel() for weight in policy.model.parameters() if weight.requires_grad)
    return LanguageSftReport(tuple(losses.means), len(rows), learned, trained, time.perf_counter() - started)


def with_adapter(model: Any, config: LanguageSftConfig) -> Any:
    """Return the model with a fresh LoRA adapter, which alone is trained.

    Raises:
        ValueError: if peft is missing.
    """
    try:
        from peft import LoraConfig, get_peft_model
    except ImportError as error:
        raise ValueError(f"LoRA needs peft: {install('lora')}") from error
    # Dropout would make sampling and training disagree about a reply's probability.
    chosen = LoraConfig(
        r=config.lora_rank,
        lora_alpha=config.lora_alpha,
        lora_dropout=0.0,
        target_modules=LORA_TARGETS,
        task_type="CAUSAL_LM",
    )
    return get_peft_model(model, chosen)


def trainer_arguments(config: LanguageSftConfig, folder: str, *, on_gpu: bool) -> TrlConfig:
    """Return the trainer's arguments: full precision on the CPU, bfloat16 arithmetic on a GPU, no packing."""
    processes = Team.current().size
    size = min(config.micro_batch, max(1, config.batch // processes))
    steps = config.steps
    return TrlConfig(
        output_dir=folder,
        max_steps=steps,
        per_device_train_batch_size=size,
        gradient_accumulation_steps=max(1, config.batch // (size * processes)),
        learning_rate=config.learning_rate,
        lr_scheduler_type="cosine_with_min_lr",
        lr_scheduler_kwargs={"min_lr_rate": 0.1},
        warmup_steps=round(config.warmup_share * steps),
        weight_decay=config.weight_decay,
        max_grad_norm=config.gradient_clip,
        seed=int(np.random.SeedSequence(config.seed).generate_state(1)[0]) // 2,
        use_cpu=not on_gpu,
        bf16=on_gpu,
        gradient_checkpointing=on_gpu,
        logging_steps=max(1, steps // 10),
        dataloader_pin_memory=on_gpu,
        **QUIET_ARGUMENTS,
    )
