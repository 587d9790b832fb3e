"""What is kept of a sample is what a fresh look at the model says of it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from horizon_bench.policies.base import Reply
from horizon_bench.policies.sampling import Sampling, reply_outputs
from horizon_bench.policies.tiny import TinyPolicy


def draw(policy: TinyPolicy, observations: list[str], seed: int = 0) -> list[Reply]:
    return policy.reply(observations, (), np.random.default_rng(seed).spawn(len(observations)))


def fresh_logprobs(policy: TinyPolicy, replies: list[Reply]) -> list[np.ndarray]:
    longest = max(len(reply.reply_ids) for reply in replies)
    ids = torch.zeros(len(replies), longest, dtype=torch.long)
    mask = torch.zeros(len(replies), longest, dtype=torch.bool)
    for row, reply in enumerate(replies):
        ids[row, : len(reply.reply_ids)] = torch.from_numpy(reply.reply_ids.copy())
        mask[row, : len(reply.reply_ids)] = True
    prompts = torch.from_numpy(np.stack([reply.prompt_ids for reply in replies]))
    with torch.no_grad():
        found = reply_outputs(policy.model, prompts, ids, mask, policy.sampling, policy.marks)[0]
    return [row[: len(reply.reply_ids)].numpy() for row, reply in zip(found, replies, strict=True)]


@pytest.mark.parametrize("changes", [{}, {"temperature": 1.7}, {"thoughts": True, "thought_slip": 0.3}])
def test_kept_logprobs_equal_a_fresh_forward_pass(
    policy: TinyPolicy, observations: list[str], changes: dict[str, float]
) -> None:
    sampler = policy.with_sampling(**changes)
    replies = draw(sampler, observations * 4)
    for reply, fresh in zip(replies, fresh_logprobs(sampler, replies), strict=True):
        np.testing.assert_allclose(reply.logprobs, fresh, atol=2e-6)


def test_a_reply_does_not_depend_on_the_other_rows(policy: TinyPolicy, observations: list[str]) -> None:
    generators = np.random.default_rng(5).spawn(len(observations))
    together = policy.reply(observations, (), generators)
    generators = np.random.default_rng(5).spawn(len(observations))
    for observation, generator, reply in zip(observations, generators, together, strict=True):
        alone = policy.reply([observation], (), [generator])[0]
        assert alone.text == reply.text
        np.testing.assert_allclose(alone.logprobs, reply.logprobs, atol=2e-6)


def test_equal_seeds_give_equal_replies_and_others_differ(policy: TinyPolicy, observations: list[str]) -> None:
    first, again, other = (draw(policy, observations, seed) for seed in (1, 1, 2))
    assert [reply.text for reply in first] == [reply.text for reply in again]
    assert all((one.logprobs == two.logprobs).all() for one, two in zip(first, again, strict=True))
    assert [reply.text for reply in first] != [reply.text for reply in other]


def test_text_is_the_tokenizers_decoding(policy: TinyPolicy, observations: list[str]) -> None:
    for reply in draw(policy, observations * 4):
        ids = reply.reply_ids.tolist()
        kept = ids if reply.capped else ids[:-1]
        assert reply.text == policy.tokenizer.decode(kept)
        assert reply.capped == (ids[-1] != policy.marks.end)


def test_a_cap_is_kept_and_marked(policy: TinyPolicy, observations: list[str]) -> None:
    for reply in draw(policy.with_sampling(max_new_tokens=2), observations):
        assert len(reply.reply_ids) <= 2
        assert reply.capped == (policy.marks.end not in reply.reply_ids)


def test_frequencies_match_the_distribution(policy: TinyPolicy, observations: list[str]) -> None:
    single = policy.with_sampling(max_new_tokens=1)
    drawn = [int(reply.reply_ids[0]) for reply in draw(single, observations[:1] * 4000)]
    with torch.no_grad():
        logits = policy.model(torch.from_numpy(policy.encode(observations[:1]))).logits[0, -1]
    expected = (logits / single.sampling.temperature).softmax(-1).numpy()
    observed = np.bincount(drawn, minlength=len(expected)) / len(drawn)
    assert np.abs(observed - expected).max() < 0.04


def test_a_certain_slip_draws_thought_tokens_evenly(policy: TinyPolicy, observations: list[str]) -> None:
    slipping = policy.with_sampling(max_new_tokens=1, thoughts=True, thought_slip=0.999999)
    replies = draw(slipping, observations[:1] * 2000)
    counts = np.bincount([int(reply.reply_ids[0]) for reply in replies], minlength=len(policy.ids))
    assert counts.min() > 0
    assert np.allclose([reply.logprobs[0] for reply in replies], -np.log(len(policy.ids)), atol=1e-3)


def test_the_slip_ends_with_the_thought(policy: TinyPolicy) -> None:
    sampling = Sampling(thoughts=True, thought_slip=0.5)
    end = policy.marks.thought_end
    ids = torch.tensor([[7, end, 9, 10]])
    prompts = torch.from_numpy(policy.encode([". 4 . 2 3 2 1 . 2 1 4 3 4 . 2 1 <ok> <atomic>"]))
    mask = torch.ones(1, 4, dtype=torch.bool)
    with torch.no_grad():
        plain, slipped = (
            reply_outputs(policy.model, prompts, ids, mask, chosen, policy.marks)[0][0].exp()
            for chosen in (Sampling(), sampling)
        )
    assert torch.allclose(slipped[:2], 0.5 * plain[:2] + 0.5 / len(policy.ids), atol=1e-6)
    assert torch.allclose(slipped[2:], plain[2:], atol=1e-6)


def test_prompts_that_the_model_was_not_made_for_are_refused(policy: TinyPolicy) -> None:
    with pytest.raises(ValueError, match="reads 18 tokens"):
        policy.encode(["1 2 3 <ok> <atomic>"])
    with pytest.raises(ValueError, match="'9' of the observation is not in the model's vocabulary"):
        policy.encode([f"9 {'. ' * 15}<ok> <atomic>"])


@pytest.mark.parametrize("changes", [{"temperature": 0.0}, {"max_new_tokens": 0}, {"thought_slip": 1.0}])
def test_sampling_out_of_range_is_refused(policy: TinyPolicy, changes: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"must be|is a probability"):
        policy.with_sampling(**changes)
