"""Every choice of a training run, as frozen records that are checked when they are made. Torch-free."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from horizon_bench.checks import check_least, check_positive
from horizon_bench.credit import Estimator, find_correction, find_estimator
from horizon_bench.training.halves import HALF_MODES
from horizon_bench.training.traces import MODE_TOKENS, TargetSettings
from puzzles.names import check_name

SIGNS = ("both", "positive", "negative")
"""Which advantages an update learns from."""

Reduction = Literal["token-mean", "sequence-mean", "sequence-sum"]
"""`token-mean`: mean over all tokens, long replies weigh more. `sequence-mean`: mean over a reply's tokens, then over
replies. `sequence-sum`: sum over a reply's tokens, then mean over replies (the policy gradient as written)."""

REDUCTIONS = get_args(Reduction)
"""How the tokens of a batch become one number."""

OWN_LOSSES = ("reinforce", "ppo-token", "ppo-sequence")
"""The losses that `LOSSES` holds from the start, which are known without torch."""


@dataclass(frozen=True)
class SftConfig:
    """How the small model learns from expert traces. All defaults are ours."""

    steps: int = 400
    """Optimiser steps."""
    boards: int = 48
    """States in a step; each carries one reply for each entry of `modes`."""
    modes: tuple[str, ...] = ("atomic", "macro", "macro", "fixed")
    """Replies of a state."""
    targets: TargetSettings = field(default_factory=TargetSettings)
    """What the replies look like."""
    learning_rate: float = 6e-3
    """Peak learning rate."""
    final_rate: float = 0.1
    """Learning rate at the end of the cosine, as a share of the peak."""
    warmup_steps: int = 30
    """Steps of linear warm-up."""
    weight_decay: float = 0.01
    """Decoupled weight decay."""
    gradient_clip: float = 1.0
    """Largest gradient norm."""
    action_weight: float = 2.0
    """Weight of the loss at tokens of actions; 1 at thoughts and the end token."""
    feedback_share: float = 0.05
    """Share of prompts whose feedback token is another than `<ok>`, drawn at random."""
    accuracy_states: int = 400
    """States on which the accuracy of each mode is measured afterwards; 0 measures nothing."""
    seed: int = 0
    """Seed of traces, order and measurement."""

    def __post_init__(self) -> None:
        """Check the fields."""
        check_least(self, 1, "steps", "boards")
        check_positive(self, "learning_rate")
        known = (*MODE_TOKENS, *HALF_MODES)
        if not self.modes or not set(self.modes) <= set(known):
            raise ValueError(f"modes {self.modes} must name some of {', '.join(known)}")


@dataclass(frozen=True)
class RolloutConfig:
    """How a rollout batch is made."""

    groups: int = 48
    """Instances in a batch."""
    attempts: int = 4
    """Episodes for each instance, the group size."""
    temperature: float = 0.8
    """Sampling temperature."""
    max_new_tokens: int | None = None
    """Cap of a reply in tokens; the model's longest reply by default."""
    thought_slip: float = 0.0
    """Probability that a thought token is replaced by a random one; the same mixture is trained on."""
    slip_known: bool = True
    """Whether the trainer knows of the slips. If not, it takes every token for one that the model chose: a sampler and
    a trainer that disagree, as where an inference engine and a training framework do."""
    value_rollouts: int = 9
    """Continuations from the state of each decision, for estimators whose values come from rollouts (`vineppo`)."""

    def __post_init__(self) -> None:
        """Check the fields."""
        check_least(self, 1, "groups", "attempts", "value_rollouts")


@dataclass(frozen=True)
class UpdateConfig:
    """How a batch becomes optimiser steps. Defaults follow the horizon-length study where a small model can."""

    updates: int = 80
    """Rollout batches."""
    estimator: str = "reinforce"
    """Name in `ESTIMATORS`, or `module:function`."""
    estimator_options: Mapping[str, Any] = field(default_factory=dict)
    """Keyword arguments of the estimator."""
    signs: str = "both"
    """Advantages that are learned from: `both`, only `positive` ones or only `negative` ones; the others count as 0."""
    correction: str = "sequence-truncation+geometric-mask"
    """Names in `CORRECTIONS`, joined by +."""
    loss: str = "reinforce"
    """Name in `horizon_bench.training.losses.LOSSES`."""
    reduction: str = "sequence-sum"
    """How tokens become one number, a name in `REDUCTIONS`."""
    loss_options: Mapping[str, Any] = field(default_factory=dict)
    """Further keyword arguments of the loss."""
    learning_rate: float = 1e-3
    """Learning rate; ours, for a model of 90,000 weights."""
    warmup_updates: int = 5
    """Updates of linear warm-up."""
    weight_decay: float = 0.0
    """Decoupled weight decay."""
    gradient_clip: float = 1.0
    """Largest gradient norm."""
    epochs: int = 1
    """Passes over each batch."""
    steps_per_epoch: int = 1
    """Optimiser steps in a pass; each sees another part of the batch."""
    micro_batch: int = 1024
    """Most replies in one forward pass; changes nothing but memory and the last bits of float arithmetic."""
    value_rate: float = 1e-3
    """Learning rate of the value head, for estimators with a critic."""
    value_coefficient: float = 0.5
    """Weight of the critic's loss."""
    evaluate_every: int = 0
    """Updates between calls of `on_evaluation`; 0 for none."""
    checkpoint_every: int = 20
    """Updates between checkpoints."""
    keep_checkpoints: int = 2
    """Newest checkpoints to keep; 0 keeps all."""

    def __post_init__(self) -> None:
        """Check the fields and names."""
        check_least(self, 1, "updates", "epochs", "steps_per_epoch", "micro_batch", "checkpoint_every")
        check_positive(self, "learning_rate")
        for name in ("estimator", "correction", "loss", "reduction", "signs"):
            if not isinstance(getattr(self, name), str):
                raise ValueError(f"{name} is chosen by its name, a text, not {getattr(self, name)!r}")
        check_name("signs", self.signs, SIGNS)
        check_name("reduction", self.reduction, REDUCTIONS)
        _check_loss(self.loss)
        _check_options(self.estimator, find_estimator(self.estimator), self.estimator_options)
        find_correction(self.correction)

    def warmth(self, number: int) -> float:
        """Return the share of the learning rates that the update after `number` finished ones takes."""
        return min(1.0, (number + 1) / max(1, self.warmup_updates))


def _check_options(name: str, estimator: Estimator, options: Mapping[str, Any]) -> None:
    """Raise `ValueError` for an option that the estimator does not take; one without a signature is not checked."""
    try:
        parameters = list(inspect.signature(estimator).parameters.values())[1:]
    except (TypeError, ValueError):
        return
    if not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters):
        known = [one.name for one in parameters] or ["(none)"]
        for option in options:
            check_name(f"option of estimator {name!r}", option, known)


def _check_loss(name: str) -> None:
    """Raise `ValueError` for an unknown loss; torch is loaded only for a name that is not one of ours."""
    if name not in OWN_LOSSES:
        from horizon_bench.training.losses import find_loss

        find_loss(name)
