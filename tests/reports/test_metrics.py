from __future__ import annotations

import json
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.metrics import avg_at_k, interquartile_mean, pass_at_k, pass_hat_k, probability_of_improvement

COUNTS = st.integers(1, 12).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))


@given(COUNTS)
def test_pass_at_k_is_the_share_of_subsets_with_a_success(counts: tuple[int, int, int]) -> None:
    n, c, k = counts
    subsets = list(combinations([1] * c + [0] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(any(subset) for subset in subsets) / len(subsets))
    assert pass_hat_k(n, c, k) == pytest.approx(sum(all(subset) for subset in subsets) / len(subsets))


@given(COUNTS)
def test_pass_at_k_lies_between_the_single_rate_and_any_success(counts: tuple[int, int, int]) -> None:
    n, c, k = counts
    assert c / n - 1e-12 <= pass_at_k(n, c, k) <= float(c > 0) + 1e-12
    assert pass_at_k(n, c, k) == pytest.approx(1 - comb(n - c, k) / comb(n, k))


@pytest.mark.parametrize("score", [pass_at_k, pass_hat_k, avg_at_k])
def test_fewer_attempts_than_k_is_an_error_that_names_the_way_out(score) -> None:
    with pytest.raises(ValueError, match="at least 4 attempts a puzzle, but one has 3"):
        score([4, 3], [1, 1], 4)
    with pytest.raises(ValueError, match="more successes"):
        score([4], [5], 4)
    with pytest.raises(ValueError, match="at least 1"):
        score([4], [1], 0)


@pytest.mark.parametrize(("score", "name"), [(pass_at_k, "pass"), (pass_hat_k, r"pass\^"), (avg_at_k, "avg")])
def test_an_error_calls_the_score_by_its_name_and_offers_one_that_exists(score, name) -> None:
    with pytest.raises(ValueError, match=f"^{name}@0 does not exist"):
        score([4], [1], 0)
    for most in (0, 1):
        with pytest.raises(ValueError, match=f"^{name}@4 needs .* one has {most}; .* ask for {name}@1$"):
            score([4, most], [0, 0], 4)
    with pytest.raises(ValueError, match=r"^a puzzle has more successes than attempts, or fewer than none$"):
        score([4], [5], 4)
    with pytest.raises(ValueError, match=r"do not go together; give one number for all puzzles or one for each$"):
        score([4, 4], [1, 1, 1], 2)


def test_four_of_four_attempts_pass_if_one_did() -> None:
    assert pass_at_k([4, 4, 4], [0, 1, 4], 4).tolist() == [0.0, 1.0, 1.0]
    assert avg_at_k([4, 4, 4], [0, 1, 4], 4).tolist() == [0.0, 0.25, 1.0]


@given(st.integers(1, 9), st.lists(st.integers(0, 9), min_size=1, max_size=5), st.integers(1, 9))
def test_one_number_counts_for_every_puzzle(attempts: int, solved: list[int], k: int) -> None:
    attempts, k = max(attempts, *solved, k), min(attempts, k)
    for score in (pass_at_k, pass_hat_k, avg_at_k):
        singles = [float(score(attempts, one, k)) for one in solved]
        assert score(attempts, solved, k).tolist() == singles
        assert score([attempts] * len(solved), solved, np.int64(k)).tolist() == singles
        assert score([[attempts], [attempts]], solved, k).shape == (2, len(solved))


@pytest.mark.parametrize("score", [pass_at_k, pass_hat_k, avg_at_k])
@pytest.mark.parametrize(
    ("attempts", "solved", "k", "words"),
    [
        ([4, 4], [1, 1, 1], 2, r"shape \(2,\) and solved of shape \(3,\) do not go together"),
        (4, [1.5], 2, "solved must be whole numbers"),
        ([4, float("nan")], 1, 2, "attempts must be whole numbers"),
        (4, [[1], [1, 2]], 2, "solved must be a whole number or an array"),
        (4, ["one"], 2, "solved must be a whole number or an array"),
        (4, None, 2, "solved must be"),
        (4, 1, 1.5, "k must be a whole number"),
        (4, -1, 2, "fewer than none"),
    ],
)
def test_impossible_counts_are_refused_by_name(score, attempts, solved, k, words) -> None:
    with pytest.raises(ValueError, match=words):
        score(attempts, solved, k)


@pytest.mark.shared
def test_published_cases(shared_data: Path) -> None:
    for case in json.loads((shared_data / "credit" / "pass_at_k.json").read_text()):
        inputs, expected = case["inputs"], case["expected"]
        solved, k = np.asarray(inputs["c"]), inputs["k"]
        attempts = np.broadcast_to(inputs["n"], solved.shape)
        scores = pass_at_k(attempts, solved, k)
        assert scores == pytest.approx(expected.get("pass_at_k", expected.get("per_task")), rel=1e-11, abs=1e-11)
        if "pass_hat_k" in expected:
            assert pass_hat_k(attempts, solved, k) == pytest.approx(expected["pass_hat_k"], rel=1e-11, abs=1e-11)
        if "mean" in expected:
            assert scores.mean() == pytest.approx(expected["mean"], rel=1e-11)


def test_the_interquartile_mean_drops_a_quarter_at_each_end() -> None:
    assert interquartile_mean([0, 1, 2, 3, 4, 5, 6, 100]) == 3.5
    assert interquartile_mean([1.0, 5.0, 9.0]) == 5.0
    assert interquartile_mean([300, 0, 20, 10]) == 15.0
    assert interquartile_mean([[0, 300], [20, 10]]) == 15.0
    with pytest.raises(ValueError, match=r"^the interquartile mean of no scores does not exist; give at least one$"):
        interquartile_mean([])


def test_scores_in_single_precision_are_averaged_in_double() -> None:
    scores = np.array([0.1, 0.2, 0.7, 0.9], dtype=np.float32)
    assert interquartile_mean(scores) == (float(scores[1]) + float(scores[2])) / 2


def test_the_probability_of_improvement_counts_ties_half() -> None:
    assert probability_of_improvement([1.0, 3.0], [2.0, 2.0]) == 0.5
    assert probability_of_improvement([2.0], [2.0]) == 0.5
    assert probability_of_improvement([[3.0, 0.0]], [[2.0, 1.0]]) == 0.5
    with pytest.raises(ValueError, match="tasks"):
        probability_of_improvement(np.zeros((2, 3)), np.zeros((2, 2)))
    for scores, others in (([], [1.0]), ([1.0], []), ([], [])):
        with pytest.raises(ValueError, match="do not share their tasks"):
            probability_of_improvement(scores, others)


def test_the_probability_of_improvement_compares_each_task_on_its_own() -> None:
    assert probability_of_improvement([[1.0, 5.0], [1.0, 5.0]], [[0.0, 6.0]]) == 0.5
    assert probability_of_improvement([3.0, 1.0, 0.0], [2.0, 0.0]) == (2 + 1 + 0.5) / 6
