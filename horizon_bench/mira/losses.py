"""What MiRA's policy minimises over replies, and its alternatives: one number for each reply, gradients flow.

Rows are replies. `current`, `reference` and `sampling` are log-probabilities of whole replies, summed over their
tokens: under the policy, under the frozen reference, and under the policy that wrote them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from horizon_bench.credit.corrections import LOG_RATIO_BOUND
from horizon_bench.extras import extra_needed

with extra_needed():
    import torch
    from torch import Tensor

CAP = 3.0
"""Largest importance weight of a reply in `kl_loss`, as in the horizon-length study."""
LARGEST_WEIGHT = 20.0
"""Largest weight of a reply in `awr_loss`, as in the article on AWR (arXiv 1910.00177)."""


@dataclass(frozen=True)
class Replies:
    """What a loss is told of some replies, beside the policy's own log-probabilities; shape [replies] each."""

    reference: Tensor
    sampling: Tensor
    advantages: Tensor
    solved: Tensor
    """1 where the episode reached the goal, else 0."""


def squared_loss(current: Tensor, replies: Replies, beta: float) -> Tensor:
    """Return (beta log(pi / pi_ref) - A)^2 of each reply.

    No importance weight is needed: where A is the advantage over the soft value, beta log E_ref exp(Q / beta), the loss
    is 0 at pi_ref exp(A / beta) whatever the replies were drawn from.
    """
    return (beta * (current - replies.reference) - replies.advantages) ** 2


def kl_loss(current: Tensor, replies: Replies, beta: float) -> Tensor:
    """Return the KL-regularised policy gradient, w (-A log pi + beta / 2 log^2(pi / pi_ref)), w = min(pi / mu, cap).

    The second term is the estimate of KL(pi, pi_ref) whose gradient, and not only whose value, is that of the KL.
    """
    with torch.no_grad():
        weight = (current - replies.sampling).clamp(max=LOG_RATIO_BOUND).exp().clamp(max=CAP)
    return weight * (0.5 * beta * (current - replies.reference) ** 2 - replies.advantages * current)


def awr_loss(current: Tensor, replies: Replies, beta: float) -> Tensor:
    """Return the advantage-weighted regression -exp(A / beta) log pi, the weight capped."""
    return -(replies.advantages / beta).exp().clamp(max=LARGEST_WEIGHT) * current


def bc_loss(current: Tensor, replies: Replies, beta: float) -> Tensor:
    """Return the cloning of successes, -log pi in solved episodes and 0 in others; `beta` counts for nothing."""
    return -replies.solved * current


ReplyLoss = Callable[[Tensor, Replies, float], Tensor]

REPLY_LOSSES: dict[str, ReplyLoss] = {"squared": squared_loss, "kl": kl_loss, "awr": awr_loss, "bc": bc_loss}
"""Losses by the names in `LOSS_NAMES`."""
