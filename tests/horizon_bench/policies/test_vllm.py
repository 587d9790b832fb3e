"""The engine vLLM as a policy, against a stand-in of its interface: no GPU is at hand where these tests run."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch

from horizon_bench.policies import make_policy
from horizon_bench.policies.chat import ChatPolicy, ChatSampling


class StandIn:
    """Samples by the transformers model, and answers as `vllm.LLM` does."""

    def __init__(self, **arguments) -> None:
        from horizon_bench.policies.hf import HfPolicy

        self.arguments = arguments
        self.policy = HfPolicy.load(arguments["model"])
        self.asked = []
        self.resets = 0
        loader = SimpleNamespace(load_weights=self.load_weights)
        worker = SimpleNamespace(model_runner=SimpleNamespace(model=loader))
        self.llm_engine = SimpleNamespace(model_executor=SimpleNamespace(driver_worker=worker))

    def generate(self, prompts, sampling_params, use_tqdm):
        from horizon_bench.policies.language_sampling import sample_replies

        answers = []
        for prompt, chosen in zip(prompts, sampling_params, strict=True):
            self.asked.append(chosen)
            uniforms = np.random.default_rng(chosen.seed).random((1, chosen.max_tokens))
            ids = [np.array(prompt["prompt_token_ids"])]
            drawn = sample_replies(self.policy.model, ids, uniforms, chosen.temperature, self.policy.end_ids)
            tokens, values = drawn.ids[0].tolist(), drawn.logprobs[0].tolist()
            logprobs = [{token: SimpleNamespace(logprob=value)} for token, value in zip(tokens, values, strict=True)]
            reason = "length" if drawn.capped[0] else "stop"
            output = SimpleNamespace(token_ids=tokens, logprobs=logprobs, finish_reason=reason)
            answers.append(SimpleNamespace(outputs=[output]))
        return answers

    def load_weights(self, weights):
        own = dict(self.policy.model.named_parameters())
        for name, value in weights:
            own[name].data.copy_(value)

    def reset_prefix_cache(self):
        self.resets += 1


@pytest.fixture
def engine(monkeypatch):
    module = ModuleType("vllm")
    module.LLM = StandIn
    module.SamplingParams = lambda **chosen: SimpleNamespace(**chosen)
    monkeypatch.setitem(sys.modules, "vllm", module)
    return module


def generators(count: int):
    return [np.random.default_rng(child) for child in np.random.SeedSequence(0).spawn(count)]


def test_token_ids_and_log_probabilities_are_the_engines_own(engine, random_model):
    policy = make_policy(f"vllm:{random_model}", sampling=ChatSampling(temperature=0.6, max_new_tokens=9))
    assert isinstance(policy, ChatPolicy)
    assert policy.engine.arguments["logprobs_mode"] == "processed_logprobs"
    assert policy.engine.arguments["trust_remote_code"] is False
    assert policy.engine.arguments["load_format"] == "safetensors"
    replies = policy.reply(["a board", "another"], [], generators(2))
    chosen = policy.engine.asked
    assert (chosen[0].temperature, chosen[0].max_tokens, chosen[0].top_p, chosen[0].top_k) == (0.6, 9, 1.0, 0)
    assert chosen[0].seed != chosen[1].seed
    scorer = make_policy(f"hf:{random_model}", sampling=policy.sampling)
    prompts = scorer.encode(["a board", "another"])
    for reply, prompt in zip(replies, prompts, strict=True):
        assert reply.text == policy.decode(reply.reply_ids)
        assert reply.prompt_ids.tolist() == prompt.tolist()
        scores = scorer.score(
            torch.from_numpy(reply.prompt_ids)[None],
            torch.from_numpy(reply.reply_ids)[None],
            torch.ones(1, len(reply.reply_ids), dtype=torch.bool),
        )
        np.testing.assert_allclose(scores[0].detach().numpy(), reply.logprobs, atol=1e-5)


def test_the_engine_follows_a_model_in_training(engine, random_model):
    policy = make_policy(f"vllm:{random_model}", sampling=ChatSampling(max_new_tokens=6))
    learner = make_policy(f"hf:{random_model}")
    with torch.no_grad():
        for weight in learner.model.parameters():
            weight.mul_(1.5)
    before = policy.reply(["x"], [], generators(1))[0].logprobs
    policy.sync_weights(learner.model.named_parameters())
    assert policy.engine.resets == 1
    assert policy.reply(["x"], [], generators(1))[0].logprobs.tolist() != before.tolist()


def test_without_the_package_the_way_out_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(ValueError, match=r"pip install \"horizon-bench\[vllm\]\"; without a GPU use hf:some/model"):
        make_policy("vllm:some/model")
