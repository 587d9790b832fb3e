from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from horizon_bench.credit import find_correction
from horizon_bench.training.losses import (
    LOSSES,
    find_loss,
    masked_mean,
    ppo_sequence_loss,
    ppo_token_loss,
    reduce_tokens,
    reinforce_loss,
    value_loss,
)


def doubles(*values: object) -> Tensor:
    return torch.tensor(values if len(values) > 1 else values[0], dtype=torch.float64)


ROWS = doubles([[1.0, 2.0, 9.0], [6.0, 9.0, 9.0], [9.0, 9.0, 9.0]])
MASK = doubles([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("reduction", "expected"), [("token-mean", 3.0), ("sequence-mean", 3.75), ("sequence-sum", 4.5)]
)
def test_reductions_by_hand(reduction: str, expected: float) -> None:
    assert reduce_tokens(ROWS, MASK, reduction).item() == pytest.approx(expected)


def test_masked_entries_never_count_not_even_when_infinite() -> None:
    broken = ROWS.masked_fill(MASK == 0, float("inf")).requires_grad_()
    mean = masked_mean(broken, MASK)
    mean.backward()
    assert mean.item() == pytest.approx(3.0)
    assert torch.equal(broken.grad, MASK / 3)
    assert masked_mean(ROWS, torch.zeros_like(MASK)).item() == 0


def test_the_gradient_of_the_recipe_by_hand() -> None:
    """One reply of two tokens; the first token's softmax is 0.402, 0.448, 0.15, its advantage 1.2."""
    logits = torch.log(doubles([0.402, 0.448, 0.15])).requires_grad_()
    first = torch.log_softmax(logits, dim=0)[0]
    logprobs = torch.stack([first, torch.log(doubles(0.501))])[None]
    sampled = np.log([[0.4, 0.5]])
    weights = find_correction("sequence-truncation+geometric-mask")(
        logprobs.detach().numpy(), sampled, np.ones((1, 2), dtype=bool)
    )
    result = reinforce_loss(
        logprobs, doubles([1.2]), torch.ones(1, 2), weights=torch.from_numpy(weights), reduction="sequence-sum"
    )
    (-result.loss).backward()
    assert float(weights[0, 0] * 1.2) == pytest.approx(1.208412, abs=1e-9)
    np.testing.assert_allclose(logits.grad.numpy(), [0.722630, -0.541369, -0.181262], atol=1e-6)


def test_weights_and_advantages_carry_no_gradient() -> None:
    logprobs, advantages, weights = (torch.rand(2, 3, requires_grad=True) for _ in range(3))
    for loss in LOSSES.values():
        loss(logprobs, advantages, torch.ones(2, 3), weights=weights, old_logprobs=torch.zeros(2, 3)).loss.backward()
    assert logprobs.grad is not None
    assert advantages.grad is None
    assert weights.grad is None


@pytest.mark.parametrize("reduction", ["token-mean", "sequence-mean", "sequence-sum"])
@given(seed=st.integers(0, 10**6))
@settings(deadline=None, max_examples=30)
def test_ppo_on_the_old_policy_has_the_gradient_of_reinforce(reduction: str, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    logprobs = -torch.rand(4, 5, generator=generator, dtype=torch.float64)
    advantages = torch.randn(4, generator=generator, dtype=torch.float64)
    mask = (torch.rand(4, 5, generator=generator) < 0.7).double()
    gradients = []
    for loss in (reinforce_loss, ppo_token_loss):
        leaf = logprobs.clone().requires_grad_()
        loss(leaf, advantages, mask, old_logprobs=logprobs, reduction=reduction).loss.backward()
        gradients.append(leaf.grad)
    torch.testing.assert_close(gradients[0], gradients[1])


@pytest.mark.parametrize(
    ("ratio", "advantage", "expected", "moves"),
    [(1.5, 1.0, -1.2, False), (0.5, 1.0, -0.5, True), (1.5, -1.0, 1.5, True), (0.5, -1.0, 0.8, False)],
)
def test_clipping_stops_only_what_has_gone_far_enough(
    ratio: float, advantage: float, expected: float, moves: bool
) -> None:
    for loss in (ppo_token_loss, ppo_sequence_loss):
        logprobs = torch.log(doubles([[ratio]])).requires_grad_()
        result = loss(logprobs, doubles([advantage]), torch.ones(1, 1), old_logprobs=torch.zeros(1, 1))
        result.loss.backward()
        assert result.loss.item() == pytest.approx(expected)
        assert bool(logprobs.grad.abs().sum() > 0) == moves
        assert result.metrics["clipped_share"] == float(not moves)


def test_a_reply_has_one_ratio_geometric_or_whole() -> None:
    logprobs, old = torch.log(doubles([[1.2, 1.1, 5.0]])), torch.zeros(1, 3)
    mask = doubles([[1.0, 1.0, 0.0]])
    for geometric, ratio in ((True, (1.2 * 1.1) ** 0.5), (False, 1.32)):
        result = ppo_sequence_loss(logprobs, doubles([1.0]), mask, old_logprobs=old, clip_high=9.0, geometric=geometric)
        assert result.loss.item() == pytest.approx(-ratio)


def test_a_padded_batch_equals_its_ragged_rows() -> None:
    generator = torch.Generator().manual_seed(0)
    logprobs, old = (-torch.rand(2, 3, generator=generator) for _ in range(2))
    advantages, mask = torch.tensor([1.0, -2.0]), torch.tensor([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    wide = [torch.cat([part, torch.full((2, 4), -50.0)], dim=1) for part in (logprobs, old)]
    for name, loss in LOSSES.items():
        short = loss(logprobs, advantages, mask, old_logprobs=old)
        long = loss(wide[0], advantages, torch.cat([mask, torch.zeros(2, 4)], dim=1), old_logprobs=wide[1])
        torch.testing.assert_close(short.loss, long.loss, msg=name)


def test_the_penalty_is_zero_on_the_reference_and_positive_off_it() -> None:
    logprobs = torch.log(doubles([[0.5, 0.25]])).requires_grad_()
    options = {"mask": torch.ones(1, 2), "advantages": doubles([0.0]), "kl_coefficient": 2.0}
    same = reinforce_loss(logprobs, reference_logprobs=logprobs.detach(), **options)
    assert same.loss.item() == 0
    other = reinforce_loss(logprobs, reference_logprobs=torch.log(doubles([[0.25, 0.25]])), **options)
    expected = (0.5 - np.log(0.5) - 1) / 2
    assert other.metrics["kl_to_reference"] == pytest.approx(expected)
    assert other.loss.item() == pytest.approx(2 * expected)
    with pytest.raises(ValueError, match="reference_logprobs are missing"):
        reinforce_loss(logprobs, **options)


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_extreme_log_probabilities_stay_finite(name: str) -> None:
    logprobs = torch.tensor([[-1e4, 0.0, -3e4]]).requires_grad_()
    result = LOSSES[name](
        logprobs,
        torch.tensor([-1e3]),
        torch.ones(1, 3),
        old_logprobs=torch.tensor([[0.0, -1e4, 0.0]]),
        reference_logprobs=torch.zeros(1, 3),
        kl_coefficient=0.1,
    )
    result.loss.backward()
    assert torch.isfinite(result.loss)
    assert torch.isfinite(logprobs.grad).all()


@pytest.mark.parametrize("rubbish", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("name", sorted(LOSSES))
def test_whatever_stands_at_masked_tokens_neither_counts_nor_pushes(name: str, rubbish: float) -> None:
    mask = doubles([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    clean = [torch.full((3, 3), value, dtype=torch.float64) for value in (-1.0, 2.0, 0.5, -1.1, -0.9)]
    found = []
    for arrays in (clean, [array.masked_fill(mask == 0, rubbish) for array in clean]):
        logprobs, advantages, weights, old, reference = arrays
        leaf = logprobs.clone().requires_grad_()
        result = LOSSES[name](
            leaf, advantages, mask, weights=weights, old_logprobs=old, reference_logprobs=reference, kl_coefficient=0.1
        )
        result.loss.backward()
        found.append((result.loss.detach(), leaf.grad, result.metrics))
    assert torch.equal(found[0][0], found[1][0])
    assert torch.equal(found[0][1], found[1][1])
    assert found[0][2] == found[1][2]


@pytest.mark.parametrize("clip", [None, 0.2])
def test_rubbish_at_masked_values_does_not_push_the_critic(clip: float | None) -> None:
    values = doubles([1.0, float("inf"), float("nan")]).requires_grad_()
    mask = doubles([1.0, 0.0, 0.0])
    old = doubles([0.9, float("inf"), 0.0])
    loss = value_loss(values, torch.zeros(3, dtype=torch.float64), mask, old_values=old, clip=clip)
    loss.backward()
    assert loss.item() == pytest.approx(0.5)
    assert torch.equal(values.grad, doubles([1.0, 0.0, 0.0]))


def test_the_value_loss_is_half_the_squared_error_and_may_be_clipped() -> None:
    values, targets, mask = doubles([1.0, 3.0]), doubles([0.0, 0.0]), doubles([1.0, 0.0])
    assert value_loss(values, targets, mask).item() == pytest.approx(0.5)
    clipped = value_loss(values, targets, mask, old_values=doubles([2.0, 0.0]), clip=0.25)
    assert clipped.item() == pytest.approx(0.5 * 1.75**2)
    with pytest.raises(ValueError, match="old_values are missing"):
        value_loss(values, targets, mask, clip=0.2)


def test_unknown_names_are_refused() -> None:
    assert find_loss("ppo-token") is ppo_token_loss
    with pytest.raises(ValueError, match="unknown loss 'reinforced'; did you mean 'reinforce'"):
        find_loss("reinforced")
    with pytest.raises(ValueError, match="unknown reduction 'mean'"):
        reduce_tokens(ROWS, MASK, "mean")
