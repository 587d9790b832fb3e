"""Importance corrections with the conventions of public trainers, to compare with and to reproduce their numbers.

What differs from `horizon_bench.credit.corrections`: verl's newest release applies the bounds of its rejection to the
inverse ratio mu / pi, bounds each token's log-ratio before it sums them, and divides every masked mean by count + 1e-8;
TRL bounds nothing and gives masked tokens the ratio 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from horizon_bench.credit.arrays import as_floats, as_rows
from horizon_bench.credit.batch import BoolArray, FloatArray
from horizon_bench.credit.corrections import LOG_RATIO_BOUND, geometric_ratio, sequence_ratio, token_ratio
from puzzles.names import check_name

Level = Literal["token", "seq_sum", "seq_mean", "seq_max"]
Statistic = Literal["k1", "k2", "k3"]
TrlMode = Literal["token_truncate", "token_mask", "sequence_truncate", "sequence_mask"]

_TINY = 1e-8


@dataclass(frozen=True)
class Rejection:
    """One of verl's rejection rules, such as `seq_mean_k1` with bounds 0.995 and 1.01."""

    level: Level
    statistic: Statistic
    low: float | None
    """Lower bound; only for k1, where None means 1 / high."""
    high: float

    @classmethod
    def parse(cls, names: str, thresholds: str) -> tuple[Rejection, ...]:
        """Return the rules that verl's two settings spell, such as `token_k1,seq_mean_k1` and `0.5_2.0,0.99_1.01`.

        Raises:
            ValueError: if a name is unknown, a bound no number, or the two differ in number.
        """
        rules = []
        kinds, spans = names.split(","), thresholds.split(",")
        if len(kinds) != len(spans):
            raise ValueError(f"{names!r} are {len(kinds)} rules, but {thresholds!r} bounds {len(spans)}; give as many")
        for name, span in zip(kinds, spans, strict=True):
            level, _, statistic = name.strip().rpartition("_")
            check_name("rejection level", level, get_args(Level))
            check_name("rejection statistic", statistic, get_args(Statistic))
            try:
                *lows, high = map(float, span.split("_"))
                (low,) = lows or (None,)
            except ValueError as error:
                raise ValueError(f"bounds {span!r} of {name!r} should read HIGH or LOW_HIGH, in numbers") from error
            rules.append(cls(level, statistic, low, high))  # type: ignore[arg-type]
        return tuple(rules)


def verl_weights(
    logprobs: ArrayLike,
    sampling_logprobs: ArrayLike,
    mask: ArrayLike,
    *,
    level: Literal["token", "sequence"],
    cap: float = 2.0,
    batch_normalized: bool = False,
) -> FloatArray:
    """Return verl's truncated weights: min(rho, cap), rho of the token or of the whole row; 0 where the mask is 0.

    With `batch_normalized` they are divided by their mean, over tokens or over rows that hold tokens.
    """
    logprobs, sampling_logprobs, mask = _prepared(logprobs, sampling_logprobs, mask)
    weights = np.minimum(_ratios(logprobs, sampling_logprobs, mask, level), cap) * mask
    if not batch_normalized:
        return weights
    mean = verl_normalizer(weights, mask, level=level)
    return weights / mean if mean > _TINY else weights


def verl_normalizer(weights: FloatArray, mask: FloatArray, *, level: Literal["token", "sequence"]) -> float:
    """Return the mean that `verl_weights` divides by."""
    if level == "token":
        return _mean(weights, mask)
    rows = mask.sum(axis=1) > 0
    return float(_row_means(weights, mask)[rows].mean()) if rows.any() else 0.0


def verl_rejection_mask(
    logprobs: ArrayLike, sampling_logprobs: ArrayLike, mask: ArrayLike, rules: tuple[Rejection, ...]
) -> FloatArray:
    """Return the mask without the tokens or rows that one of verl's rejection rules drops.

    With d the log-ratio log pi - log mu bounded to +-20: k1 = -d, k2 = d^2 / 2, k3 = exp(d) - 1 - d, each taken for a
    token or summed, averaged or maximised over a row. k1 must lie between the logarithms of the bounds, k2 and k3 at or
    under the upper bound.
    """
    logprobs, sampling_logprobs, mask = _prepared(logprobs, sampling_logprobs, mask)
    difference = np.clip(logprobs - sampling_logprobs, -LOG_RATIO_BOUND, LOG_RATIO_BOUND)
    statistics = {"k1": -difference, "k2": 0.5 * difference**2, "k3": np.exp(difference) - 1 - difference}
    kept = mask.copy()
    for rule in rules:
        value = _aggregate(statistics[rule.statistic], mask, rule.level)
        if rule.statistic == "k1":
            low = 1 / rule.high if rule.low is None else rule.low
            passes = (value >= np.log(low)) & (value <= np.log(rule.high))
        else:
            passes = value <= rule.high
        kept = kept * passes
    return kept


