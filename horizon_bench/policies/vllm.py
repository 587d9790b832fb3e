"""The policy `vllm:<name or folder>`: the engine vLLM samples, on a GPU. Its weights can follow a model in training.

Needs the package vllm, which this package does not bring along. Token ids and log-probabilities come from the engine as
they were sampled, processed by the temperature; prompts are written and tokenised just as for `hf:`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from horizon_bench.extras import extra_needed, install
from horizon_bench.policies.base import Reply
from horizon_bench.policies.chat import ChatSampling, Conversation
from horizon_bench.policies.templates import TemplatedChat

with extra_needed():
    from torch import Tensor
    from transformers import AutoTokenizer


class VllmPolicy(TemplatedChat):
    """A language model in the engine vLLM: all lanes of a round are one call."""

    def __init__(self, engine: Any, tokenizer: Any, sampling: ChatSampling | None = None, name: str = "") -> None:
        """Join an engine and its tokenizer.

        Args:
            engine: `vllm.LLM` with `logprobs_mode="processed_logprobs"`.
            tokenizer: of transformers.
            sampling: how replies are drawn.
            name: where the model comes from, for messages.
        """
        super().__init__(tokenizer, frozenset({int(tokenizer.eos_token_id)}), sampling)
        self.engine = engine
        self.name = name

    @classmethod
    def load(
        cls,
        name: str,
        *,
        sampling: ChatSampling | None = None,
        dtype: str = "auto",
        tensor_parallel_size: int = 1,
        gpu_memory_utilization: float = 0.85,
        max_model_len: int | None = None,
    ) -> Self:
        """Return the policy of a model's name or folder; safetensors only, code of a model is never run.

        Args:
            name: a folder, or a name on the hub.
            sampling: how replies are drawn.
            dtype: number format of the weights; `auto` takes the model's own.
            tensor_parallel_size: GPUs that share the model.
            gpu_memory_utilization: share of a GPU's memory for the engine; leave room for a model in training.
            max_model_len: longest prompt and reply together; the model's own by default.

        Raises:
            ValueError: if vllm is not installed.
        """
        # The engine in this very process, so that its weights can be set without copies through files.
        os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
        try:
            import vllm
        except ImportError as error:
            raise ValueError(
                f"vllm:{name} needs the package vllm and a GPU: {install('vllm')}; without a GPU use hf:{name}"
            ) from error
        engine = vllm.LLM(
            model=name,
            dtype=dtype,
            seed=0,
            trust_remote_code=False,
            load_format="safetensors",
            tensor_parallel_size=tensor_parallel_size,
            gpu_memory_utilization=gpu_memory_utilization,
            max_model_len=max_model_len,
            enable_prefix_caching=True,
            logprobs_mode="processed_logprobs",
        )
        return cls(engine, AutoTokenizer.from_pretrained(name, trust_remote_code=False), sampling, name)

    def with_sampling(self, **changes: Any) -> Self:
        """Return a policy that shares this engine and samples with changed fields of `ChatSampling`."""
        return type(self)(self.engine, self.tokenizer, self.sampling.changed(**changes), self.name)

    def chat(self, conversations: Sequence[Conversation], generators: Sequence[np.random.Generator]) -> list[Reply]:
        """Return one sampled reply to each conversation; each has a seed from its own generator."""
        import vllm

        rendered = [self.render(conversation) for conversation in conversations]
        prompts = [self.tokenise(text) for text in rendered]
        sampling = self.sampling
        parameters = [
            vllm.SamplingParams(
                n=1,
                temperature=sampling.temperature,
                top_p=1.0,
                top_k=0,
                max_tokens=sampling.max_new_tokens,
                stop=list(sampling.stop) or None,
                seed=int(generator.integers(2**31)),
                logprobs=0,
                skip_special_tokens=False,
            )
            for generator in generators
        ]
        asked = [{"prompt_token_ids": prompt.tolist()} for prompt in prompts]
        answers = self.engine.generate(asked, sampling_params=parameters, use_tqdm=False)
        written = [answer.outputs[0] for answer in answers]
        return [self._reply(*row) for row in zip(rendered, prompts, written, strict=True)]

    def _reply(self, rendered: str, prompt: Any, written: Any) -> Reply:
        """Return one answer of the engine; it tells no entropies."""
        ids = np.array(written.token_ids, dtype=np.int64)
        logprobs = [choices[token].logprob for token, choices in zip(ids.tolist(), written.logprobs, strict=True)]
        text = self.reply_text(rendered, ids)
        return Reply(text, prompt, ids, np.array(logprobs, dtype=np.float32), 0.0, written.finish_reason == "length")

    def sync_weights(self, weights: Iterable[tuple[str, Tensor]]) -> None:
        """Take over weights, as a model in training has them after an update, and forget cached prefixes.

        Args:
            weights: name and values of every weight, as `named_parameters` of the transformers model yields them; those
                of a model with adapters are to be merged first.
        """
        self.engine.llm_engine.model_executor.driver_worker.model_runner.model.load_weights(list(weights))
        self.engine.reset_prefix_cache()
