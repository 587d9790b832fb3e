"""Importance corrections: weights that make up for sampling from another distribution than the one being trained.

Every correction is a pure function of two padded arrays of token log-probabilities, the trained policy's (pi) and the
sampler's (mu), and a mask; it returns one weight for each token, 0 where the mask is 0. Corrections compose by
multiplication: `"sequence-truncation+geometric-mask"` is the horizon-length study's
`w = 1[low <= rho_geo <= high] * min(rho_seq, cap)` (arXiv 2605.02572).
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from horizon_bench.credit.arrays import divide
from horizon_bench.credit.batch import BoolArray, FloatArray
from puzzles.names import check_name

Correction = Callable[..., FloatArray]
"""`f(logprobs, sampling_logprobs, mask, **options)`, arrays of shape [replies, tokens]; returns such weights."""

LOG_RATIO_BOUND = 20.0
"""Logarithms of ratios are held within plus or minus this, so that no exponential overflows."""

_ENDLESS = 1e200
"""What an infinite log-ratio counts as: far beyond the bound, yet every sum of such numbers is a number."""

GEOMETRIC_LOW, GEOMETRIC_HIGH = 0.995, 1.01
SEQUENCE_CAP = 3.0

_log = logging.getLogger(__name__)


def log_ratios(logprobs: NDArray[np.floating], sampling_logprobs: NDArray[np.floating], mask: BoolArray) -> FloatArray:
    """Return log pi - log mu of each token in float64, 0 where the mask is 0 or a number is missing (NaN).

    An impossible token (log-probability minus infinity) counts with a huge but finite ratio, so that sums stay numbers.

    Raises:
        ValueError: if the shapes differ or are not [replies, tokens].
    """
    logprobs, sampling_logprobs, mask = np.asarray(logprobs), np.asarray(sampling_logprobs), np.asarray(mask)
    if not (logprobs.shape == sampling_logprobs.shape == mask.shape) or mask.ndim != 2:
        raise ValueError(
            "logprobs, sampling_logprobs and mask must share one shape [replies, tokens], got "
            f"{logprobs.shape}, {sampling_logprobs.shape} and {mask.shape}"
        )
    with np.errstate(invalid="ignore"):
        difference = np.subtract(logprobs, sampling_logprobs, dtype=np.float64)
    finite = np.nan_to_num(difference, nan=0.0, posinf=_ENDLESS, neginf=-_ENDLESS)
    return np.where(mask.astype(np.bool_), finite, 0.0)


def sequence_ratio(
    logprobs: NDArray[np.floating], sampling_logprobs: NDArray[np.floating], mask: BoolArray
) -> FloatArray:
    """Return rho_seq of each reply, the product of its tokens' ratios pi / mu, shape [replies]; 1 without tokens."""
    total = log_ratios(logprobs, sampling_logprobs, mask).sum(axis=1)
    return _bounded_exp(total)


def geometric_ratio(
    logprobs: NDArray[np.floating], sampling_logprobs: NDArray[np.floating], mask: BoolArray
) -> FloatArray:
    """Return rho_geo = rho_seq ** (1 / tokens) of each reply, shape [replies]; 1 without tokens."""
    total = log_ratios(logprobs, sampling_logprobs, mask).sum(axis=1)
    mean = total / np.maximum(np.asarray(mask, dtype=np.bool_).sum(axis=1), 1)
    return _bounded_exp(mean)


def token_ratio(logprobs: NDArray[np.floating], sampling_logprobs: NDArray[np.floating], mask: BoolArray) -> FloatArray:
    """Return pi / mu of each token, shape [replies, tokens]; 1 where the mask is 0."""
    return _bounded_exp(log_ratios(logprobs, sampling_logprobs, mask))


def no_correction(
    logprobs: NDArray[np.floating], sampling_logprobs: NDArray[np.floating], mask: BoolArray
) -> FloatArray:
    """Return weight 1 for every token. Biased off policy; no added variance."""
    return token_ratio(sampling_logprobs, sampling_logprobs, mask) * mask


def sequence_truncation(
    logprobs: NDArray[np.floating],
    sampling_logprobs: NDArray[np.floating],
    mask: BoolArray,
    *,
    cap: float = SEQUENCE_CAP,
) -> FloatArray:
    """Return min(rho_seq, cap) for every token of a reply (Seq-TIS). Biased only where the cap bites."""
    return np.minimum(sequence_ratio(logprobs, sampling_logprobs, mask), cap)[:, None] * mask


def geometric_mask(
    logprobs: NDArray[np.floating],
    sampling_logprobs: NDArray[np.floating],
    mask: BoolArray,
    *,
    low: float = GEOMETRIC_LOW,
    high: float = GEOMETRIC_HIGH,
) -> FloatArray:
    """Return 1[low <= rho_geo <= high] for every token of a reply (Geo-MIS).

    With bounds 0 and infinity this is `no_correction`. Biased towards replies the two policies agree on.
    """
    ratio = geometric_ratio(logprobs, sampling_logprobs, mask)
    return ((ratio >= low) & (ratio <= high)).astype(np.float64)[:, None] * mask