def verl_old_rejection_mask(
    logprobs: ArrayLike,
    sampling_logprobs: ArrayLike,
    mask: ArrayLike,
    *,
    level: Literal["geometric", "sequence", "token"],
    low: float | None,
    high: float,
) -> FloatArray:
    """Return verl's older mask: what has low <= rho <= high stays, rho = pi / mu; low None is 1 / high."""
    logprobs, sampling_logprobs, mask = _prepared(logprobs, sampling_logprobs, mask)
    ratios = {
        "geometric": lambda *arrays: geometric_ratio(*arrays)[:, None],
        "sequence": lambda *arrays: sequence_ratio(*arrays)[:, None],
        "token": token_ratio,
    }
    check_name("level", level, ratios)
    ratio = ratios[level](logprobs, sampling_logprobs, mask > 0)
    return mask * ((ratio >= (1 / high if low is None else low)) & (ratio <= high))


def verl_rejected_shares(mask: ArrayLike, kept: ArrayLike) -> tuple[float, float]:
    """Return the share of tokens dropped and the share of rows that lost a token (of all rows, empty ones included)."""
    mask, kept = as_floats(mask, kept)
    dropped = mask * (kept == 0)
    return _mean(dropped, mask), float((dropped.sum(axis=1) > 0).mean())


def verl_weight_metrics(
    logprobs: ArrayLike,
    sampling_logprobs: ArrayLike,
    mask: ArrayLike,
    *,
    level: Literal["token", "sequence"],
    cap: float = 2.0,
) -> dict[str, float]:
    """Return verl's figures of the weights before truncation.

    `is_mean`, `is_max`, `is_min`, `is_fraction_high` and `_low` (beyond cap and 1 / cap); `is_std` and `ess_fraction`
    are of the weights bounded to [1 / cap, cap].

    Raises:
        ValueError: if the mask holds no token.
    """
    logprobs, sampling_logprobs, mask = _prepared(logprobs, sampling_logprobs, mask)
    ratio = _ratios(logprobs, sampling_logprobs, mask, level) * mask
    chosen = mask > 0
    if not chosen.any():
        raise ValueError("the mask holds no token, so there are no weights to describe")
    bounded = np.clip(ratio, 1 / cap, cap)
    mean = _mean(bounded, mask)
    report = {
        "is_mean": _mean(ratio, mask),
        "is_std": float(np.sqrt(max(_mean(bounded**2, mask) - mean**2, 0.0))),
        "ess_fraction": 1 / _mean((bounded / (mean + _TINY)) ** 2, mask),
    }
    if level == "token":
        return report | {
            "is_max": float(ratio[chosen].max()),
            "is_min": float(ratio[chosen].min()),
            "is_fraction_high": _mean((ratio > cap).astype(np.float64), mask),
            "is_fraction_low": _mean((ratio < 1 / cap).astype(np.float64), mask),
        }
    total = np.where(chosen, logprobs - sampling_logprobs, 0.0).sum(axis=1)
    return report | {
        "is_max": float(np.exp(min(total.max(), LOG_RATIO_BOUND))),
        "is_min": float(np.exp(total.min())),
        "is_fraction_high": float((total > np.log(cap)).mean()),
        "is_fraction_low": float((total < -np.log(cap)).mean()),
    }


