"""The kernels compute what torch computes: replies, log-probabilities, values, gradients."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numba.core.dispatcher import Dispatcher

from horizon_bench.policies.kernels import arithmetic, attention, decoding, trunk
from horizon_bench.policies.sampling import (
    Sampling,
    plain_reply_outputs,
    reply_outputs,
    sample,
    sample_plainly,
    state_values,
)
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.policies.tiny_fast import group_blocks, is_fast, unique_rows
from puzzles.sudoku import Sudoku

SAMPLINGS = (Sampling(), Sampling(temperature=1.6, max_new_tokens=5, thoughts=True, thought_slip=0.2))


@pytest.fixture(scope="module", params=[(32, 2), (48, 3)], ids=["narrow", "preset"])
def critic(request: pytest.FixtureRequest) -> TinyPolicy:
    width, layers = request.param
    return TinyPolicy.create(Sudoku(4), 16, hidden_size=width, layers=layers, value_head=True, seed=3)


def draw(policy: TinyPolicy, rows: int, seed: int) -> tuple[torch.Tensor, ...]:
    """Return prompts of which some are equal, replies of all lengths, and their mask."""
    rng = np.random.default_rng(seed)
    boards = rng.integers(5, len(policy.ids), (max(1, rows // 3), policy.prompt_length))
    prompts = boards[rng.integers(len(boards), size=rows)]
    prompts[:, -1] = rng.integers(8, 12, rows)
    lengths = rng.integers(1, 9, rows)
    replies = rng.integers(3, len(policy.ids), (rows, int(lengths.max())))
    mask = np.arange(replies.shape[1]) < lengths[:, None]
    return torch.from_numpy(prompts), torch.from_numpy(replies), torch.from_numpy(mask)


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=["plain", "slipping"])
@pytest.mark.parametrize("rows", [1, 40])
def test_outputs_and_gradients_equal_those_of_torch(critic: TinyPolicy, sampling: Sampling, rows: int) -> None:
    prompts, replies, mask = draw(critic, rows, seed=rows)
    pushed = torch.from_numpy(np.random.default_rng(1).normal(size=mask.shape)).float()
    found = []
    for outputs in (reply_outputs, plain_reply_outputs):
        critic.model.zero_grad()
        logprobs, values = outputs(critic.model, prompts, replies, mask, sampling, critic.marks)
        assert values is not None
        ((logprobs * pushed).sum() + (values * pushed[:, 0]).sum()).backward()
        gradients = {name: weight.grad.clone() for name, weight in critic.model.named_parameters()}
        found.append((logprobs.detach(), values.detach(), gradients))
    (logprobs, values, gradients), (expected, expected_values, expected_gradients) = found
    torch.testing.assert_close(logprobs, expected, atol=2e-5, rtol=2e-5)
    torch.testing.assert_close(values, expected_values, atol=2e-5, rtol=2e-5)
    for name, gradient in expected_gradients.items():
        largest = float(gradient.abs().max())
        assert largest > 0
        assert float((gradients[name] - gradient).abs().max()) < 2e-5 * max(1.0, largest), name


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=["plain", "slipping"])
def test_replies_equal_those_of_torch(critic: TinyPolicy, sampling: Sampling) -> None:
    prompts = draw(critic, 50, seed=5)[0]
    uniforms = torch.from_numpy(np.random.default_rng(2).random((50, 40), dtype=np.float32))
    ours = sample(critic.model, prompts, uniforms, sampling, critic.marks)
    theirs = sample_plainly(critic.model, prompts, uniforms, sampling, critic.marks)
    same = (ours.ids == theirs.ids).all(1)
    assert same.float().mean() > 0.9  # a uniform number within rounding error of a boundary may fall either way
    assert len(set(ours.lengths.tolist())) > 1
    assert torch.equal(ours.lengths[same], theirs.lengths[same])
    assert torch.equal(ours.capped[same], theirs.capped[same])
    torch.testing.assert_close(ours.logprobs[same], theirs.logprobs[same], atol=2e-5, rtol=2e-5)
    torch.testing.assert_close(ours.entropy[same], theirs.entropy[same], atol=2e-5, rtol=2e-5)


def test_two_batches_in_flight_do_not_share_memory(critic: TinyPolicy) -> None:
    model, marks, sampling = critic.model, critic.marks, SAMPLINGS[0]
    first, second = draw(critic, 9, seed=1), draw(critic, 12, seed=2)
    model.zero_grad()
    losses = [reply_outputs(model, *part, sampling, marks)[0].sum() for part in (first, second)]
    sum(losses).backward()
    together = model.model.norm.weight.grad.clone()
    model.zero_grad()
    for part in (first, second):
        reply_outputs(model, *part, sampling, marks)[0].sum().backward()
    torch.testing.assert_close(together, model.model.norm.weight.grad, atol=1e-4, rtol=1e-4)


def test_only_the_small_model_in_single_precision_is_fast(critic: TinyPolicy) -> None:
    assert is_fast(critic.model)
    double = TinyPolicy.create(Sudoku(4), 16, hidden_size=16, layers=1, value_head=True).model.double()
    assert not is_fast(double)
    assert not is_fast(torch.nn.Sequential(critic.model))
    prompts, replies, mask = draw(critic, 4, seed=0)
    logprobs, values = reply_outputs(double, prompts, replies, mask, SAMPLINGS[0], critic.marks)
    assert logprobs.dtype == torch.float64
    torch.testing.assert_close(state_values(double, prompts), values)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(1, 100))
def test_blocks_hold_all_groups_in_order_and_few_rows(sizes: list[int], most: int) -> None:
    begins = group_blocks(np.array(sizes), most).tolist()
    assert begins[0] == 0
    assert begins[-1] == len(sizes)
    for first, last in itertools.pairwise(begins):
        assert last > first
        assert last == first + 1 or sum(sizes[first:last]) <= most


@given(st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), min_size=1, max_size=20))
def test_different_rows_give_all_rows_again(rows: list[list[int]]) -> None:
    different, inverse = unique_rows(torch.tensor(rows))
    assert different[inverse].tolist() == rows
    assert len({tuple(row) for row in different.tolist()}) == len(different)


def test_no_kernel_is_left_to_be_inlined_or_not() -> None:
    # Else a process that compiles the kernels and one that reads them from the cache differ in the last bits.
    modules = [arithmetic, attention, decoding, trunk]
    kernels = {kernel for module in modules for kernel in vars(module).values() if isinstance(kernel, Dispatcher)}
    assert kernels
    for kernel in kernels:
        options = kernel.targetoptions
        assert options.get("forceinline") or options.get("inline") == "always", kernel.py_func.__name__
