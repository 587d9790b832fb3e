"""What turns replies and their advantages into a gradient: the core that every trainer of the suite shares.

A batch's loss is a sum of parts. Each part is divided by the replies or tokens of the whole optimiser step, over all
processes, so that micro-batches and processes change nothing but the last bits of float arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from horizon_bench.credit import CreditBatch, correction_report, find_correction, find_estimator
from horizon_bench.credit.batch import FloatArray
from horizon_bench.extras import extra_needed
from horizon_bench.training.batches import ReplyBatch
from horizon_bench.training.configs import UpdateConfig
from horizon_bench.training.losses import find_loss
from horizon_bench.training.team import Team

with extra_needed():
    import torch
    from torch import Tensor


@dataclass(frozen=True)
class Totals:
    """What the loss of one optimiser step is divided by: all its replies, in all processes."""

    replies: int
    tokens: int

    @classmethod
    def of(cls, batch: ReplyBatch, rows: Tensor) -> Totals:
        """Return the totals of the given rows of a batch."""
        return cls(len(rows), int(batch.mask[rows].sum()))


@dataclass(frozen=True)
class Part:
    """One part of an optimiser step's loss."""

    loss: Tensor
    """The part's summand of the whole loss."""
    metrics: dict[str, float]
    """Summands of the loss's metrics."""
    arrays: Arrays
    """What the report on the correction needs."""


class Arrays(NamedTuple):
    """A part's numbers for the report, shape [replies, tokens] each."""

    logprobs: NDArray[np.float32]
    sampling: NDArray[np.float32]
    mask: NDArray[np.bool_]
    weights: FloatArray


class Objective:
    """Estimator, correction, loss and reduction of a configuration."""

    def __init__(self, config: UpdateConfig) -> None:
        """Look the names up.

        Args:
            config: names and options.
        """
        self.config = config
        self.estimator = find_estimator(config.estimator)
        self.correction = find_correction(config.correction)
        self.loss = find_loss(config.loss)

    @property
    def compares(self) -> bool:
        """Whether the loss compares with the log-probabilities before the batch's first step."""
        return self.config.loss != "reinforce"

    def advantages(self, credit: CreditBatch) -> FloatArray:
        """Return the advantage of each decision, of the wanted signs only, shape [turns].

        Raises:
            ValueError: if the estimator gives anything but one finite number for each decision.
        """
        given = self.estimator(credit, **self.config.estimator_options)
        return kept_signs(checked_advantages(given, credit.turns, self.config.estimator), self.config.signs)

    def part(self, logprobs: Tensor, part: ReplyBatch, advantages: Tensor, old: Tensor | None, totals: Totals) -> Part:
        """Return a part's summand of the loss.

        Args:
            logprobs: of the policy being trained, shape [replies, tokens]; gradients flow.
            part: the replies.
            advantages: shape [replies].
            old: log-probabilities before the batch's first step, shape [replies, tokens]; for clipped losses, whose
                correction compares them with the sampler.
            totals: of the optimiser step.
        """
        arrays = self._arrays(logprobs, part, old)
        result = self.loss(
            logprobs,
            advantages,
            part.mask,
            weights=torch.from_numpy(arrays.weights).float().to(logprobs.device),
            reduction=self.config.reduction,
            old_logprobs=old,
            **self.config.loss_options,
        )
        by_tokens = self.config.reduction == "token-mean"
        replies = int(part.mask.any(1).sum())
        share = int(part.mask.sum()) / totals.tokens if by_tokens else replies / totals.replies
        return Part(result.loss * share, {name: value * share for name, value in result.metrics.items()}, arrays)

    def _arrays(self, logprobs: Tensor, part: ReplyBatch, old: Tensor | None) -> Arrays:
        detached = logprobs.detach().cpu().numpy()
        sampling, mask = part.sampling_logprobs.cpu().numpy(), part.mask.cpu().numpy()
        current = detached if old is None else old.cpu().numpy()
        return Arrays(detached, sampling, mask, self.correction(current, sampling, mask))


def shared_parts(batch: ReplyBatch, rows: Tensor, size: int, team: Team) -> list[tuple[Tensor, bool]]:
    """Return this process's micro-batches of some rows, and whether each counts.

    Rows are dealt out in turn, replies of like length together. Every process gets equally many micro-batches, since
    sharded models need all processes in every pass; what is missing is filled up with a row that does not count.

    Args:
        batch: the whole batch.
        rows: the rows of one optimiser step.
        size: most rows of a micro-batch.
        team: the processes.
    """
    ordered = batch.by_length(rows)
    mine = team.share(ordered)
    parts = [(part, True) for part in torch.split(mine, size) if len(part)]
    most = -(-len(ordered[:: team.size]) // size)
    return parts + [(ordered[:1], False)] * (most - len(parts))


def reported(arrays: Sequence[Arrays]) -> dict[str, float]:
    """Return the report on the correction of one optimiser step, its parts put together."""
    width = max(part.mask.shape[1] for part in arrays)
    padded = [[np.pad(array, ((0, 0), (0, width - array.shape[1]))) for array in part] for part in arrays]
    logprobs, sampling, mask, weights = (np.concatenate(parts) for parts in zip(*padded, strict=True))
    return correction_report(logprobs, sampling, mask, weights)


def checked_advantages(advantages: Any, turns: int, estimator: str) -> FloatArray:
    """Return what an estimator gave as floats of shape [turns]; lists and arrays of other number types are converted.

    Args:
        advantages: what the estimator returned.
        turns: decisions of the batch.
        estimator: its name, for the error.

    Raises:
        ValueError: naming the estimator, if these are no numbers, not one for each decision, or not finite.
    """
    wanted = f"estimator {estimator!r} must return one finite number for each of the batch's {turns} decisions"
    try:
        numbers: FloatArray = np.asarray(advantages, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{wanted}, not {type(advantages).__name__} ({error})") from error
    if numbers.shape != (turns,):
        raise ValueError(f"{wanted}, an array of shape ({turns},), but returned shape {numbers.shape}")
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        raise ValueError(f"{wanted}, but returned {numbers[wrong[0]]} for decision {wrong[0]} ({len(wrong)} such)")
    return numbers


def kept_signs(advantages: FloatArray, signs: str) -> FloatArray:
    """Return the advantages of the wanted sign, `positive` or `negative`, and 0 for the others; all with `both`."""
    if signs == "both":
        return advantages
    return np.maximum(advantages, 0.0) if signs == "positive" else np.minimum(advantages, 0.0)
