"""How far log-probabilities in bfloat16 lie from those in float32, on what a policy itself writes.

An engine that samples in bfloat16 and a trainer that scores in float32 are two distributions. The geometric mask of the
recipe drops replies whose mean token ratio leaves 0.995 to 1.01; this says how many fall to rounding alone.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from horizon_bench.credit.corrections import GEOMETRIC_HIGH, GEOMETRIC_LOW, geometric_ratio
from horizon_bench.envs.settings import Settings
from horizon_bench.extras import extra_needed
from horizon_bench.rollout import Playable, rollout
from horizon_bench.training.batches import ReplyBatch
from horizon_bench.training.scoring import Trainable, batch_logprobs

with extra_needed():
    import torch


def precision_report(
    policy: Trainable, instances: Sequence[Playable], settings: Settings, *, seed: int = 0, micro_batch: int = 16
) -> dict[str, float]:
    """Return the spread of bfloat16 against float32 on the policy's own replies.

    Args:
        policy: sampled in float32.
        instances: played once each.
        settings: the environment's settings.
        seed: of the replies.
        micro_batch: replies in a forward pass.

    Returns:
        `replies`, `tokens`; `ratio_low`, `ratio_median`, `ratio_high`: geometric mean ratio bfloat16 to float32 of a
        reply, its 1st, 50th and 99th percentile; `outside`: share of replies outside the mask's band; `token_error`:
        mean absolute difference of a token's log-probability, in nats.
    """
    batch = ReplyBatch.from_episodes(rollout(policy, instances, settings, seed=seed))
    rough = copy.deepcopy(policy.model).to(torch.bfloat16)
    rows = torch.arange(len(batch))
    exact, rounded = (
        batch_logprobs(policy, model, batch, rows, micro_batch).numpy() for model in (policy.model, rough)
    )
    mask = batch.mask.numpy()
    ratios = geometric_ratio(rounded, exact, mask)
    low, median, high = np.quantile(ratios, [0.01, 0.5, 0.99])
    return {
        "replies": float(len(batch)),
        "tokens": float(mask.sum()),
        "ratio_low": float(low),
        "ratio_median": float(median),
        "ratio_high": float(high),
        "outside": float(np.mean((ratios < GEOMETRIC_LOW) | (ratios > GEOMETRIC_HIGH))),
        "token_error": float(np.abs(rounded - exact)[mask].mean()),
    }
