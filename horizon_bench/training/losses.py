"""Policy-gradient losses over padded tokens; every reduction goes through one masked mean.

Rows are replies, shape [replies, tokens]. Advantages and importance weights never carry gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

Reduction = Literal["token-mean", "sequence-mean", "sequence-sum"]
"""`token-mean`: mean over all tokens, long replies weigh more. `sequence-mean`: mean over a reply's tokens, then over
replies. `sequence-sum`: sum over a reply's tokens, then mean over replies (the policy gradient as written)."""


@dataclass(frozen=True)
class LossResult:
    """A loss to differentiate and the numbers worth recording."""

    loss: Tensor
    """Scalar."""
    metrics: dict[str, float]


Loss = Callable[..., LossResult]


def masked_mean(values: Tensor, mask: Tensor, dim: int | None = None) -> Tensor:
    """Return the mean of the masked-in entries, over all or one dimension; 0 where none is."""
    weight = mask.to(values.dtype)
    kept = torch.where(mask.bool(), values, torch.zeros_like(values))
    if dim is None:
        return kept.sum() / weight.sum().clamp(min=1)
    return kept.sum(dim) / weight.sum(dim).clamp(min=1)


def reduce_tokens(values: Tensor, mask: Tensor, reduction: Reduction) -> Tensor:
    """Return one number from per-token values, shape [replies, tokens]; replies without tokens do not count.

    Raises:
        ValueError: if the reduction is unknown.
    """
    if reduction not in get_args(Reduction):
        raise ValueError(f"unknown reduction {reduction!r}; known: {', '.join(get_args(Reduction))}")
    if reduction == "token-mean":
        return masked_mean(values, mask)
    rows = masked_mean(values, mask, dim=1)
    if reduction == "sequence-sum":
        rows = rows * mask.to(values.dtype).sum(1)
    return masked_mean(rows, mask.bool().any(1))


def reinforce_loss(
    logprobs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    weights: Tensor | None = None,
    reduction: Reduction = "token-mean",
    reference_logprobs: Tensor | None = None,
    kl_coefficient: float = 0.0,
    old_logprobs: Tensor | None = None,
) -> LossResult:
    """Return the loss whose gradient is minus the reduced sum of w * A * grad log pi.

    Args:
        logprobs: log-probability of each sampled token under the policy being trained, shape [replies, tokens].
        advantages: one for each reply, shape [replies], or for each token, shape [replies, tokens].
        mask: 1 at sampled tokens, shape [replies, tokens].
        weights: importance weights from a correction, shape [replies, tokens]; 1 where left out.
        reduction: how tokens become one number.
        reference_logprobs: the reference policy's, shape [replies, tokens]; only with `kl_coefficient`.
        kl_coefficient: weight of the penalty on KL(policy, reference).
        old_logprobs: not used; taken so that all losses are called alike.
    """
    factor = _per_token(advantages, logprobs) * (1.0 if weights is None else weights)
    policy = reduce_tokens(-factor.detach() * logprobs, mask, reduction)
    return _with_kl(policy, {}, logprobs, reference_logprobs, mask, kl_coefficient, reduction)


def _per_token(advantages: Tensor, logprobs: Tensor) -> Tensor:
    return (advantages[:, None].expand_as(logprobs) if advantages.ndim == 1 else advantages).detach()


def _with_kl(
    policy: Tensor,
    metrics: dict[str, float],
    logprobs: Tensor,
    reference_logprobs: Tensor | None,
    mask: Tensor,
    coefficient: float,
    reduction: Reduction,
) -> LossResult:
    metrics = {"policy_loss": float(policy.detach())} | metrics
    if not coefficient:
        return LossResult(policy, metrics)
    if reference_logprobs is None:
        raise ValueError(
            f"kl_coefficient is {coefficient}, but reference_logprobs are missing; pass them or set it to 0"
        )
    difference = (reference_logprobs.detach() - logprobs).masked_fill(~mask.bool(), 0.0).clamp(-20.0, 20.0)
    penalty = reduce_tokens(difference.exp() - difference - 1.0, mask, reduction)
    return LossResult(policy + coefficient * penalty, metrics | {"kl_to_reference": float(penalty.detach())})


LOSSES: dict[str, Loss] = {"reinforce": reinforce_loss}
