"""Policy-gradient losses over padded tokens; every reduction goes through one masked mean.

Rows are replies, shape [replies, tokens]. Advantages and importance weights never carry gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from horizon_bench.credit.corrections import LOG_RATIO_BOUND
from horizon_bench.extras import extra_needed
from horizon_bench.training.configs import REDUCTIONS, Reduction
from puzzles.names import check_name

with extra_needed():
    import torch
    from torch import Tensor


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
    check_name("reduction", reduction, REDUCTIONS)
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
        kl_coefficient: weight of the penalty on KL(policy, reference): exp(d) - d - 1, d = log(reference / policy).
        old_logprobs: not used; taken so that all losses are called alike.
    """
    factor = _per_token(advantages, mask)
    policy = reduce_tokens(-factor * _per_token(weights, mask) * logprobs, mask, reduction)
    return _with_kl(policy, {}, logprobs, reference_logprobs, mask, kl_coefficient, reduction)


def ppo_token_loss(
    logprobs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    old_logprobs: Tensor,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    weights: Tensor | None = None,
    reduction: Reduction = "token-mean",
    reference_logprobs: Tensor | None = None,
    kl_coefficient: float = 0.0,
) -> LossResult:
    """Return PPO's clipped surrogate with one ratio for each token (arXiv 1707.06347).

    Each token adds -min(r A, clip(r, 1 - clip_low, 1 + clip_high) A), r = pi / pi_old of the token.

    Args:
        logprobs: of the policy being trained, shape [replies, tokens].
        advantages: shape [replies] or [replies, tokens].
        mask: 1 at sampled tokens, shape [replies, tokens].
        old_logprobs: of the policy before this batch's first step, shape [replies, tokens].
        clip_low: how far a ratio may fall below 1 before the gradient stops.
        clip_high: how far it may rise above 1.
        weights: importance weights from a correction (pi_old over the sampler), shape [replies, tokens].
        reduction: how tokens become one number.
        reference_logprobs: the reference policy's, shape [replies, tokens]; only with `kl_coefficient`.
        kl_coefficient: weight of the penalty on KL(policy, reference).
    """
    ratio = _log_ratio(logprobs, old_logprobs, mask).exp()
    policy, metrics = _clipped(ratio, advantages, mask, clip_low, clip_high, weights, reduction)
    return _with_kl(policy, metrics, logprobs, reference_logprobs, mask, kl_coefficient, reduction)


def ppo_sequence_loss(
    logprobs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    old_logprobs: Tensor,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    geometric: bool = True,
    weights: Tensor | None = None,
    reduction: Reduction = "sequence-mean",
    reference_logprobs: Tensor | None = None,
    kl_coefficient: float = 0.0,
) -> LossResult:
    """Return PPO's clipped surrogate with one ratio for each reply.

    With `geometric` the ratio is the geometric mean over the reply's tokens (GSPO, arXiv 2507.18071), else their
    product, that is the ratio of the whole decision. Arguments as in `ppo_token_loss`; every token of a reply carries
    the reply's ratio.
    """
    difference = _log_ratio(logprobs, old_logprobs, mask)
    total = difference.sum(1) / (mask.to(difference.dtype).sum(1).clamp(min=1) if geometric else 1.0)
    ratio = total.clamp(-LOG_RATIO_BOUND, LOG_RATIO_BOUND).exp()[:, None].expand_as(logprobs)
    policy, metrics = _clipped(ratio, advantages, mask, clip_low, clip_high, weights, reduction)
    return _with_kl(policy, metrics, logprobs, reference_logprobs, mask, kl_coefficient, reduction)


def value_loss(
    values: Tensor, targets: Tensor, mask: Tensor, *, old_values: Tensor | None = None, clip: float | None = None
) -> Tensor:
    """Return half the mean squared error of a critic, optionally PPO's clipped form.

    Args:
        values: the critic's output, any shape.
        targets: what it should say (`horizon_bench.credit.critics.critic_targets`), same shape.
        mask: 1 where an entry counts, same shape.
        old_values: its output before this batch's first step; only with `clip`.
        clip: how far a value may move before its gradient stops.
    """
    apart = ~mask.bool()
    squared = (values - targets.detach()).masked_fill(apart, 0.0) ** 2
    if clip is not None:
        if old_values is None:
            raise ValueError(f"clip is {clip}, but old_values are missing; pass them or leave clip out")
        near = old_values.detach() + (values - old_values.detach()).clamp(-clip, clip)
        squared = torch.maximum(squared, (near - targets.detach()).masked_fill(apart, 0.0) ** 2)
    return 0.5 * masked_mean(squared, mask)


def _clipped(
    ratio: Tensor,
    advantages: Tensor,
    mask: Tensor,
    clip_low: float,
    clip_high: float,
    weights: Tensor | None,
    reduction: Reduction,
) -> tuple[Tensor, dict[str, float]]:
    advantage = _per_token(advantages, mask)
    free, held = ratio * advantage, ratio.clamp(1 - clip_low, 1 + clip_high) * advantage
    surrogate = torch.minimum(free, held) * _per_token(weights, mask)
    metrics = {
        "clipped_share": float(masked_mean((held < free).to(ratio.dtype), mask).detach()),
        "ratio_mean": float(masked_mean(ratio, mask).detach()),
    }
    return reduce_tokens(-surrogate, mask, reduction), metrics


def _log_ratio(logprobs: Tensor, old_logprobs: Tensor, mask: Tensor) -> Tensor:
    difference = (logprobs - old_logprobs.detach()).masked_fill(~mask.bool(), 0.0)
    return difference.clamp(-LOG_RATIO_BOUND, LOG_RATIO_BOUND)


def _per_token(numbers: Tensor | None, mask: Tensor) -> Tensor:
    """Return a factor for each token without gradient, 1 where left out; 0 at masked tokens, whatever stood there.

    An infinity left there would come back as NaN: its gradient is multiplied by the 0 of the masked mean.
    """
    if numbers is None:
        return mask.bool()
    spread = numbers.detach()[:, None].expand(mask.shape) if numbers.ndim == 1 else numbers.detach()
    return spread.masked_fill(~mask.bool(), 0.0)


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
    difference = (reference_logprobs.detach() - logprobs).masked_fill(~mask.bool(), 0.0)
    difference = difference.clamp(-LOG_RATIO_BOUND, LOG_RATIO_BOUND)
    penalty = reduce_tokens(difference.exp() - difference - 1.0, mask, reduction)
    return LossResult(policy + coefficient * penalty, metrics | {"kl_to_reference": float(penalty.detach())})


LOSSES: dict[str, Loss] = {
    "reinforce": reinforce_loss,
    "ppo-token": ppo_token_loss,
    "ppo-sequence": ppo_sequence_loss,
}


def find_loss(name: str) -> Loss:
    """Return a loss by name.

    Raises:
        ValueError: if the name is unknown, naming the nearest known one.
    """
    return LOSSES[check_name("loss", name, LOSSES)]
