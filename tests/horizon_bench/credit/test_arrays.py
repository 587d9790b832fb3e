from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon_bench.credit.arrays import (
    as_floats,
    as_rows,
    check_numbers,
    check_share,
    compact_labels,
    divide,
    episode_sums,
    group_statistics,
    normalize,
    normalize_groups,
    return_to_go,
    scan_backward,
    sum_by,
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


def test_numbers_of_any_kind_become_doubles() -> None:
    found = as_floats([1, 2], np.array([True, False]), np.float32(0.5))
    assert [array.dtype for array in found] == [np.float64] * 3
    assert [array.tolist() for array in found] == [[1.0, 2.0], [1.0, 0.0], 0.5]


def test_returns_are_cut_and_discounted() -> None:
    rewards, offsets = [1, 2, 4, 8], [0, 3, 4]
    assert return_to_go(rewards, offsets, 0.5).tolist() == [3.0, 4.0, 4.0, 8.0]
    cut = np.array([False, True, False, False])
    assert return_to_go(rewards, offsets, 0.5, cut).tolist() == [2.0, 2.0, 4.0, 8.0]
    assert return_to_go(rewards, offsets, 1).tolist() == [7.0, 6.0, 4.0, 8.0]
    assert return_to_go(rewards, offsets, 0).tolist() == [1.0, 2.0, 4.0, 8.0]
    assert return_to_go([], [0], 0.5).tolist() == []
    for gamma in (-0.01, 1.01, np.nan):
        with pytest.raises(ValueError, match=rf"^gamma is {gamma}, but must lie between 0 and 1$"):
            return_to_go(rewards, offsets, gamma)


def test_a_scan_takes_any_number_in_place_of_a_discount() -> None:
    found = scan_backward(np.array([1.0, 1.0, 1.0]), np.array([2.0, -3.0, 5.0]), np.array([0, 3]))
    assert found.tolist() == [-3.0, -2.0, 1.0]


def test_sums_by_index_have_a_place_for_indices_without_a_member() -> None:
    found = sum_by(np.array([2, 0, 2]), np.array([1, 2, 4]), 4)
    assert found.dtype == np.float64
    assert found.tolist() == [2.0, 0.0, 5.0, 0.0]
    assert sum_by(np.array([], dtype=int), np.array([]), 2).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("labels", "numbers", "count"),
    [
        ([5, 7, 5], [0, 2, 0], 3),
        ([-4, -3], [0, 1], 2),
        ([1000, 1002], [0, 2], 3),
        ([0, 75], [0, 75], 76),
        ([0, 10**9, 0], [0, 1, 0], 2),
        ([0.5, 0.25], [1, 0], 2),
        (["b", "a", "b"], [1, 0, 1], 2),
        ([], [], 0),
        ([2**63 + 5, 2**63 + 6], [0, 1], 2),
    ],
)
def test_labels_are_numbered_from_nothing(labels, numbers, count) -> None:
    found, size = compact_labels(np.array(labels, dtype=np.uint64 if labels and labels[0] == 2**63 + 5 else None))
    assert found.dtype == np.int64
    assert found.tolist() == numbers
    assert size == count


def test_a_group_of_one_and_weights_of_nothing_have_no_deviation() -> None:
    found = group_statistics(np.array([3.0, 1.0, 2.0]), np.array([1, 0, 0]), ddof=1)
    assert found.count.tolist() == [1, 2, 2]
    assert found.mean.tolist() == [3.0, 1.5, 1.5]
    np.testing.assert_allclose(found.deviation, [0.0, np.sqrt(0.5), np.sqrt(0.5)])
    weighted = group_statistics(np.array([3.0, 1.0]), np.zeros(2, dtype=int), weights=np.array([0.0, 0.0]))
    assert weighted.count.tolist() == [0.0, 0.0]
    assert weighted.deviation.tolist() == [0.0, 0.0]


