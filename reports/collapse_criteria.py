"""The single criteria of collapse, each a pure function from a run's curves to what it saw.

Every criterion is causal: what it says of an update depends on no later one, so that the same function serves a
finished run and, over the rows so far, a running one. `reports.collapse` turns sightings into records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class CollapseThresholds:
    """Thresholds of all criteria. None is published as a rule for this setting; the sources say what suggested them."""

    drawdown_share: float = 0.5
    """Share of the learned gain (`success-drawdown`) or of the peak (`success-halved`) whose loss counts. Ours."""
    drawdown_evaluations: int = 3
    """Evaluations in a row that must stay below. Ours."""
    drawdown_gain: float = 0.1
    """Smallest gain or peak whose loss counts, as a success rate. Ours."""
    drawdown_errors: float = 4.0
    """Standard errors of drawing puzzles that the loss must exceed, so that noise raises no alarm. Ours, from simulated
    flat curves."""
    drawdown_training_errors: float = 4.5
    """The same for the noise of training, in `success-drawdown`. Ours, from simulated curves."""
    halved_training_errors: float = 3.0
    """The same in `success-halved`, where the size of the loss itself rules most noise out. Ours."""
    peak_evaluations: int = 3
    """Evaluations averaged before a rate counts as reached. Ours."""
    floor_success: float = 0.01
    """Success rate under which a run counts as dead. From the horizon-length study's plots."""
    floor_evaluations: int = 5
    """Evaluations in a row under the floor. Ours."""
    floor_reached: float = 0.05
    """Success rate that must have been reached before: what was never learned cannot collapse. Ours."""
    early_updates: int = 10
    """Updates whose mean is the reference of the next criteria. Ours."""
    spread_share: float = 0.1
    """Share of the early within-group reward deviation under which groups carry no signal. Ours."""
    spread_updates: int = 10
    """Updates in a row with so little spread. Ours."""
    spread_success: float = 0.9
    """Rollout success above which little spread is a sign of mastery, not of collapse. Ours."""
    share_rise: float = 0.3
    """Rise of the capped or invalid share over its early mean. Ours."""
    share_updates: int = 5
    """Updates in a row with such a share. Ours."""
    gradient_multiple: float = 10.0
    """Multiple of the rolling median of the gradient norm. Ours."""
    gradient_window: int = 20
    """Updates before the current one that the rolling median covers. Ours."""
    gradient_updates: int = 2
    """Updates in a row with such a norm. Ours."""
    sample_share: float = 0.3
    """Effective sample size over samples. From practice with importance-weighted training."""
    sample_updates: int = 3
    """Updates in a row with fewer. Ours."""
    masked_share: float = 0.5
    """Share of the replies that the importance correction masks, above which the rest is a biased sample. Ours."""
    masked_updates: int = 1
    """Updates in a row with more. Ours."""
    kl: float = 0.1
    """Absolute divergence, in nats a token, of the trained from the sampling policy. From practice, as above."""
    kl_updates: int = 3
    """Updates in a row with more. Ours."""
    entropy_low: float = 0.1
    """Share of the early entropy that counts as too low. Ours."""
    entropy_high: float = 3.0
    """Multiple of the early entropy that counts as too high. Ours."""
    entropy_updates: int = 10
    """Updates in a row out of the band. Ours."""
    rollout_block: int = 5
    """Updates whose rollouts together count as one evaluation on the training levels. Ours."""

    def __post_init__(self) -> None:
        """Refuse thresholds that could never or always be met."""
        for name, value in vars(self).items():
            if not value > 0:
                raise ValueError(f"collapse threshold {name} must be above 0, not {value!r}")


@dataclass(frozen=True)
class SuccessCurve:
    """Success rate of one run over its evaluations."""

    level: str
    """Level evaluated; `all` for all pooled, `rollout` for the training episodes."""
    updates: tuple[int, ...]
    """Update of each evaluation, rising."""
    success: tuple[float, ...]
    """Success rate at each, 0 to 1."""
    puzzles: tuple[int, ...]
    """Different puzzles behind each rate, which set its sampling error."""


