"""Policies by name for the command line: a saved folder, a solver's policy, a language model or an endpoint."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from horizon_bench.policies import Policy
    from horizon_bench.policies.endpoint import EndpointPolicy

LANGUAGE_KINDS = ("hf", "vllm", "openai")
"""Policies that are language models."""
KEPT_REPLIES = Path("results") / "replies"
"""Where the replies of endpoints are kept by default."""


@dataclass(frozen=True)
class ModelOptions:
    """How language models and endpoints are asked; other policies have no use for it."""

    reply_cap: int = 0
    """Most tokens of a reply, thought included; by default 2048 for atomic and split, 4096 for macros."""
    thinking: Literal["template", "on", "off"] = "template"
    """Whether a reasoning model thinks aloud; by default as its chat template has it."""
    device: str = ""
    """Device of an hf: model; by default cuda where there is one, else cpu."""
    replies: Path | None = None
    """File that keeps every reply of an endpoint, so that nothing is asked twice; by default under results/replies."""
    concurrency: int = 16
    """Requests to an endpoint at a time."""
    requests_per_minute: float = 0.0
    """Requests begun in a minute, at most; 0 for no limit."""
    request_seconds: float = 600.0
    """Longest time for one request."""
    retries: int = 8
    """Further tries of a request after a fault that may pass."""
    prompt_price: float = 0.0
    """Price of a million prompt tokens, for the summary."""
    reply_price: float = 0.0
    """Price of a million reply tokens, for the summary."""
    most_cost: float = 0.0
    """No request begins once this much is spent; 0 for no limit."""
    key_variable: str = "OPENAI_API_KEY"
    """Environment variable that holds the endpoint's key; "" sends none."""
    cap_field: str = "max_tokens"
    """Field that carries the cap; some endpoints want max_completion_tokens."""


def changed_options(options: ModelOptions) -> str:
    """Return the options that are not as usual, as the command line writes them; "" if all are."""
    changed = [item.name for item in fields(options) if getattr(options, item.name) != item.default]
    return ", ".join(f"--{name.replace('_', '-')}" for name in changed)


def policy_kind(name: str) -> str:
    """Return what kind of policy a name asks for, the agents before it left out.

    >>> policy_kind("reflexion+react+hf:models/c++")
    'hf'
    """
    return name.partition(":")[0].rpartition("+")[2]


def policy_word(name: str) -> str:
    """Return the word of a policy's name in the names of cells: what it is and a few digits that tell it from others.

    >>> policy_word("react+hf:models/SmolLM2")
    'reacthfsmollm290172b'
    """
    kind, _, model = name.partition(":")
    shown = model.partition("@")[0].rstrip("/").rpartition("/")[2]
    plain = re.sub(r"[^a-z0-9]", "", f"{kind}{shown}".lower())[:32]
    return plain + sha256(name.encode()).hexdigest()[:6]


def named_policy(name: str, interface: str, error_rate: float = 0.05, options: ModelOptions | None = None) -> Policy:
    """Return the policy of a name, ready for an interface.

    Args:
        name: a folder of a saved small model, or any name that `make_policy` knows.
        interface: what replies hold: an expert's number of actions, a model's cap.
        error_rate: of the noisy expert.
        options: how a language model is asked.

    Raises:
        ValueError: if there is no such policy, with the way out.
    """
    from horizon_bench.policies import POLICIES, make_policy

    if name not in POLICIES and Path(name).is_dir():
        return _unasked(make_policy("tiny", folder=name), name, options)
    if name == "tiny":
        raise ValueError("policy 'tiny' is a saved model; give its folder, for example results/smoke/_sft/t/0/model")
    if ":" in name or "+" in name:
        return make_policy(name, **_model_options(name, interface, options or ModelOptions()))
    if os.sep in name:
        raise ValueError(
            f"there is no folder {name}; a policy is expert, noisy-expert, random, human, a saved model's folder, "
            "hf:MODEL, vllm:MODEL or openai:MODEL@BASE_URL"
        )
    return _unasked(make_policy(name, **solver_options(name, interface, error_rate)), name, options)


def _unasked(policy: Policy, name: str, options: ModelOptions | None) -> Policy:
    """Return a policy that is no language model; options for one are refused."""
    if told := changed_options(options or ModelOptions()):
        raise ValueError(f"only a language model is asked with {told}, and policy {name!r} is none; leave that out")
    return policy


def solver_options(name: str, interface: str, error_rate: float) -> dict[str, Any]:
    """Return the arguments of a policy that asks the solver; {} for chance and people, who take none."""
    options: dict[str, Any] = {"actions": expert_actions(interface)} if name in ("expert", "noisy-expert") else {}
    return options | ({"error_rate": error_rate} if name == "noisy-expert" else {})


def expert_actions(interface: str) -> int:
    """Return how many actions an expert writes in a reply: as many as fixed, one if atomic, else four."""
    if interface in ("atomic", "split"):
        return 1
    return int(interface.rpartition("-")[2]) if interface[-1].isdigit() else 4


def _model_options(name: str, interface: str, options: ModelOptions) -> dict[str, Any]:
    """Return the arguments of a language model's policy."""
    from horizon_bench.policies import ChatSampling, reply_cap

    kind = policy_kind(name)
    if kind not in LANGUAGE_KINDS:
        return {}
    thinking = {"template": None, "on": True, "off": False}[options.thinking]
    chosen: dict[str, Any] = {
        "sampling": ChatSampling(max_new_tokens=options.reply_cap or reply_cap(interface), thinking=thinking)
    }
    if kind == "hf":
        return chosen | {"device": options.device}
    if kind == "vllm":
        return chosen
    same = ("concurrency", "requests_per_minute", "retries", "prompt_price", "reply_price", "most_cost")
    return chosen | {
        **{each: getattr(options, each) for each in (*same, "key_variable", "cap_field")},
        "timeout_seconds": options.request_seconds,
        "journal": options.replies or kept_replies(name),
    }


def kept_replies(name: str) -> Path:
    """Return the file that keeps the replies of an endpoint by default."""
    slug = re.sub(r"[^A-Za-z0-9.-]+", "-", re.sub(r"^([a-z-]+\+)*openai:", "", name)).strip("-.")
    return KEPT_REPLIES / f"{slug[:120]}.jsonl"


def in_short(policy: Policy) -> str:
    """Return what an endpoint was asked, met and paid, in one line after other words; "" for other policies."""
    speaker = _endpoint(policy)
    return "" if speaker is None else "; " + "; ".join(speaker.summary().splitlines())


@contextmanager
def accounted(policy: Policy) -> Iterator[None]:
    """At the end, whatever it is, say what an endpoint was asked, met and paid, and where its replies are kept."""
    try:
        yield
    finally:
        speaker = _endpoint(policy)
        if speaker is not None and (speaker.usage.asked or speaker.usage.faults or speaker.usage.kept):
            kept = f"\nreplies are kept in {speaker.settings.journal}" if speaker.settings.journal else ""
            print(f"{speaker.settings.name}:\n{speaker.summary()}{kept}", file=sys.stderr)


def _endpoint(policy: Policy) -> EndpointPolicy | None:
    """Return the endpoint that plays, beneath agents or alone; None for other policies."""
    from horizon_bench.agents.base import Agent
    from horizon_bench.policies.endpoint.policy import EndpointPolicy

    speaker = policy.speaker if isinstance(policy, Agent) else policy
    return speaker if isinstance(speaker, EndpointPolicy) else None
