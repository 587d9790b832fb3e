"""Supervised fine-tuning of the small model on expert traces, through `trl.SFTTrainer`.

Rows are token ids and labels made here; nothing is tokenised by the trainer. One model learns all interfaces from the
same boards, told apart by the mode token; how well it acts in each is measured afterwards.
"""

from __future__ import annotations

import math
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from horizon_bench.extras import extra_needed
from horizon_bench.milestones.field import Guide
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.policies.tiny_fast import is_fast
from horizon_bench.policies.vocabulary import FEEDBACK
from horizon_bench.training.collator import IGNORED, RowLayout, SharedPrefixCollator
from horizon_bench.training.configs import SftConfig
from horizon_bench.training.halves import HALF_MODES, measure_halves
from horizon_bench.training.shared_prefix import shared_prefix_losses
from horizon_bench.training.traces import MODE_TOKENS, TargetWriter, expert_states
from puzzles.base import Puzzle

with extra_needed():
    import torch
    import torch.nn.functional as F  # noqa: N812
    from datasets import Dataset
    from torch import Tensor
    from transformers import PrinterCallback, TrainerCallback
    from trl import SFTConfig as TrlConfig
    from trl import SFTTrainer


class Start(Protocol):
    """What SFT needs of an instance."""

    @property
    def start(self) -> str:
        """The start as `Puzzle.format` writes it."""


Progress = Callable[[float], None]
"""Told the share of a training's steps that are done."""


def untold(share: float) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class SftReport:
    """What SFT did."""

    losses: tuple[float, ...]
    """Mean loss of each tenth of the training, in nats per (weighted) token."""
    accuracy: dict[str, float]
    """Shares by mode and kind, such as `atomic_first_action`; see `measure`."""
    states: int
    """States that the model was trained on."""
    tokens: int
    """Reply tokens that were learned."""
    seconds: float
    """Wall-clock of the training, traces included."""