@dataclass(frozen=True)
class RunCurves:
    """All that the detector looks at: success curves and the metrics of each update."""

    success: tuple[SuccessCurve, ...]
    updates: tuple[int, ...]
    """Index of each training update, rising."""
    metrics: Mapping[str, FloatArray]
    """Measurements by name, shape [updates]; missing values are NaN, missing names are not looked at."""


@dataclass(frozen=True)
class Sighting:
    """One criterion fulfilled for the first time."""

    level: str
    onset: int
    update: int
    value: float
    threshold: float
    text: str
    """What happened, with `{value}` and `{threshold}` to fill in."""


Criterion = Callable[[RunCurves, CollapseThresholds], list[Sighting]]


def success_drawdown(run: RunCurves, limits: CollapseThresholds) -> list[Sighting]:
    """Return where success lost half of what training had added and did not regain it."""
    text = "success fell to {value:.1%}, below {threshold:.1%}, losing more than half of the gain since the start"
    return _lasting_losses(run, limits, text, from_start=True)


def success_halved(run: RunCurves, limits: CollapseThresholds) -> list[Sighting]:
    """Return where success fell below half of a rate it had reached, whoever had reached it, and stayed there."""
    text = "success fell to {value:.1%}, below {threshold:.1%}, half of the rate already reached"
    return _lasting_losses(run, limits, text, from_start=False)


def success_floor(run: RunCurves, limits: CollapseThresholds) -> list[Sighting]:
    """Return where a run that had learned something succeeds at next to nothing."""
    sightings = []
    for curve in run.success:
        success = np.asarray(curve.success)
        reached = np.maximum.accumulate(_smooth(success, limits.peak_evaluations)) if len(success) else success
        low = (success < limits.floor_success) & (reached >= limits.floor_reached)
        found = _sustained(low, limits.floor_evaluations)
        if found and _exceeds_noise(curve, found, float(reached[found[0]]), limits, limits.halved_training_errors):
            onset, now = found
            text = "success stayed at {value:.1%}, under {threshold:.1%}"
            values = (float(success[onset : now + 1].mean()), limits.floor_success)
            sightings.append(Sighting(curve.level, curve.updates[onset], curve.updates[now], *values, text))
    return sightings


def group_spread(run: RunCurves, limits: CollapseThresholds) -> list[Sighting]:
    """Return where the rewards within a group became alike, so that group baselines leave no signal."""
    spread, success = run.metrics.get("group_reward_std"), run.metrics.get("success")
    if spread is None or len(spread) <= limits.early_updates:
        return []
    early = _early_mean(spread, limits)
    mastered = np.zeros(len(spread), bool) if success is None else success > limits.spread_success
    low = _after_early(spread < limits.spread_share * early, limits) & ~mastered
    text = "deviation of rewards within groups at {value:.3g}, under {threshold:.3g}"
    return _metric_sightings(run, low, limits.spread_updates, spread, limits.spread_share * early, text)


def capped_share(run: RunCurves, limits: CollapseThresholds) -> list[Sighting]:
    """Return where replies began to run into the token cap."""
    return _share_jump(
        run, limits, "capped_share", "share of replies at the token cap {value:.1%}, over {threshold:.1%}"
    )


def invalid_share(run: RunCurves, limits: CollapseThresholds) -> list[Sighting]:
    """Return where actions began to be illegal."""
    return _share_jump(run, limits, "invalid_share", "share of illegal actions {value:.1%}, over {threshold:.1%}")


def gradient_norm(run: RunCurves, limits: CollapseThresholds) -> list[Sighting]:
    """Return where the gradient norm exceeded a multiple of the median of the updates before."""
    norm = run.metrics.get("gradient_norm")
    if norm is None:
        return []
    medians = np.full(len(norm), np.inf)
    for now in range(limits.early_updates, len(norm)):
        before = norm[max(0, now - limits.gradient_window) : now]
        medians[now] = np.median(before[np.isfinite(before)]) if np.isfinite(before).any() else np.inf
    thresholds = limits.gradient_multiple * medians
    high = np.isfinite(norm) & (norm > thresholds)
    text = "gradient norm {value:.3g}, over {threshold:.3g}"
    return _metric_sightings(run, high, limits.gradient_updates, norm, thresholds, text)


