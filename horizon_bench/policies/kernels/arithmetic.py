"""Elementwise functions and layer norm, written so that the compiler turns the loops into vector instructions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float32]
_F = np.float32

compiled = njit(fastmath=True, cache=True, error_model="numpy", forceinline=True)
"""Python's own division would check each divisor, which keeps the compiler from using vector instructions.

Inlining is forced, because a function that is called may be vectorised in one way by itself and in another within its
caller; which of the two a process meets would depend on whether it compiled them or read them from the cache, and so
would the last bits of its results.
"""

EPSILON = _F(1e-5)
"""Added to the variance in layer norms."""

_SMALLEST, _LARGEST = _F(-87.0), _F(88.0)
_LOG2_E, _LN2_HIGH, _LN2_LOW = _F(1.4426950408889634), _F(0.693359375), _F(-2.12194440e-4)
_E2, _E3, _E4, _E5, _E6, _E7 = (_F(1 / n) for n in (2, 6, 24, 120, 720, 5040))
_HALF, _ONE, _ZERO = _F(0.5), _F(1.0), _F(0.0)
_BIAS, _MANTISSA = np.int32(127), np.int32(23)

# erf(x) = x P(x^2) / Q(x^2) on [-4, 4]: least squares, reweighted towards equal errors; within 3e-7 in float32.
_P0, _P1, _P2 = _F(1.128378977847233), _F(0.19621805885615412), _F(0.05346329271085596)
_P3, _P4, _P5 = _F(0.004002284089349249), _F(0.0002880037882265137), _F(1.9749771008747835e-06)
_Q1, _Q2, _Q3 = _F(0.5072248991290058), _F(0.11646354781430608), _F(0.015441716786452193)
_Q4, _Q5 = _F(0.0012160158934224408), _F(3.748041904593462e-05)
_ERF_LIMIT = _F(4.0)
_SQRT_HALF, _INVERSE_SQRT_2PI = _F(0.7071067811865476), _F(0.3989422804014327)


@njit(fastmath=True, inline="always", error_model="numpy")
def exponential(x: Any) -> Any:
    """Return e**x within 3e-7 relatively; arguments are cut to [-87, 88]."""
    x = min(max(x, _SMALLEST), _LARGEST)
    power = np.floor(x * _LOG2_E + _HALF)
    rest = x - power * _LN2_HIGH - power * _LN2_LOW
    series = _E7 * rest + _E6
    series = series * rest + _E5
    series = series * rest + _E4
    series = series * rest + _E3
    series = series * rest + _E2
    series = series * rest + _ONE
    series = series * rest + _ONE
    return series * np.int32((np.int32(power) + _BIAS) << _MANTISSA).view(np.float32)


@njit(fastmath=True, inline="always", error_model="numpy")
def normal_cdf(x: Any) -> Any:
    """Return the standard normal distribution function within 2e-7."""
    t = min(max(x * _SQRT_HALF, -_ERF_LIMIT), _ERF_LIMIT)
    u = t * t
    top = ((((_P5 * u + _P4) * u + _P3) * u + _P2) * u + _P1) * u + _P0
    bottom = ((((_Q5 * u + _Q4) * u + _Q3) * u + _Q2) * u + _Q1) * u + _ONE
    return _HALF + _HALF * t * top / bottom


@compiled
def add_bias_gelu(raw: Floats, bias: Floats, out: Floats) -> None:
    """Add the bias to `raw` in place and write GELU of it to `out`; both have shape [rows, width]."""
    for row in range(raw.shape[0]):
        source, target = raw[row], out[row]
        for i in range(bias.size):
            x = source[i] + bias[i]
            source[i] = x
            target[i] = x * normal_cdf(x)


@compiled
def gelu_and_slope(raw: Floats, out: Floats, slope: Floats) -> None:
    """Write GELU of `raw` to `out` and its derivative to `slope`; all have shape [rows, width]."""
    for row in range(raw.shape[0]):
        source, target, derivative = raw[row], out[row], slope[row]
        for i in range(source.size):
            x = source[i]
            share = normal_cdf(x)
            target[i] = x * share
            derivative[i] = share + x * _INVERSE_SQRT_2PI * exponential(-_HALF * x * x)


@compiled
def add_bias(rows: Floats, bias: Floats) -> None:
    """Add a bias to each row in place."""
    for row in range(rows.shape[0]):
        target = rows[row]
        for i in range(bias.size):
            target[i] += bias[i]


@compiled
def add_bias_residual(rows: Floats, bias: Floats, residual: Floats, out: Floats) -> None:
    """Write rows + bias + residual to `out`, all of shape [rows, width]."""
    for row in range(rows.shape[0]):
        a, b, target = rows[row], residual[row], out[row]
        for i in range(bias.size):
            target[i] = a[i] + bias[i] + b[i]


@compiled
def layer_norm(rows: Floats, gain: Floats, bias: Floats, out: Floats, spread: Floats) -> None:
    """Write the layer norm of each row to `out`, and each row's mean and 1 / standard deviation to `spread`.

    Args:
        rows: shape [rows, width].
        gain: shape [width].
        bias: shape [width].
        out: shape [rows, width].
        spread: shape [rows, 2].
    """
    width = gain.size
    share = _ONE / _F(width)
    for row in range(rows.shape[0]):
        source, target = rows[row], out[row]
        total = _ZERO
        for i in range(width):
            total += source[i]
        mean = total * share
        total = _ZERO
        for i in range(width):
            difference = source[i] - mean
            total += difference * difference
        scale = _ONE / np.sqrt(total * share + EPSILON)
        spread[row, 0] = mean
        spread[row, 1] = scale
        for i in range(width):
            target[i] = (source[i] - mean) * scale * gain[i] + bias[i]


@compiled
def layer_norm_backward(
    rows: Floats, spread: Floats, gain: Floats, given: Floats, out: Floats, gain_sum: Floats, bias_sum: Floats
) -> None:
    """Add the gradient of a layer norm to `out`, `gain_sum` and `bias_sum`.

    Args:
        rows: the layer norm's input, shape [rows, width].
        spread: what `layer_norm` wrote.
        gain: shape [width].
        given: gradient of its output, shape [rows, width].
        out: gradient of its input, shape [rows, width].
        gain_sum: gradient of the gain, shape [width].
        bias_sum: gradient of the bias, shape [width].
    """
    width = gain.size
    share = _ONE / _F(width)
    for row in range(rows.shape[0]):
        source, gradient, target = rows[row], given[row], out[row]
        mean, scale = spread[row, 0], spread[row, 1]
        total, product = _ZERO, _ZERO
        for i in range(width):
            normed = (source[i] - mean) * scale
            pushed = gradient[i] * gain[i]
            total += pushed
            product += pushed * normed
            gain_sum[i] += gradient[i] * normed
            bias_sum[i] += gradient[i]
        total *= share
        product *= share
        for i in range(width):
            normed = (source[i] - mean) * scale
            target[i] += scale * (gradient[i] * gain[i] - total - normed * product)


@compiled
def add_column_sums(rows: Floats, sums: Floats) -> None:
    """Add the sum of all rows to `sums`."""
    for row in range(rows.shape[0]):
        source = rows[row]
        for i in range(sums.size):
            sums[i] += source[i]


@compiled
def softmax_rows(scores: Floats, scale: Any, first_hidden: int) -> None:
    """Turn scores into softmax weights in place.

    Args:
        scores: shape [queries, keys].
        scale: factor of the scores.
        first_hidden: query i sees the keys before `first_hidden + i`; the number of keys or more hides none.
    """
    keys = scores.shape[1]
    for query in range(scores.shape[0]):
        row = scores[query]
        seen = min(keys, first_hidden + query)
        largest = row[0]
        for key in range(seen):
            largest = max(largest, row[key])
        total = _ZERO
        for key in range(seen):
            weight = exponential((row[key] - largest) * scale)
            row[key] = weight
            total += weight
        total = _ONE / total
        for key in range(seen):
            row[key] *= total
        for key in range(seen, keys):
            row[key] = _ZERO
