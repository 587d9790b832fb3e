"""On a two-action bandit each loss ends where its closed form says."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from horizon_bench.mira.configs import LOSS_NAMES
from horizon_bench.mira.losses import CAP, LARGEST_WEIGHT, REPLY_LOSSES, Replies

CHANCE = st.floats(0.1, 0.9)


def optimum(loss: str, reference: float, drawn: float, advantages: tuple[float, float], beta: float) -> float:
    """Return the probability of the first action that minimises the expected loss, found by gradient descent."""
    logit = torch.tensor(math.log(reference / (1 - reference)), dtype=torch.float64, requires_grad=True)
    data = torch.tensor([drawn, 1 - drawn], dtype=torch.float64)
    told = Replies(
        torch.tensor([reference, 1 - reference], dtype=torch.float64).log(),
        data.log(),
        torch.tensor(advantages, dtype=torch.float64),
        torch.tensor([1.0, 0.0], dtype=torch.float64),
    )
    optimiser = torch.optim.LBFGS([logit], max_iter=60, line_search_fn="strong_wolfe", tolerance_grad=1e-12)

    def closure() -> Tensor:
        optimiser.zero_grad()
        total = (data * REPLY_LOSSES[loss](log_probabilities(logit), told, beta)).sum()
        total.backward()
        return total

    optimiser.step(closure)
    return float(torch.sigmoid(logit.detach()))


def log_probabilities(logit: Tensor) -> Tensor:
    return torch.stack([torch.nn.functional.logsigmoid(logit), torch.nn.functional.logsigmoid(-logit)])


def tilted(base: float, scores: tuple[float, float], beta: float) -> float:
    """Return base exp(score / beta), normalised, of the first action."""
    first, second = base * math.exp(scores[0] / beta), (1 - base) * math.exp(scores[1] / beta)
    return first / (first + second)


@settings(deadline=None, max_examples=40)
@given(reference=CHANCE, drawn=CHANCE, first=st.floats(0, 1), second=st.floats(0, 1), beta=st.floats(0.4, 3.0))
def test_the_squared_loss_ends_at_the_closed_form_whatever_the_data(
    reference: float, drawn: float, first: float, second: float, beta: float
) -> None:
    scores = (first, second)
    value = beta * math.log(reference * math.exp(first / beta) + (1 - reference) * math.exp(second / beta))
    found = optimum("squared", reference, drawn, (first - value, second - value), beta)
    assert found == pytest.approx(tilted(reference, scores, beta), abs=1e-4)


@settings(deadline=None, max_examples=20)
@given(reference=CHANCE, drawn=CHANCE, first=st.floats(-1, 1), second=st.floats(-1, 1), beta=st.floats(0.4, 3.0))
def test_the_squared_loss_is_stationary_where_its_derivative_says(
    reference: float, drawn: float, first: float, second: float, beta: float
) -> None:
    chance = optimum("squared", reference, drawn, (first, second), beta)
    left = drawn * (beta * math.log(chance / reference) - first) / chance
    right = (1 - drawn) * (beta * math.log((1 - chance) / (1 - reference)) - second) / (1 - chance)
    assert left == pytest.approx(right, abs=1e-3)


@settings(deadline=None, max_examples=20)
@given(reference=CHANCE, drawn=CHANCE, first=st.floats(-0.5, 0.5), second=st.floats(-0.5, 0.5))
def test_the_kl_loss_pushes_nowhere_at_the_same_closed_form(
    reference: float, drawn: float, first: float, second: float
) -> None:
    best = tilted(reference, (first, second), 1.0)
    logit = torch.tensor(math.log(best / (1 - best)), dtype=torch.float64, requires_grad=True)
    data = torch.tensor([drawn, 1 - drawn], dtype=torch.float64)
    told = Replies(
        torch.tensor([reference, 1 - reference], dtype=torch.float64).log(),
        data.log(),
        torch.tensor([first, second], dtype=torch.float64),
        torch.zeros(2, dtype=torch.float64),
    )
    current = log_probabilities(logit)
    assume(float((current.detach() - data.log()).exp().max()) < CAP)
    (data * REPLY_LOSSES["kl"](current, told, 1.0)).sum().backward()
    assert logit.grad is not None
    assert float(logit.grad) == pytest.approx(0.0, abs=1e-9)


@settings(deadline=None, max_examples=20)
@given(drawn=CHANCE, first=st.floats(-1, 1), second=st.floats(-1, 1))
def test_regression_by_advantage_ends_at_the_tilted_data(drawn: float, first: float, second: float) -> None:
    assert optimum("awr", 0.5, drawn, (first, second), 0.7) == pytest.approx(
        tilted(drawn, (first, second), 0.7), abs=1e-4
    )


def test_weights_are_capped() -> None:
    current = torch.tensor([-1.0], requires_grad=True)
    told = Replies(torch.tensor([-1.0]), torch.tensor([-9.0]), torch.tensor([50.0]), torch.tensor([1.0]))
    assert float(REPLY_LOSSES["awr"](current, told, 0.1)) == LARGEST_WEIGHT
    assert float(REPLY_LOSSES["kl"](current, told, 0.1)) == pytest.approx(3.0 * 50.0)


def test_only_successes_are_cloned() -> None:
    current = torch.tensor([-1.0, -2.0])
    told = Replies(current, current, torch.tensor([5.0, 5.0]), torch.tensor([1.0, 0.0]))
    assert REPLY_LOSSES["bc"](current, told, 1.0).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("loss", ["squared", "kl", "awr"])
def test_at_the_reference_a_better_reply_is_pushed_up_and_a_worse_one_less(loss: str) -> None:
    current = torch.full((2,), -1.0, requires_grad=True)
    told = Replies(torch.full((2,), -1.0), torch.full((2,), -1.0), torch.tensor([0.5, -0.5]), torch.ones(2))
    REPLY_LOSSES[loss](current, told, 0.5).sum().backward()
    assert current.grad is not None
    assert current.grad[0] < current.grad[1]


def test_every_loss_has_its_name() -> None:
    assert tuple(REPLY_LOSSES) == LOSS_NAMES