def sample_size(run: RunCurves, limits: CollapseThresholds) -> list[Sighting]:
    """Return where importance weights left too small an effective sample."""
    share = run.metrics.get("effective_sample_size")
    if share is None:
        return []
    text = "effective sample size {value:.1%} of the samples, under {threshold:.1%}"
    return _metric_sightings(run, share < limits.sample_share, limits.sample_updates, share, limits.sample_share, text)


def masked_share(run: RunCurves, limits: CollapseThresholds) -> list[Sighting]:
    """Return where the importance correction masked most of a batch."""
    share = run.metrics.get("masked_share")
    if share is None:
        return []
    text = "share of masked replies {value:.1%}, over {threshold:.1%}"
    return _metric_sightings(run, share > limits.masked_share, limits.masked_updates, share, limits.masked_share, text)


def divergence(run: RunCurves, limits: CollapseThresholds) -> list[Sighting]:
    """Return where the trained policy drifted away from the one that sampled."""
    kl = run.metrics.get("approximate_kl")
    if kl is None:
        return []
    text = "divergence from the sampling policy {value:.3g} nats, over {threshold:.3g}"
    return _metric_sightings(run, np.abs(kl) > limits.kl, limits.kl_updates, kl, limits.kl, text)


def entropy_low(run: RunCurves, limits: CollapseThresholds) -> list[Sighting]:
    """Return where the policy became nearly deterministic."""
    return _entropy(run, limits, limits.entropy_low, "under", lambda value, bound: value < bound)


def entropy_high(run: RunCurves, limits: CollapseThresholds) -> list[Sighting]:
    """Return where the policy became nearly random."""
    return _entropy(run, limits, limits.entropy_high, "over", lambda value, bound: value > bound)


def not_finite(run: RunCurves, limits: CollapseThresholds) -> list[Sighting]:
    """Return where the loss or the gradient norm was no longer a finite number (recorded as such, not missing)."""
    sightings = []
    for name in ("loss", "gradient_norm"):
        values = run.metrics.get(f"{name}:given")
        if values is not None and (found := _sustained(~np.isfinite(values), 1)):
            now = run.updates[found[0]]
            text = f"{name.replace('_', ' ')} was {{value}}, not a finite number"
            sightings.append(Sighting("rollout", now, now, float(values[found[0]]), float("inf"), text))
    return sightings


def _lasting_losses(run: RunCurves, limits: CollapseThresholds, text: str, *, from_start: bool) -> list[Sighting]:
    """Return the losses on all curves, of the gain since the start or of the whole rate."""
    sightings = (_lasting_loss(curve, limits, text, from_start) for curve in run.success)
    return [sighting for sighting in sightings if sighting is not None]


def _lasting_loss(curve: SuccessCurve, limits: CollapseThresholds, text: str, from_start: bool) -> Sighting | None:
    """Return the first lasting loss of a rate reached, measured from the curve's start or from zero."""
    success, keep = np.asarray(curve.success, dtype=np.float64), limits.drawdown_evaluations
    smooth = _smooth(success, limits.peak_evaluations)
    for now in range(keep, len(success)):
        first = now - keep + 1
        peak = float(smooth[:first].max())
        base = float(success[0]) if from_start else 0.0
        threshold = peak - limits.drawdown_share * (peak - base)
        if peak - base < limits.drawdown_gain or (success[first : now + 1] >= threshold).any():
            continue
        errors = limits.drawdown_training_errors if from_start else limits.halved_training_errors
        if _exceeds_noise(curve, (first, now), peak, limits, errors):
            lately = float(success[first : now + 1].mean())
            return Sighting(curve.level, curve.updates[first], curve.updates[now], lately, threshold, text)
    return None