def verl_policy_metrics(logprobs: ArrayLike, sampling_logprobs: ArrayLike, mask: ArrayLike) -> dict[str, float]:
    """Return verl's distances of the two policies: KL estimates, perplexities of rows, chi-squared distances.

    A row without tokens counts with logarithm 0. `k3_kl` is not bounded and overflows first.
    """
    logprobs, sampling_logprobs, mask = _prepared(logprobs, sampling_logprobs, mask)
    chosen = mask > 0
    difference = np.where(chosen, logprobs - sampling_logprobs, 0.0)
    bounded = np.clip(difference, -LOG_RATIO_BOUND, LOG_RATIO_BOUND)
    total = np.clip(difference.sum(axis=1), -LOG_RATIO_BOUND, LOG_RATIO_BOUND)
    training, rollout = _row_means(logprobs, mask), _row_means(sampling_logprobs, mask)
    gap = rollout - training
    with np.errstate(over="ignore"):
        k3 = np.exp(difference) - difference - 1
    return {
        "kl": -_mean(difference, mask),
        "k3_kl": _mean(k3, mask),
        "training_log_ppl": -float(training.mean()),
        "rollout_log_ppl": -float(rollout.mean()),
        "log_ppl_diff": float(gap.mean()),
        "log_ppl_abs_diff": float(np.abs(gap).mean()),
        "ppl_ratio": float(np.exp(gap).mean()),
        "chi2_token": _mean(np.exp(2 * bounded), mask) - 1,
        "chi2_seq": float(np.exp(2 * total).mean()) - 1,
    }


def trl_weights(
    logprobs: ArrayLike,
    sampling_logprobs: ArrayLike,
    mask: ArrayLike,
    *,
    mode: TrlMode = "sequence_mask",
    low: float | None = None,
    high: float | None = 3.0,
) -> FloatArray:
    """Return TRL's ratio pi / mu, truncated into the bounds or set to 0 outside them.

    A masked token, or one whose sampling log-probability is missing (NaN), has log-ratio 0. Nothing is bounded: a ratio
    that overflows is infinite, then truncated or masked.

    Returns:
        Shape [rows, tokens] in the token modes (masked tokens have ratio 1, then truncated like the others), [rows, 1]
        in the sequence modes.
    """
    check_name("mode", mode, get_args(TrlMode))
    logprobs, sampling_logprobs, mask = as_floats(logprobs, sampling_logprobs, mask)
    difference = np.nan_to_num((logprobs - sampling_logprobs) * mask, nan=0.0, posinf=np.inf, neginf=-np.inf)
    if mode.startswith("sequence"):
        difference = difference.sum(axis=1, keepdims=True)
    with np.errstate(over="ignore"):
        ratio = np.exp(difference)
    lowest, highest = -np.inf if low is None else low, np.inf if high is None else high
    if mode.endswith("truncate"):
        return np.asarray(np.clip(ratio, lowest, highest), dtype=np.float64)
    return np.where((ratio < lowest) | (ratio > highest), 0.0, ratio)


def _prepared(logprobs: ArrayLike, sampling_logprobs: ArrayLike, mask: ArrayLike) -> tuple[FloatArray, ...]:
    """Return floats, with 0 for the log-probabilities of masked tokens, whatever stood there.

    Raises:
        ValueError: if the shapes differ or are not [rows, tokens].
    """
    logprobs, sampling_logprobs, mask = as_rows(logprobs, sampling_logprobs, mask)
    return np.where(mask > 0, logprobs, 0.0), np.where(mask > 0, sampling_logprobs, 0.0), mask


def _ratios(logprobs: FloatArray, sampling_logprobs: FloatArray, mask: FloatArray, level: str) -> FloatArray:
    check_name("level", level, ("token", "sequence"))
    chosen: BoolArray = mask > 0
    if level == "token":
        return token_ratio(logprobs, sampling_logprobs, chosen)
    return np.repeat(sequence_ratio(logprobs, sampling_logprobs, chosen)[:, None], mask.shape[1], axis=1)


def _aggregate(values: FloatArray, mask: FloatArray, level: Level) -> FloatArray:
    if level == "token":
        return values
    if level == "seq_sum":
        return np.asarray((values * mask).sum(axis=1, keepdims=True), dtype=np.float64)
    if level == "seq_mean":
        return _row_means(values, mask)[:, None]
    highest = np.where(mask > 0, values, -np.inf).max(axis=1, keepdims=True)
    return np.where(np.isneginf(highest), 0.0, highest)


def _mean(values: FloatArray, mask: FloatArray) -> float:
    return float((values * mask).sum() / (mask.sum() + _TINY))


def _row_means(values: FloatArray, mask: FloatArray) -> FloatArray:
    return np.asarray((values * mask).sum(axis=1) / (mask.sum(axis=1) + _TINY), dtype=np.float64)