def test_almost_equal_means_equal_up_to_rounding_of_a_sum() -> None:
    eps = np.finfo(np.float64).eps
    for size in (1.0, -1.0, 1e6):
        near = group_statistics(np.array([size, size * (1 + 32 * eps)]), np.zeros(2, dtype=int))
        assert near.deviation.tolist() == [0.0, 0.0]
        assert near.mean.tolist() == [min(size, size * (1 + 32 * eps))] * 2
        apart = group_statistics(np.array([size, size * (1 + 256 * eps)]), np.zeros(2, dtype=int))
        assert (apart.deviation > 0).all()


def test_normalising_adds_epsilon_to_the_deviation() -> None:
    values = np.array([1.0, 3.0])
    np.testing.assert_allclose(normalize(values, epsilon=1.0), [-0.5, 0.5])
    np.testing.assert_allclose(normalize(values, ddof=1), [-1 / np.sqrt(2), 1 / np.sqrt(2)])
    np.testing.assert_allclose(normalize(values), [-1.0, 1.0])
    labels = np.array([0, 0, 1, 1, 2])
    found = normalize_groups(np.array([1.0, 3.0, 5.0, 5.0, 7.0]), labels, epsilon=1.0)
    np.testing.assert_allclose(found, [-0.5, 0.5, 0.0, 0.0, 0.0])


def test_whitening_divides_by_the_root_of_variance_and_epsilon() -> None:
    np.testing.assert_allclose(whiten([1, 3]), np.array([-1, 1]) / np.sqrt(2 + 1e-8), rtol=1e-14)
    np.testing.assert_allclose(whiten([1, 3], epsilon=7.0, ddof=0), np.array([-1, 1]) / np.sqrt(8.0), rtol=1e-14)
    np.testing.assert_allclose(whiten([[1.0, 1.0], [4.0, 4.0]], weights=[[2, 0], [1, 0]], epsilon=0.0), np.array(
        [[-1.0, -1.0], [2.0, 2.0]]
    ) / np.sqrt(3.0), rtol=1e-14)  # fmt: skip
    assert whiten([2.0, 2.0], epsilon=0.0).tolist() == [0.0, 0.0]
    assert whiten([2.0, 2.0]).tolist() == [0.0, 0.0]
    assert whiten([]).tolist() == []


def test_the_first_missing_number_is_named() -> None:
    with pytest.raises(ValueError) as caught:
        check_numbers("values", np.array([0.0, np.nan, np.nan]))
    assert str(caught.value) == (
        "values hold NaN at entry 1; a sample that could not be scored may only enter estimators that compare the "
        "scores of whole episodes"
    )
    check_numbers("values", np.array([np.inf, -np.inf]))
    check_share("gamma", 0.0)
    check_share("gamma", 1.0)


def test_rows_of_tokens_share_one_shape() -> None:
    found = as_rows([[1, 2]], np.array([[True, False]]))
    assert [array.dtype for array in found] == [np.float64] * 2
    assert [array.tolist() for array in found] == [[[1.0, 2.0]], [[1.0, 0.0]]]
    assert as_rows([[1]])[0].tolist() == [[1.0]]
    for arrays in (([1, 2], [1, 2]), ([[[1]]], [[[1]]]), ([[1, 2]], [[1]]), ([[1]], [[1]], [[1, 2]]), ([[1]], [1])):
        with pytest.raises(ValueError, match=r"^all must share one shape \[rows, tokens\], but they have"):
            as_rows(*arrays)


def test_the_deviation_is_the_populations_and_nothing_is_added_unless_said() -> None:
    found = group_statistics(np.array([1.0, 3.0]), np.array([0, 0]))
    assert found.deviation.tolist() == [1.0, 1.0]
    assert normalize_groups(np.array([1.0, 3.0]), np.array([0, 0])).tolist() == [-1.0, 1.0]


def test_whitening_takes_a_lone_number_and_small_spreads() -> None:
    assert whiten([5.0]).tolist() == [0.0]
    np.testing.assert_allclose(whiten([0.0, 0.25], epsilon=0.0), np.array([-1, 1]) / np.sqrt(2), rtol=1e-12)
