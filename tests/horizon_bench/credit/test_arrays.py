from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon_bench.credit.arrays import (
    divide,
    episode_sums,
    group_statistics,
    normalize,
    normalize_groups,
    return_to_go,
    scan_backward,
    whiten,
)


@given(lengths=st.lists(st.integers(0, 9), max_size=12), seed=st.integers(0, 10**6))
@settings(deadline=None, max_examples=50)
def test_the_scan_agrees_with_a_loop_over_each_episode(lengths: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    offsets = np.cumsum([0, *lengths])
    inputs, carry = rng.normal(size=offsets[-1]), rng.normal(size=offsets[-1])
    expected = np.zeros(offsets[-1])
    for start, end in itertools.pairwise(offsets):
        running = 0.0
        for row in range(end - 1, start - 1, -1):
            running = inputs[row] + carry[row] * running
            expected[row] = running
    np.testing.assert_allclose(scan_backward(inputs, carry, offsets), expected, atol=1e-12)


def test_ragged_equals_padded() -> None:
    """Padding with zeros behind an episode's end changes no return."""
    rng = np.random.default_rng(2)
    lengths = np.array([3, 1, 5])
    ragged = rng.normal(size=9)
    padded = np.zeros((3, 5))
    inside = np.arange(5) < lengths[:, None]
    padded[inside] = ragged
    one = return_to_go(ragged, np.append(0, np.cumsum(lengths)), 0.9)
    other = return_to_go(padded.ravel(), np.arange(4) * 5, 0.9)
    np.testing.assert_allclose(one, other[inside.ravel()], atol=1e-12)


def test_episode_sums_count_empty_episodes() -> None:
    assert episode_sums(np.array([1.0, 2, 4]), np.array([0, 0, 2, 3])).tolist() == [0, 3, 4]


def test_statistics_are_spread_back_over_their_groups() -> None:
    found = group_statistics(np.array([1.0, 5, 3, 7]), np.array([9, 4, 9, 4]), ddof=1)
    assert found.count.tolist() == [2, 2, 2, 2]
    assert found.mean.tolist() == [2, 6, 2, 6]
    np.testing.assert_allclose(found.deviation, np.sqrt(2))


def test_weights_count_like_repeated_samples() -> None:
    weighted = group_statistics(np.array([1.0, 4]), np.zeros(2, dtype=np.int64), ddof=1, weights=np.array([3.0, 1]))
    repeated = group_statistics(np.array([1.0, 1, 1, 4]), np.zeros(4, dtype=np.int64), ddof=1)
    np.testing.assert_allclose([weighted.mean[0], weighted.deviation[0]], [repeated.mean[0], repeated.deviation[0]])


@pytest.mark.parametrize("value", [9.025, 0.1, 1e300, -1e-300])
def test_equal_values_have_no_deviation(value: float) -> None:
    values = np.full(7, value)
    assert not normalize(values).any()
    assert not normalize(values + np.array([0, 0, 0, 0, 0, 0, np.spacing(value)])).any()
    assert group_statistics(values, np.zeros(7, dtype=np.int64)).mean[0] == value


def test_a_spread_beside_a_large_offset_is_kept() -> None:
    values = 1e9 + np.array([0.0, 1.0, 2.0])
    np.testing.assert_allclose(normalize(values), normalize(np.array([0.0, 1.0, 2.0])), atol=1e-6)


def test_normalising_groups_agrees_with_each_group_alone() -> None:
    rng = np.random.default_rng(8)
    values, labels = rng.normal(size=20), rng.integers(0, 3, 20)
    found = normalize_groups(values, labels, ddof=1, epsilon=1e-3)
    for label in range(3):
        np.testing.assert_allclose(found[labels == label], normalize(values[labels == label], ddof=1, epsilon=1e-3))


def test_whitening_shifts_masked_entries_too() -> None:
    found = whiten(np.array([[1.0, -1.0, 5.0]]), weights=np.array([[1.0, 1.0, 0.0]]), epsilon=0.0)
    np.testing.assert_allclose(found, np.array([[1.0, -1.0, 5.0]]) / np.sqrt(2))
    assert not whiten(np.ones(3), weights=np.zeros(3)).any()


def test_division_by_zero_gives_zero() -> None:
    assert divide(np.array([1.0, 2.0]), np.array([0.0, 4.0])).tolist() == [0.0, 0.5]


def test_a_missing_number_is_refused_where_it_would_spread() -> None:
    rewards = np.array([0.0, np.nan, 1.0])
    with pytest.raises(ValueError, match="rewards hold NaN at entry 1"):
        return_to_go(rewards, np.array([0, 3]), 1.0)
    with pytest.raises(ValueError, match="values hold NaN at entry 1"):
        normalize(rewards)