def train_sft(
    policy: TinyPolicy,
    puzzle: Puzzle[Any, Any],
    instances: Sequence[Start],
    config: SftConfig,
    progress: Progress = untold,
) -> SftReport:
    """Train the policy's model in place and return the report.

    Args:
        policy: the small model and its tokenizer.
        puzzle: the rules of the instances.
        instances: training instances; their expert walks give the states.
        config: every choice.
        progress: told the share of the steps that are done, now and then.

    Raises:
        ValueError: without instances, or if a reply of the traces is longer than the model's longest.
    """
    if not instances:
        raise ValueError("SFT needs at least one instance")
    started = time.perf_counter()
    seeds = np.random.SeedSequence(config.seed).spawn(3)
    rows, layout = build_rows(policy, puzzle, instances, config, np.random.default_rng(seeds[0]))
    losses = LossLog(progress)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder, restored_generators():
        arguments = trainer_arguments(config, folder, int(seeds[1].generate_state(1)[0]) // 2)
        trainer = WeightedTrainer(
            action_weight=config.action_weight,
            thought_end=policy.marks.thought_end,
            end=policy.marks.end,
            model=policy.model,
            args=arguments,
            train_dataset=rows,
            data_collator=SharedPrefixCollator(layout),
            processing_class=policy.tokenizer,
            callbacks=[losses],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    policy.model.__dict__.pop("forward", None)  # the head that the trainer bound to the instance
    policy.model.eval()
    accuracy = measure(policy, puzzle, instances, config, np.random.default_rng(seeds[2]))
    learned = int((np.array(rows["labels"]) != IGNORED).sum())
    return SftReport(tuple(losses.means), accuracy, len(rows), learned, time.perf_counter() - started)


@contextmanager
def restored_generators() -> Iterator[None]:
    """Put the global generators back as they were: the trainer seeds them all."""
    plain, legacy = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        random.setstate(plain)
        np.random.set_state(legacy)  # noqa: NPY002


def build_rows(
    policy: TinyPolicy,
    puzzle: Puzzle[Any, Any],
    instances: Sequence[Start],
    config: SftConfig,
    rng: np.random.Generator,
) -> tuple[Dataset, RowLayout]:
    """Return one row of ids and labels for each state of the training, and their layout.

    Args:
        policy: gives ids to tokens.
        puzzle: the rules.
        instances: walked again and again, in random order, until there are enough states.
        config: steps, boards, modes and replies.
        rng: order, ties, thoughts, feedback.
    """
    ids, count = policy.ids, config.steps * config.boards
    writer, guide = TargetWriter(puzzle, config.targets, rng), Guide(puzzle, policy.milestone_slots)
    prompts: list[list[int]] = []
    replies: list[list[list[int]]] = []
    while len(prompts) < count:
        order = [instances[index].start for index in rng.permutation(len(instances))]
        for oracle, state in expert_states(puzzle, order, rng, guide.expert):
            feedback = FEEDBACK[rng.integers(1, 3) if rng.random() < config.feedback_share else 0]
            board = (*puzzle.compact(state), feedback, *guide.tokens(oracle, state))
            prompts.append([ids[token] for token in board])
            replies.append([_reply_ids(policy, reply) for reply in writer.targets(oracle, state, config.modes)])
            if len(prompts) >= 2 * count:
                break
    chosen = rng.permutation(len(prompts))[:count]
    return _dataset(policy, [prompts[index] for index in chosen], [replies[index] for index in chosen])


def _reply_ids(policy: TinyPolicy, reply: tuple[str, ...]) -> list[int]:
    """Return the ids of mode token, reply and end token."""
    longest = policy.model.config.max_reply_tokens
    if len(reply) > longest:
        raise ValueError(
            f"an expert reply has {len(reply)} tokens with its end token, the model writes at most {longest}; "
            "create the policy with a larger max_reply_tokens or ask for shorter macros"
        )
    return [*(policy.ids[token] for token in reply), policy.marks.end]


def _dataset(policy: TinyPolicy, prompts: list[list[int]], replies: list[list[list[int]]]) -> tuple[Dataset, RowLayout]:
    """Return padded rows as a data set of `input_ids` and `labels`."""
    lengths = np.array([[len(reply) for reply in row] for row in replies])
    width = int(lengths.max())
    targets = np.full((*lengths.shape, width), policy.marks.pad, dtype=np.int64)
    for row, slots in enumerate(replies):
        for slot, reply in enumerate(slots):
            targets[row, slot, : len(reply)] = reply
    layout = RowLayout(len(prompts[0]), lengths.shape[1], width)
    ids, labels = layout.pack(np.array(prompts), targets, lengths)
    return Dataset.from_dict({"input_ids": ids, "labels": labels}), layout


QUIET_ARGUMENTS: dict[str, Any] = {
    "packing": False,
    "max_length": None,
    "dataset_kwargs": {"skip_prepare_dataset": True},
    "remove_unused_columns": False,
    "save_strategy": "no",
    "logging_strategy": "steps",
    "report_to": "none",
    "disable_tqdm": True,
    "dataloader_num_workers": 0,
}
"""What every SFT asks of the trainer: rows as they are given, no checkpoints, no reports, no progress bar."""


def trainer_arguments(config: SftConfig, folder: str, seed: int) -> TrlConfig:
    """Return the trainer's arguments: full precision on the CPU, no checkpoints, no reports."""
    return TrlConfig(
        output_dir=folder,
        max_steps=config.steps,
        per_device_train_batch_size=config.boards,
        learning_rate=config.learning_rate,
        lr_scheduler_type="cosine_with_min_lr",
        lr_scheduler_kwargs={"min_lr_rate": config.final_rate},
        warmup_steps=config.warmup_steps,
        weight_decay=config.weight_decay,
        adam_beta2=0.98,
        max_grad_norm=config.gradient_clip,
        seed=seed,
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=None,
        logging_steps=max(1, config.steps // 10),
        dataloader_pin_memory=False,
        **QUIET_ARGUMENTS,
    )


class LossLog(TrainerCallback):
    """Collects the mean losses that the trainer logs, without printing them, and tells how far it is."""

    def __init__(self, progress: Progress) -> None:
        """Begin with nothing."""
        self.means: list[float] = []
        self._progress = progress

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Tell every fiftieth of the way."""
        if state.global_step % max(1, state.max_steps // 50) == 0:
            self._progress(state.global_step / state.max_steps)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **kwargs: Any) -> None:
        """Keep the loss of the last steps."""
        if logs and "loss" in logs:
            self.means.append(float(logs["loss"]))


class WeightedTrainer(SFTTrainer):
    """`SFTTrainer` whose loss weighs the tokens of actions; with weight 1 it is the trainer's own loss."""

    def __init__(self, *, action_weight: float, thought_end: int, end: int, **kwargs: Any) -> None:
        """Remember weight and marks; all else goes to `SFTTrainer`."""
        self.action_weight, self.thought_end, self.end = action_weight, thought_end, end
        super().__init__(**kwargs)

    def compute_loss(
        self, model: Any, inputs: dict[str, Tensor], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """Return the weighted mean loss over the learned tokens of the batch."""
        first = int((inputs["labels"] != IGNORED).any(0).nonzero()[0, 0]) - 1
        if is_fast(model) and not return_outputs:
            return self._fast_loss(model, inputs, first)
        output = model(
            input_ids=inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            position_ids=inputs["position_ids"],
            first_query=first,
        )
        labels = inputs["labels"][:, first + 1 :]
        losses = F.cross_entropy(output.logits[:, :-1].flatten(0, 1), labels.flatten(), reduction="none")
        weights = token_weights(labels, self.action_weight, self.thought_end, self.end)
        loss = (losses * weights.flatten()).sum() / weights.sum().clamp(min=1.0)
        return (loss, output) if return_outputs else loss

    def _fast_loss(self, model: Any, inputs: dict[str, Tensor], prefix: int) -> Tensor:
        """Return the same loss by the compiled kernels."""
        losses, row, column = shared_prefix_losses(
            model, inputs["input_ids"], inputs["labels"], inputs["position_ids"], prefix
        )
        weights = token_weights(inputs["labels"], self.action_weight, self.thought_end, self.end)[row, column]
        return (losses * weights).sum() / weights.sum().clamp(min=1.0)


def token_weights(labels: Tensor, action_weight: float, thought_end: int, end: int) -> Tensor:
    """Return the weight of every label: 0 if ignored, `action_weight` in actions, else 1, shape of `labels`.

    Args:
        labels: ids, or -100 where nothing is learned; between two replies of a row stands at least one -100.
        action_weight: weight of tokens after `</think>`, or of all tokens of a reply without a thought.
        thought_end: id of `</think>`.
        end: id of the end token, which counts 1.
    """
    learned = labels != IGNORED
    closes = torch.cat([labels == thought_end, torch.zeros_like(labels[:, :1], dtype=torch.bool)], 1).flip(1)
    pauses = torch.cat([~learned, torch.ones_like(labels[:, :1], dtype=torch.bool)], 1).flip(1)
    steps = torch.arange(closes.shape[1])
    last_close = torch.where(closes, steps, -1).cummax(1).values
    last_pause = torch.where(pauses, steps, -1).cummax(1).values
    thinking = (last_close > last_pause).flip(1)[:, :-1]
    weights = learned.float()
    return torch.where(learned & ~thinking & (labels != end), weights * action_weight, weights)


def measure(
    policy: TinyPolicy,
    puzzle: Puzzle[Any, Any],
    instances: Sequence[Start],
    config: SftConfig,
    rng: np.random.Generator,
) -> dict[str, float]:
    """Return how well each mode acts on states of expert walks, sampled at the policy's temperature, no slips.

    Per mode: `<mode>_format` (readable replies), `<mode>_thought` (true ones among them, with thoughts),
    `<mode>_first_action` and `<mode>_action` (right actions among the first and among all that were written; right
    means legal and on a shortest way), `<mode>_length` (actions in a readable reply). Halves of actions: see
    `measure_halves`.

    Args:
        policy: what is measured.
        puzzle: the rules.
        instances: their expert walks give the states.
        config: number of states, modes and replies.
        rng: states and sampling.
    """
    if not config.accuracy_states:
        return {}
    order = [instances[index].start for index in rng.permutation(len(instances))[: config.accuracy_states]]
    guide = Guide(puzzle, policy.milestone_slots)
    places = list(expert_states(puzzle, order, rng, guide.expert))
    places = [places[index] for index in rng.permutation(len(places))[: config.accuracy_states]]
    calm = policy.with_sampling(thought_slip=0.0)
    boards = [(*puzzle.compact(state), FEEDBACK[0], *guide.tokens(oracle, state)) for oracle, state in places]
    accuracy: dict[str, float] = {}
    for mode in dict.fromkeys(mode for mode in config.modes if mode not in HALF_MODES):
        prompts = [" ".join((*board, MODE_TOKENS[mode])) for board in boards]
        replies = calm.reply(prompts, (), rng.spawn(len(prompts)))
        graded = [
            grade(puzzle, oracle, state, reply.text) for (oracle, state), reply in zip(places, replies, strict=True)
        ]
        accuracy.update(_summary(mode, graded, thoughts=config.targets.thoughts))
    if set(config.modes) & set(HALF_MODES):
        accuracy.update(measure_halves(calm, puzzle, places, FEEDBACK[0], rng))
    return accuracy


@dataclass(frozen=True)
class Grade:
    """How one reply did."""

    readable: bool
    thought: bool | None
    right: tuple[bool, ...]


def grade(puzzle: Puzzle[Any, Any], oracle: Any, state: Any, text: str) -> Grade:
    """Return the grade of one reply; actions after a wrong one are judged on the board without it."""
    thought, closed, body = text.rpartition("</think>")
    verdict = puzzle.check_thought(state, thought.replace("<think>", "")) if closed else None
    tokens, right = body.split(), []
    while tokens:
        for width in (3, 2, 1):
            moves = puzzle.parse_action(" ".join(tokens[:width])) if len(tokens) >= width else None
            if moves:
                break
        else:
            return Grade(False, verdict, ())
        tokens = tokens[width:]
        for move in moves:
            after = puzzle.apply(state, move) if puzzle.refusal(state, move) is None else None
            here = oracle.distance_to_go(state)
            right.append(after is not None and oracle.distance_to_go(after) == here - 1)
            if right[-1]:
                state = after
    return Grade(bool(right), verdict, tuple(right))


def _summary(mode: str, graded: Sequence[Grade], *, thoughts: bool) -> dict[str, float]:
    """Return the shares of one mode."""
    readable = [grade for grade in graded if grade.readable]
    actions = [right for grade in readable for right in grade.right]

    def share(values: Sequence[Any]) -> float:
        return float(np.mean(values)) if len(values) else math.nan

    summary = {
        f"{mode}_format": share([grade.readable for grade in graded]),
        f"{mode}_first_action": share([grade.right[0] for grade in readable]),
        f"{mode}_action": share(actions),
        f"{mode}_length": share([len(grade.right) for grade in readable]),
    }
    if thoughts:
        summary[f"{mode}_thought"] = share([grade.thought is True for grade in readable])
    return summary
