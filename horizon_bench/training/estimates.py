"""What a run of a language model takes: memory of each GPU and hours, from sizes alone. Torch-free.

The formulas stand in `docs/scale.md`. They are estimates to plan with; the speeds of GPUs are those of their makers'
sheets times a share that real programs reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from puzzles.names import check_name

GIB = 2**30


@dataclass(frozen=True)
class ModelShape:
    """Sizes of a decoder as its configuration states them."""

    hidden_size: int
    intermediate_size: int
    layers: int
    heads: int
    key_value_heads: int
    head_size: int
    vocabulary: int
    tied: bool = True
    """Input and output embeddings are the same numbers."""

    @classmethod
    def of(cls, config: Any) -> ModelShape:
        """Return the shape in a configuration of transformers."""
        heads = config.num_attention_heads
        return cls(
            config.hidden_size,
            config.intermediate_size,
            config.num_hidden_layers,
            heads,
            getattr(config, "num_key_value_heads", None) or heads,
            getattr(config, "head_dim", None) or config.hidden_size // heads,
            config.vocab_size,
            bool(getattr(config, "tie_word_embeddings", True)),
        )

    @property
    def weights(self) -> int:
        """Number of weights, without norms and biases."""
        attention = self.hidden_size * self.head_size * 2 * (self.heads + self.key_value_heads)
        block = attention + 3 * self.hidden_size * self.intermediate_size
        return self.layers * block + self.vocabulary * self.hidden_size * (1 if self.tied else 2)

    @property
    def cache_bytes(self) -> int:
        """Keys and values of one token, 2 bytes a number."""
        return 2 * 2 * self.layers * self.key_value_heads * self.head_size


SHAPES: dict[str, ModelShape] = {
    "Qwen/Qwen3-1.7B": ModelShape(2048, 6144, 28, 16, 8, 128, 151_936),
    "Qwen/Qwen3-4B": ModelShape(2560, 9728, 36, 32, 8, 128, 151_936),
}
"""Models that need not be at hand to be planned for."""


@dataclass(frozen=True)
class Gpu:
    """A GPU, from its maker's sheet."""

    memory: float
    """GiB."""
    bandwidth: float
    """TB/s."""
    teraflops: float
    """bfloat16, dense."""


GPUS: dict[str, Gpu] = {"a100": Gpu(80, 2.0, 312), "h100": Gpu(80, 3.35, 989), "h200": Gpu(141, 4.8, 989)}
BANDWIDTH_SHARE, FLOP_SHARE = 0.5, 0.35
"""Shares of the sheet's numbers that decoding and matrix multiplication reach; ours."""


@dataclass(frozen=True)
class Load:
    """How much is played and learned."""

    prompt_tokens: int
    """Tokens of a prompt."""
    reply_tokens: int
    """Tokens of a usual reply."""
    longest_reply: int
    """Cap of a reply."""
    decisions: float
    """Decisions of an episode."""
    episodes: int
    """Episodes of an update."""
    updates: int
    evaluated_episodes: int
    """Episodes of all evaluations together."""
    sft_traces: int
    """Traces learned, epochs counted."""
    micro_batch: int
    """Replies in a forward pass."""
    rows: int = 64
    """Replies sampled together by each GPU."""


@dataclass(frozen=True)
class Estimate:
    """Of one run on some GPUs."""

    weights: int
    state_gib: float
    """Weights, gradients and optimiser of each GPU, the playing copy included where weights are sharded."""
    learning_gib: float
    """Activations and logits of a forward and backward pass."""
    playing_gib: float
    """Keys and values of the replies that are sampled together."""
    sft_hours: float
    playing_hours: float
    learning_hours: float
    evaluation_hours: float

    @property
    def gib(self) -> float:
        """Memory of each GPU: playing and learning take turns."""
        return self.state_gib + max(self.learning_gib, self.playing_gib)

    @property
    def hours(self) -> float:
        """Wall-clock of the run."""
        return self.sft_hours + self.playing_hours + self.learning_hours + self.evaluation_hours

    def lines(self, gpu: str, count: int, *, sharded: bool) -> list[str]:
        """Return the estimate as people read it."""
        room = GPUS[gpu].memory
        fits = "fits" if self.gib < 0.9 * room else "does NOT fit: shard it (see docs/scale.md) or use more GPUs"
        kind = "sharded" if sharded else "whole on each"
        return [
            f"{self.weights / 1e9:.2f} billion weights on {count} x {gpu}, {kind}",
            f"memory of each: {self.gib:.0f} of {room:.0f} GiB, {fits}"
            f" (state {self.state_gib:.0f}, learning {self.learning_gib:.0f}, playing {self.playing_gib:.0f})",
            f"time of a run: {self.hours:.1f} h (SFT {self.sft_hours:.1f}, playing {self.playing_hours:.1f}, "
            f"learning {self.learning_hours:.1f}, evaluation {self.evaluation_hours:.1f})",
        ]


def estimate(shape: ModelShape, load: Load, gpu: str = "h100", count: int = 1, *, sharded: bool = False) -> Estimate:
    """Return what a run takes.

    Args:
        shape: of the model.
        load: how much is played and learned.
        gpu: a name in `GPUS`.
        count: number of GPUs.
        sharded: whether the training state is shared out among them (FSDP, DeepSpeed).

    Raises:
        ValueError: for an unknown GPU or no GPU.
    """
    device = find_gpu(gpu)
    if count < 1:
        raise ValueError(f"count is {count}, must be at least 1")
    weights = shape.weights
    state = 16 * weights / count + 4 * weights if sharded else 16 * weights
    tokens = load.prompt_tokens + load.longest_reply
    kept = load.micro_batch * tokens * shape.hidden_size * 2 * shape.layers
    block = load.micro_batch * tokens * (8 * shape.hidden_size + 3 * shape.intermediate_size) * 2
    logits = (
        load.micro_batch * load.longest_reply * shape.vocabulary * 2 * 2 + load.longest_reply * shape.vocabulary * 8
    )
    cache = load.rows * tokens * shape.cache_bytes
    played, seconds = load.episodes * load.decisions * load.updates, _decision_seconds(shape, load, device)
    flops = FLOP_SHARE * device.teraflops * 1e12 * count
    learned = 8 * weights * (load.prompt_tokens + load.reply_tokens)
    return Estimate(
        weights=weights,
        state_gib=state / GIB,
        learning_gib=(kept + block + logits) / GIB,
        playing_gib=cache / GIB,
        sft_hours=load.sft_traces * learned / flops / 3600,
        playing_hours=played * seconds / count / 3600,
        learning_hours=played * learned / flops / 3600,
        evaluation_hours=load.evaluated_episodes * load.decisions * seconds / count / 3600,
    )


def _decision_seconds(shape: ModelShape, load: Load, device: Gpu) -> float:
    """Return the seconds that one decision takes one GPU: the prompt by arithmetic, each token by memory."""
    reading = 2 * shape.weights * load.prompt_tokens / (FLOP_SHARE * device.teraflops * 1e12)
    filled = load.rows * (load.prompt_tokens + load.reply_tokens / 2) * shape.cache_bytes
    step = (4 * shape.weights + filled) / (BANDWIDTH_SHARE * device.bandwidth * 1e12)
    return reading + load.reply_tokens * step / load.rows


def find_gpu(name: str) -> Gpu:
    """Return a GPU by name; an unknown one raises `ValueError` that names the nearest."""
    return GPUS[check_name("GPU", name, GPUS)]


def find_shape(model: str) -> ModelShape | None:
    """Return the shape of a model that need not be at hand, else None."""
    return SHAPES.get(model)