def token_truncation(
    logprobs: NDArray[np.floating],
    sampling_logprobs: NDArray[np.floating],
    mask: BoolArray,
    *,
    cap: float = 2.0,
) -> FloatArray:
    """Return min(pi / mu, cap) for each token on its own (token-level TIS). Biased: later tokens are not corrected."""
    return np.minimum(token_ratio(logprobs, sampling_logprobs, mask), cap) * mask


def token_mask(
    logprobs: NDArray[np.floating],
    sampling_logprobs: NDArray[np.floating],
    mask: BoolArray,
    *,
    low: float = 0.5,
    high: float = 2.0,
) -> FloatArray:
    """Return pi / mu for each token, 0 where it lies outside [low, high] (token-level MIS)."""
    ratio = token_ratio(logprobs, sampling_logprobs, mask)
    return np.where((ratio >= low) & (ratio <= high), ratio, 0.0) * mask


CORRECTIONS: dict[str, Correction] = {
    "none": no_correction,
    "sequence-truncation": sequence_truncation,
    "geometric-mask": geometric_mask,
    "token-truncation": token_truncation,
    "token-mask": token_mask,
}


def compose(*corrections: Correction) -> Correction:
    """Return the correction whose weights are the product of the given ones' weights (without options)."""

    def product(logprobs: NDArray[np.floating], sampling_logprobs: NDArray[np.floating], mask: BoolArray) -> FloatArray:
        weights = np.asarray(mask, dtype=np.float64)
        for correction in corrections:
            weights = weights * correction(logprobs, sampling_logprobs, mask)
        return weights

    return product


def find_correction(name: str) -> Correction:
    """Return a correction by name; names joined by `+` are multiplied.

    Raises:
        ValueError: if a name is unknown, naming the nearest known one.
    """
    parts = [CORRECTIONS[check_name("correction", part, CORRECTIONS)] for part in name.split("+")]
    return parts[0] if len(parts) == 1 else compose(*parts)


def correction_report(
    logprobs: NDArray[np.floating], sampling_logprobs: NDArray[np.floating], mask: BoolArray, weights: FloatArray
) -> dict[str, float]:
    """Return how far the two policies are apart and what a correction's weights left over.

    Logs a warning where more than half of the replies are masked out: the update then sees a biased rest.

    Returns:
        `rho_sequence_mean`, `_min`, `_max`; `rho_geometric_mean`, `_min`, `_max`; `rho_token_mean`, `_min`, `_max`;
        `effective_sample_size` (of the replies' mean weights, as a share, 1 for equal weights);
        `masked_share` (of replies that hold tokens, those whose weights are all 0); `masked_token_share`;
        `approximate_kl` (mean of log mu - log pi over tokens).
    """
    chosen, weights = np.asarray(mask, dtype=np.bool_), np.asarray(weights, dtype=np.float64)
    replies = chosen.any(axis=1)
    report: dict[str, float] = {}
    for name, ratio in (
        ("sequence", sequence_ratio(logprobs, sampling_logprobs, mask)[replies]),
        ("geometric", geometric_ratio(logprobs, sampling_logprobs, mask)[replies]),
        ("token", token_ratio(logprobs, sampling_logprobs, mask)[chosen]),
    ):
        report |= {
            f"rho_{name}_mean": float(ratio.mean()) if len(ratio) else 1.0,
            f"rho_{name}_min": float(ratio.min(initial=np.inf)) if len(ratio) else 1.0,
            f"rho_{name}_max": float(ratio.max(initial=0.0)) if len(ratio) else 1.0,
        }
    kept = divide(np.where(chosen, weights, 0.0).sum(axis=1), chosen.sum(axis=1).astype(np.float64))[replies]
    report["effective_sample_size"] = effective_sample_size(kept)
    report["masked_share"] = float((~np.any((weights != 0) & chosen, axis=1)[replies]).mean()) if len(kept) else 0.0
    report["masked_token_share"] = float((weights[chosen] == 0).mean()) if chosen.any() else 0.0
    difference = log_ratios(logprobs, sampling_logprobs, mask)[chosen]
    report["approximate_kl"] = -float(difference.mean()) if len(difference) else 0.0
    if report["masked_share"] > 0.5:
        _log.warning(
            "%.0f %% of the replies are masked out; lower the learning rate or take fewer steps for each batch",
            100 * report["masked_share"],
        )
    return report


def effective_sample_size(weights: FloatArray) -> float:
    """Return (sum w)^2 / (n * sum w^2), 1 for equal weights, 1/n where one counts alone, 0 where none counts."""
    largest = float(np.abs(weights).max(initial=0.0))
    if largest == 0:
        return 0.0
    scaled = weights / largest
    return float(scaled.sum() ** 2 / (len(weights) * (scaled**2).sum()))


def _bounded_exp(logarithm: FloatArray) -> FloatArray:
    return np.asarray(np.exp(np.clip(logarithm, -LOG_RATIO_BOUND, LOG_RATIO_BOUND)), dtype=np.float64)