def _exceeds_noise(
    curve: SuccessCurve, stretch: tuple[int, int], peak: float, limits: CollapseThresholds, training_errors: float
) -> bool:
    """Return whether the mean success over a stretch lies further under `peak` than noise explains.

    The noise of one evaluation has two sources: drawing puzzles, which is binomial, and training itself, which the
    curve's second differences up to the stretch show; a steady rise or fall leaves those small.
    """
    first, now = stretch
    puzzles = max(1, min(curve.puzzles[first : now + 1]))
    middle = min(max(peak, 0.5 / puzzles), 1 - 0.5 / puzzles)
    drawing = float(np.sqrt(middle * (1 - middle) / puzzles))
    bends = np.diff(np.asarray(curve.success[:first]), n=2)
    training = float(np.sqrt(np.mean(bends**2) / 6)) if len(bends) >= 2 else 0.0
    needed = max(limits.drawdown_errors * drawing, training_errors * training)
    lately = np.mean(curve.success[first : now + 1])
    return bool(peak - lately > needed * np.sqrt(1 / limits.peak_evaluations + 1 / (now - first + 1)))


def _smooth(values: FloatArray, window: int) -> FloatArray:
    """Return the mean of each value and up to `window - 1` before it."""
    sums = np.cumsum(np.concatenate([[0.0], values]))
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(0, ends - window)
    return np.asarray((sums[ends] - sums[starts]) / (ends - starts), dtype=np.float64)


def _sustained(flags: BoolArray, length: int) -> tuple[int, int] | None:
    """Return first and last index of the first `length` true flags in a row."""
    run = 0
    for index, flag in enumerate(flags):
        run = run + 1 if flag else 0
        if run >= length:
            return index - length + 1, index
    return None


def _early_mean(values: FloatArray, limits: CollapseThresholds) -> float:
    early = values[: limits.early_updates]
    return float(early[np.isfinite(early)].mean()) if np.isfinite(early).any() else float("nan")


def _after_early(flags: BoolArray, limits: CollapseThresholds) -> BoolArray:
    return np.asarray(flags & (np.arange(len(flags)) >= limits.early_updates))


def _metric_sightings(
    run: RunCurves, flags: BoolArray, length: int, values: FloatArray, thresholds: FloatArray | float, text: str
) -> list[Sighting]:
    found = _sustained(flags, length)
    if found is None:
        return []
    onset, now = found
    threshold = float(np.broadcast_to(thresholds, values.shape)[now])
    return [Sighting("rollout", run.updates[onset], run.updates[now], float(values[now]), threshold, text)]


def _share_jump(run: RunCurves, limits: CollapseThresholds, name: str, text: str) -> list[Sighting]:
    share = run.metrics.get(name)
    if share is None or len(share) <= limits.early_updates:
        return []
    threshold = _early_mean(share, limits) + limits.share_rise
    return _metric_sightings(run, _after_early(share > threshold, limits), limits.share_updates, share, threshold, text)


def _entropy(
    run: RunCurves,
    limits: CollapseThresholds,
    factor: float,
    word: str,
    beyond: Callable[[FloatArray, float], BoolArray],
) -> list[Sighting]:
    entropy = run.metrics.get("entropy")
    if entropy is None or len(entropy) <= limits.early_updates:
        return []
    threshold = factor * _early_mean(entropy, limits)
    flags = _after_early(beyond(entropy, threshold), limits)
    text = f"entropy {{value:.3g}} nats, {word} {{threshold:.3g}}"
    return _metric_sightings(run, flags, limits.entropy_updates, entropy, threshold, text)


CRITERIA: dict[str, Criterion] = {
    "success-drawdown": success_drawdown,
    "success-halved": success_halved,
    "success-floor": success_floor,
    "not-finite": not_finite,
    "invalid-share": invalid_share,
    "capped-share": capped_share,
    "group-spread": group_spread,
    "gradient-norm": gradient_norm,
    "sample-size": sample_size,
    "masked-share": masked_share,
    "divergence": divergence,
    "entropy-low": entropy_low,
    "entropy-high": entropy_high,
}
"""Every criterion by name."""

FATAL = ("success-drawdown", "success-halved", "success-floor", "not-finite")
"""Criteria that alone make a run a collapsed one; the others are warnings, symptoms that often come with it."""
