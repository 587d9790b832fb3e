"""Policies by name: experts, their noisy and random counterparts, a small model trained from scratch, language models.

Importing this package does not import torch; naming `tiny` or `hf` does.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from horizon_bench.policies.base import Policy, Reply, Seat
from horizon_bench.policies.chat import ChatPolicy, ChatSampling, Message, reply_cap
from horizon_bench.policies.expert import ExpertPolicy, NoisyExpertPolicy, RandomPolicy
from horizon_bench.policies.human import HumanPolicy
from puzzles.names import check_name, did_you_mean


def load_tiny(folder: str | Path, temperature: float = 0.8) -> Policy:
    """Return the small model saved in a folder, with the solver's milestones if it has a field; imports torch.

    Args:
        folder: where `TinyPolicy.save` or `save_pretrained` wrote model and tokenizer.
        temperature: sampling temperature, above 0.
    """
    from horizon_bench.milestones import MilestonePolicy
    from horizon_bench.policies.tiny import TinyPolicy

    policy = TinyPolicy.load(folder)
    return (MilestonePolicy(policy) if policy.milestone_slots else policy).at_temperature(temperature)


def load_hf(
    model: str, *, dtype: str = "", device: str = "", revision: str = "main", sampling: ChatSampling | None = None
) -> Policy:
    """Return a language model of transformers; imports torch.

    Args:
        model: a folder, a .gguf file, or a name on the hub; safetensors only, code of a model is never run.
        dtype: `float32`, `bfloat16` or `float16`; by default float32 on a processor, bfloat16 on a GPU.
        device: by default `cuda` where there is one, else `cpu`.
        revision: branch, tag or commit on the hub.
        sampling: how replies are drawn.
    """
    from horizon_bench.policies.hf import HfPolicy

    return HfPolicy.load(model, dtype=dtype, device=device, revision=revision, sampling=sampling)


def load_vllm(model: str, sampling: ChatSampling | None = None, **options: Any) -> Policy:
    """Return a language model in the engine vLLM, which needs the package vllm and a GPU.

    Args:
        model: a folder, or a name on the hub.
        sampling: how replies are drawn.
        options: other arguments of `VllmPolicy.load`.
    """
    from horizon_bench.policies.vllm import VllmPolicy

    return VllmPolicy.load(model, sampling=sampling, **options)


def load_endpoint(model_at_base_url: str, sampling: ChatSampling | None = None, **options: Any) -> Policy:
    """Return a model behind an OpenAI-compatible endpoint; its key is read from the environment at each round.

    Args:
        model_at_base_url: such as `qwen3@http://localhost:8000/v1`.
        sampling: how replies are drawn.
        options: fields of `horizon_bench.policies.endpoint.EndpointSettings`, such as `journal`.
    """
    from horizon_bench.policies.endpoint import EndpointPolicy

    return EndpointPolicy.load(model_at_base_url, sampling, **options)


POLICIES: dict[str, Callable[..., Policy]] = {
    "expert": ExpertPolicy,
    "noisy-expert": NoisyExpertPolicy,
    "random": RandomPolicy,
    "tiny": load_tiny,
    "hf": load_hf,
    "vllm": load_vllm,
    "openai": load_endpoint,
    "human": HumanPolicy,
}
"""Policies by name; what takes a model is named `hf:MODEL`, the model being its first argument."""


def make_policy(name: str, **options: Any) -> Policy:
    """Return the policy of that name.

    >>> make_policy("noisy-expert", error_rate=0.1)
    NoisyExpertPolicy(error_rate=0.1, actions=1)

    Args:
        name: a name in `POLICIES`, or one that takes a model and the model after a colon, as `hf:FOLDER`; before it any
            agents of `horizon_bench.agents.AGENTS`, as `react+hf:FOLDER`.
        options: arguments of that policy.

    Raises:
        ValueError: for an unknown name or option, with the nearest match, or a name that lacks its model.
    """
    agent, plus, rest = name.partition("+")
    if plus and ":" not in agent:
        return _agent(agent, rest, options)
    kind, colon, model = name.partition(":")
    if kind not in POLICIES:
        hint = did_you_mean(kind, POLICIES) or ";"
        raise ValueError(f"unknown policy {name!r}{hint} known: {', '.join(map(usual_form, POLICIES))}")
    known = inspect.signature(POLICIES[kind]).parameters
    for option in options:
        if option not in known and not _takes_any(known):
            raise ValueError(f"policy {kind!r} has no option {option!r}; known: {', '.join(known) or 'none'}")
    argument = model_argument(kind)
    if colon and (not model or not argument):
        raise ValueError(f"policy {name!r} should read {usual_form(kind)}")
    if argument and not colon and argument not in options:
        raise ValueError(f"policy {name!r} needs its model: {usual_form(kind)}")
    return POLICIES[kind](**({str(argument): model} if colon else {}), **options)


def _agent(name: str, rest: str, options: Mapping[str, Any]) -> Policy:
    """Return the agent of that name around the policy that the rest names."""
    from horizon_bench.agents import AGENTS

    return AGENTS[check_name("agent", name, AGENTS)](make_policy(rest, **options))


def reads(policy: Policy) -> str:
    """Return the form of observations that a policy reads: `text` for those that speak, else `compact`."""
    return str(getattr(policy, "observation", "compact"))


def model_argument(kind: str) -> str | None:
    """Return the name of the argument that stands after the colon; None for a policy that takes no model."""
    for name, parameter in inspect.signature(POLICIES[kind]).parameters.items():
        return name if parameter.default is inspect.Parameter.empty else None
    return None


def usual_form(kind: str) -> str:
    """Return how a policy is named.

    >>> usual_form("expert"), usual_form("hf"), usual_form("openai")
    ('expert', 'hf:MODEL', 'openai:MODEL@BASE_URL')
    """
    argument = model_argument(kind)
    return f"{kind}:{argument.upper().replace('_AT_', '@')}" if argument else kind


def _takes_any(parameters: Mapping[str, inspect.Parameter]) -> bool:
    """Return whether a function checks further options itself."""
    return any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())


__all__ = [
    "POLICIES",
    "ChatPolicy",
    "ChatSampling",
    "ExpertPolicy",
    "HumanPolicy",
    "Message",
    "NoisyExpertPolicy",
    "Policy",
    "RandomPolicy",
    "Reply",
    "Seat",
    "load_endpoint",
    "load_hf",
    "load_tiny",
    "load_vllm",
    "make_policy",
    "model_argument",
    "reads",
    "reply_cap",
    "usual_form",
]
